"""The figures of the Perplexity page: the difference of two prompts, and perplexities by conversation."""

from __future__ import annotations

import math

import streamlit as st

from app.components.perplexity.across_models import across_models
from app.components.perplexity.measured_messages import (
    DIFFERENCE_HELP,
    P_HELP,
    MeasuredMessages,
    measured_messages,
    names,
)
from app.components.perplexity.one_message import one_message
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.perplexity.perplexity_library import Library
from app.components.perplexity.perplexity_tables import tables
from app.components.shared import figures
from app.formatting import counted, plain, rounded, signed
from app.state.perplexity import PerplexityView
from charts.loss_along_conversation import loss_along
from charts.perplexity_dumbbell import MEASURES, dumbbell, uniform_is_drawn
from core.models.perplexity.figures import token_weighted
from core.reports import perplexity as reports
from core.reports.file_names import About
from core.reports.p_values import p_said, p_text
from core.runs.spec import SERVED

MEASURE_KEY = "words_measure_shown"
TOKEN_WEIGHTED_HELP = (
    "The exponential of the mean loss over all tokens, so that a long message counts more than a short one. The "
    "difference on the right counts each message once, because messages are what its interval resamples."
)
SHOWN_KEY = "words_model_shown"
SMALL = 0.05


def shown(chosen: PerplexityForm, view: PerplexityView, found: Library, *, is_measuring: bool) -> None:
    """Show everything that has been measured of the form's request, or a hint if nothing has been measured."""
    ready = [model for model in chosen.models if measured_messages(chosen, found, chosen.setup(model))]
    if not ready:
        st.info(
            "How each prompt changes how likely the counselor's words are is shown here when the measurement has ended."
            if is_measuring
            else "Prompts A and B are not measured yet. Press “Measure” to see how each prompt changes how likely the "
            "counselor's words are."
        )
        return
    model = ready[0]
    if len(ready) > 1:
        model = str(st.segmented_control("Model", ready, default=model, required=True, key=SHOWN_KEY))
    setup = chosen.setup(model)
    measured = measured_messages(chosen, found, setup)
    digests = [one.digest for one in chosen.prompts]
    for note in found.notes(setup, digests, chosen.talks, served=chosen.served_weights(model)):
        st.caption(plain(f"{note[:1].upper()}{note[1:]}."))
    vocabulary = found.vocabulary(setup, digests, chosen.talks)
    about = About([model])
    _headline(measured, chosen)
    _against_uniform(measured, vocabulary, served=setup.dtype == SERVED)
    _dumbbell(measured, chosen, vocabulary, about)
    one_message(chosen, view, found, setup)
    _along(measured, vocabulary, about)
    across_models(ready, chosen, found)
    tables(measured, chosen, vocabulary, about)


def _headline(measured: MeasuredMessages, chosen: PerplexityForm) -> None:
    a, b = list(measured.values())[:2]
    difference = reports.overall(a, b) if sum(map(len, a.values())) > 1 else None
    first, second, third = st.columns([2, 2, 3])
    for column, place, prompt, of in ((first, "A", chosen.a, a), (second, "B", chosen.b, b)):
        whole = [message for messages in of.values() for message in messages]
        column.metric(f"Perplexity under {place}", rounded(token_weighted(whole)), help=TOKEN_WEIGHTED_HELP)
        column.caption(plain(prompt.name))  # below, because a label that is too long would be cut
    if difference is None:
        third.caption("One message has no interval.")
        return
    third.metric("A − B, nats per token", signed(difference.mean, 3), help=DIFFERENCE_HELP)
    interval = (
        f"95% interval {signed(difference.low, 3)} to {signed(difference.high, 3)}"
        if difference.low == difference.low
        else "No interval, because all messages differ by the same"
    )
    third.caption(
        f"Mean of {counted(difference.n, 'message')} in {counted(difference.conversations, 'conversation')}. "
        f"{interval}, {p_said(difference.p_value)}.",
        help=P_HELP,
    )
    if difference.least_p > SMALL:
        count = difference.conversations if difference.conversations > 1 else difference.n
        what = "conversation" if difference.conversations > 1 else "message"
        third.caption(
            f"With {counted(count, what)}, p can't be smaller than {p_text(difference.least_p)}, whatever the "
            "prompts do."
        )
    st.markdown(f"**{plain(_verdict(difference.low, difference.high, difference.mean))}**")


def _verdict(low: float, high: float, mean: float) -> str:
    if low != low:
        return "These data don't show how much other messages would differ between A and B."
    if low <= 0 <= high:
        return (
            "These data don't show whether the counselor's words are more likely under A or under B: the "
            "interval contains 0."
        )
    better, other = ("A", "B") if high < 0 else ("B", "A")
    return (
        f"The counselor's words are more likely under {better}. In the mean message, a token is "
        f"{math.exp(abs(mean)):.2f} times as likely as under {other}."
    )


def _against_uniform(measured: MeasuredMessages, vocabulary: int | None, *, served: bool) -> None:
    """Show the perplexity of uniform guessing, and warn if the model is worse."""
    worse = [
        name
        for name, of in measured.items()
        if reports.worse_than_uniform(tuple(m for messages in of.values() for m in messages), vocabulary)
    ]
    said = reports.uniform_sentence(vocabulary, served=served)
    if worse:
        under = ", ".join(f"“{name}”" for name in worse)
        st.warning(plain(f"The model predicts these words worse than uniform guessing under {under}. {said}"))
    else:
        st.caption(plain(said))


def _dumbbell(measured: MeasuredMessages, chosen: PerplexityForm, vocabulary: int | None, about: About) -> None:
    table = reports.by_conversation(measured, vocabulary=vocabulary)
    measure = st.segmented_control(
        "Measure",
        list(MEASURES),
        format_func=lambda name: MEASURES[name][0],
        default="message_mean" if chosen.mode == "published" else "perplexity",
        required=True,
        key=MEASURE_KEY,
    )
    said = {
        "perplexity": (
            "The exponential of the mean loss over all tokens. Lower means more expected. Only for comparisons "
            "within one model."
        ),
        "message_mean": (
            "As in the published figures: a single unlikely message can outweigh all others. Only for "
            "comparisons within one model."
        ),
        "bits_per_byte": (
            "The loss divided by the bytes of the text. Lower means more expected. It can also be compared "
            "across models."
        ),
    }[str(measure)]
    here = {place: name for place, name in names(chosen).items() if name in measured}
    if vocabulary:
        drawn = uniform_is_drawn(table, str(measure))
        said += (
            " The grey ticks mark uniform guessing over all tokens."
            if drawn
            else " Uniform guessing over all tokens lies far to the right of the figure."
        )
    figures.show(dumbbell(table, str(measure), here), said, about)


def _along(measured: MeasuredMessages, vocabulary: int | None, about: About) -> None:
    st.subheader("Along the conversation", anchor=False)
    frame = reports.along_conversation(measured)
    places = dict(zip(("A", "B", "none"), measured, strict=False))
    figures.show(
        loss_along(frame, places, vocabulary=vocabulary),
        "The mean loss over conversations of the counselor's first message after the opening, of the second, "
        "and so on.",
        about,
    )
