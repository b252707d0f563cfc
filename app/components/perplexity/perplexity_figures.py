"""The figures of the Perplexity page: the difference of two prompts, and perplexities by conversation."""

import math

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state
from app.components.perplexity.measured_messages import (
    DIFFERENCE_HELP,
    P_HELP,
    MeasuredMessages,
    measured_messages,
    names,
)
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.perplexity.perplexity_library import Library, ScoringSetup
from app.components.perplexity.perplexity_paper import perplexity_paper
from app.components.perplexity.perplexity_tables import tables
from app.components.shared import figures
from app.components.shared.controls import choice
from app.components.shared.page_head import answer
from app.components.shared.static_table import static_table
from app.components.shared.token_strip import token_strip
from app.formatting import counted, plain, rounded, shortened, signed
from app.state.perplexity import PerplexityView
from charts.loss_along_conversation import loss_along
from charts.perplexity_dumbbell import MEASURES, dumbbell, uniform_is_drawn
from core.models.perplexity.figures import (
    Paired,
    aligned,
    bits_per_byte,
    most_changed,
    token_weighted,
    uniform_bits_per_byte,
)
from core.reports import perplexity as reports
from core.reports.file_names import About
from core.reports.p_values import p_said, p_text
from core.runs.spec import SERVED

TALK_KEY = "words_talk"
MESSAGE_KEY = "words_message"

UNIFORM, UNKNOWN = "Of uniform guessing", "–"

MEASURE_KEY = "words_measure_shown"
FIGURES_HELP = (
    "Perplexity is the exponential of the mean loss over all tokens, so that a long message counts more than a short "
    "one. The difference counts each message once, because messages are what its interval resamples."
    f" A − B: {DIFFERENCE_HELP} p: {P_HELP}"
)
SHOWN_KEY = "words_model_shown"
SMALL = 0.05


def shown(
    chosen: PerplexityForm, view: PerplexityView, library: Library, first: DeltaGenerator, *, is_measuring: bool
) -> None:
    """Show everything that has been measured of the form's request, or a hint if nothing has been measured. The answer
    and its figure stand in ``first``."""
    ready = [model for model in chosen.models if measured_messages(chosen, library, chosen.setup(model))]
    if not ready:
        first.info(
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
    measured = measured_messages(chosen, library, setup)
    digests = [prompt.digest for prompt in chosen.prompts]
    vocabulary = library.vocabulary(setup, digests, chosen.talks)
    about = About([model])
    measure = choice(
        "Measure",
        {name: titles[0] for name, titles in MEASURES.items()},
        default="message_mean" if chosen.mode == "published" else "perplexity",
        key=MEASURE_KEY,
    )
    with first:
        _answer(measured, chosen, model)
        _dumbbell(measured, chosen, vocabulary, about, measure)
    for note in library.notes(setup, digests, chosen.talks, served=chosen.served_weights(model)):
        st.caption(plain(f"{note[:1].upper()}{note[1:]}."))
    _against_uniform(measured, vocabulary, served=setup.dtype == SERVED)
    one_message(chosen, view, library, setup)
    _along(measured, vocabulary, about)
    across_models(ready, chosen, library)
    tables(measured, chosen, vocabulary)
    perplexity_paper(measured, chosen, model, vocabulary, library)


def _answer(measured: MeasuredMessages, chosen: PerplexityForm, model: str) -> None:
    """Show under which prompt the words are more likely, and the figures behind it."""
    a, b = list(measured.values())[:2]
    perplexities = [token_weighted([message for messages in read.values() for message in messages]) for read in (a, b)]
    under = [
        f"{rounded(value)} under {place} ({prompt.name})"
        for value, place, prompt in zip(perplexities, "AB", (chosen.a, chosen.b), strict=True)
    ]
    perplexity = f"Perplexity of {model} is {' and '.join(under)}."
    if sum(map(len, a.values())) < 2:
        answer("One message can't tell under which prompt the counselor's words are more likely", perplexity)
        return
    difference = reports.overall(a, b)
    answer(
        verdict(difference, chosen.a.name, chosen.b.name, *perplexities),
        f"{perplexity} {_difference(difference)}",
        help=FIGURES_HELP,
    )


def _difference(difference: Paired) -> str:
    """The mean difference with its interval and p-value, and the smallest p-value that is possible if it is large."""
    interval = (
        f"95% interval {signed(difference.low, 3)} to {signed(difference.high, 3)}"
        if difference.low == difference.low
        else "no interval, because all messages differ by the same"
    )
    text = (
        f"A − B is {signed(difference.mean, 3)} nats per token ({interval}, {p_said(difference.p_value)}), the mean of "
        f"{counted(difference.n, 'message')} in {counted(difference.conversations, 'conversation')}."
    )
    if difference.least_p <= SMALL:
        return text
    several = difference.conversations > 1
    units = counted(difference.conversations, "conversation") if several else counted(difference.n, "message")
    return f"{text} With {units}, p can't be smaller than {p_text(difference.least_p)}, whatever the prompts do."


def verdict(difference: Paired, a: str, b: str, under_a: float, under_b: float) -> str:
    """Under which of the prompts named ``a`` and ``b`` the words are more likely, or that these data don't tell.

    How much more likely is the quotient of the perplexities ``under_a`` and ``under_b``, which the figure shows. It is
    left out if it contradicts the difference, in which long messages count no more than short ones.

    A verdict needs an interval without 0 and a p-value below 0.05: of few conversations, the interval alone may be too
    narrow.
    """
    if difference.low != difference.low:
        return "Can't tell how much other messages would differ between A and B"
    if difference.low <= 0 <= difference.high or difference.p_value >= SMALL:
        return "Can't tell under which prompt the counselor's words are more likely"
    better, other, times = (f"A ({a})", f"B ({b})", under_b / under_a)
    if difference.low > 0:
        better, other, times = other, better, 1 / times
    words = f"Prompt {better} makes the counselor's words more likely"
    return f"{words}: a token is {times:.2f} times as likely as under {other}" if 1 < times < math.inf else words


def _against_uniform(measured: MeasuredMessages, vocabulary: int | None, *, served: bool) -> None:
    """Show the perplexity of uniform guessing, and warn if the model is worse."""
    worse = [
        name
        for name, read in measured.items()
        if reports.worse_than_uniform(tuple(m for messages in read.values() for m in messages), vocabulary)
    ]
    sentence = reports.uniform_sentence(vocabulary, served=served)
    if worse:
        under = ", ".join(f"“{name}”" for name in worse)
        st.warning(plain(f"The model predicts these words worse than uniform guessing under {under}. {sentence}"))
    else:
        st.caption(plain(sentence))


def _dumbbell(
    measured: MeasuredMessages, chosen: PerplexityForm, vocabulary: int | None, about: About, measure: str
) -> None:
    table = reports.by_conversation(measured, vocabulary=vocabulary)
    sentence = {
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
    }[measure]
    here = {place: name for place, name in names(chosen).items() if name in measured}
    if vocabulary:
        drawn = uniform_is_drawn(table, measure)
        sentence += (
            " The grey ticks mark uniform guessing over all tokens."
            if drawn
            else " Uniform guessing over all tokens lies far to the right of the figure."
        )
    figures.show(dumbbell(table, measure, here), sentence, about)


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


def across_models(ready: list[str], chosen: PerplexityForm, library: Library) -> None:
    """Compare models, in bits per byte only."""
    st.subheader("Across models", anchor=False)
    rows = []
    for model in ready:
        size = library.vocabulary(chosen.setup(model), [prompt.digest for prompt in chosen.prompts], chosen.talks)
        for name, read in measured_messages(chosen, library, chosen.setup(model)).items():
            whole = [message for messages in read.values() for message in messages]
            tokens, count = sum(m.tokens for m in whole), sum(m.bytes for m in whole)
            rows.append(
                {
                    "Model": model,
                    "Prompt": name,
                    "Bits per byte": f"{bits_per_byte(whole):.3f}",
                    UNIFORM: f"{uniform_bits_per_byte(whole, size):.3f}" if size else UNKNOWN,
                    "Bytes per token": f"{count / tokens:.2f}",
                }
            )
    table = pd.DataFrame(rows)
    if (table[UNIFORM] == UNKNOWN).all():
        table = table.drop(columns=UNIFORM)
    static_table(table, alt="Bits per byte of each model under each prompt", texts=2)
    st.caption(
        "Fewer bits per byte mean that the model expects the words more. Perplexities of different models can't be "
        "compared, because a perplexity is a mean over tokens, and models cut the same words into different tokens. "
        "The bytes of a text are the same for all models."
    )


def one_message(chosen: PerplexityForm, view: PerplexityView, library: Library, setup: ScoringSetup) -> None:
    """Show the token strip of one message."""
    st.subheader("Word by word", anchor=False)
    there = [s for s in chosen.talks if not library.missing(setup, [chosen.a.digest, chosen.b.digest], [s])]
    talk = view.talk if view.talk in there else there[0]
    a, b = (library.messages(setup, prompt.digest, talk) or () for prompt in (chosen.a, chosen.b))
    place = min(view.message, len(a))
    left, right = st.columns([2, 5])
    st.session_state[TALK_KEY], st.session_state[MESSAGE_KEY] = talk, place
    left.selectbox(
        "Conversation",
        there,
        format_func=lambda digest: library.conversations[digest].name,
        key=TALK_KEY,
        on_change=state.taking(PerplexityView, "talk", TALK_KEY, message=1),
    )
    right.selectbox(
        "The counselor's message",
        range(1, len(a) + 1),
        format_func=lambda i: f"{i}: {shortened(''.join(a[i - 1].pieces), 90)}",
        key=MESSAGE_KEY,
        on_change=state.taking(PerplexityView, "message", MESSAGE_KEY),
    )
    first, other = aligned(a[place - 1], b[place - 1])
    token_strip(first, other, most_changed(first, other), names=(chosen.a.name, chosen.b.name), key="token_strip")
    with st.expander("What was said before"):
        number = first.number
        for message in library.conversations[talk].messages[:number]:
            st.caption(f"**{message.role}** {plain(message.text)}")
