"""The figures of the Perplexity page: prompts by conversation, one message by token, models, published ones."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from app import state
from app.components.perplexity.perplexity_form import PerplexityForm
from app.components.shared import figures
from app.components.shared.token_strip import token_strip
from app.formatting import counted, plain, shortened
from app.perplexity_library import Library, Way
from app.state import View
from charts.loss_along_conversation import loss_along
from charts.perplexity_dumbbell import MEASURES, dumbbell, uniform_is_drawn
from core.perplexity.figures import (
    ScoredMessage,
    aligned,
    bits_per_byte,
    most_changed,
    token_weighted,
    uniform_bits_per_byte,
)
from core.perplexity.prompts import EMPTY
from core.reports import perplexity as reports

MEASURE_KEY = "words_measure_shown"
SHOWN_KEY = "words_model_shown"
TALK_KEY = "words_talk"
MESSAGE_KEY = "words_message"
DIFFERENCE_HELP = (
    "The mean over messages of A's loss less B's, in nats a token, with a 95 % t interval over conversations, because "
    "the messages of one conversation are alike (cluster-robust, Bell & McCaffrey 2002). The interval of one "
    "conversation is over its messages and speaks of that conversation alone. With few conversations of unlike lengths "
    "the interval is wider than need be. Below 0, the counselor's words are likelier under A."
)
P_HELP = (
    "The p-value of a sign-flip test over conversations (over messages for one conversation): how often so large a "
    "difference would come about if the prompts did nothing."
)
SMALL = 0.05
UNIFORM_HELP = "What a model that found all of its tokens equally likely would have."

Measured = dict[str, dict[str, tuple[ScoredMessage, ...]]]


def shown(asked: PerplexityForm, view: View, found: Library) -> None:
    """Everything that has been measured of what the form asks for; nothing where that is nothing."""
    ready = [model for model in asked.models if _series(asked, found, asked.way(model))]
    if not ready:
        st.info(
            "What the prompts do to every word of the counselor's would be here, once prompts A and B are measured: "
            "press “Measure”."
        )
        return
    model = ready[0]
    if len(ready) > 1:
        model = str(st.segmented_control("Model", ready, default=model, required=True, key=SHOWN_KEY))
    way = asked.way(model)
    series = _series(asked, found, way)
    for note in found.notes(way, [one.digest for one in asked.prompts], asked.talks):
        st.caption(plain(f"{note[:1].upper()}{note[1:]}."))
    vocabulary = found.vocabulary(way, [one.digest for one in asked.prompts], asked.talks)
    _headline(series)
    _against_uniform(series, vocabulary)
    _dumbbell(series, asked, vocabulary)
    _one_message(asked, view, found, way)
    _along(series, vocabulary)
    _models(ready, asked, found)
    _tables(series, asked, vocabulary)


def names(asked: PerplexityForm) -> dict[str, str]:
    """From a prompt's place to what it is called in figures."""
    called = {"A": f"A: {asked.a.name}", "B": f"B: {asked.b.name}"}
    return called if EMPTY.digest in (asked.a.digest, asked.b.digest) else {**called, "none": EMPTY.name}


def _series(asked: PerplexityForm, found: Library, way: Way) -> Measured:
    """From a prompt's name to a conversation's to messages, of the conversations measured under A and B; else empty."""
    digests = {"A": asked.a.digest, "B": asked.b.digest, "none": EMPTY.digest}
    both = [s for s in asked.talks if not found.missing(way, [digests["A"], digests["B"]], [s])]
    if not both:
        return {}
    made = {name: found.by_conversation(way, digests[place], both) for place, name in names(asked).items()}
    # A baseline that was measured on fewer conversations would be one of other words.
    return {name: of for name, of in made.items() if len(of) == len(both)}


def _headline(series: Measured) -> None:
    (a_name, a), (b_name, b) = list(series.items())[:2]
    difference = reports.overall(a, b) if sum(map(len, a.values())) > 1 else None
    first, second, third = st.columns([2, 2, 3])
    for column, name, of in ((first, a_name, a), (second, b_name, b)):
        whole = [message for messages in of.values() for message in messages]
        column.metric(plain(f"Perplexity under {name}"), f"{token_weighted(whole):,.2f}")
    if difference is None:
        third.caption("One message has no interval.")
        return
    third.metric("A − B, nats a token", f"{difference.mean:+.3f}".replace("-", "−"), help=DIFFERENCE_HELP)
    third.caption(
        f"95 % interval {difference.low:+.3f} to {difference.high:+.3f}, p = {difference.p_value:.2g}, "
        f"{counted(difference.n, 'message')} of {counted(difference.conversations, 'conversation')}".replace("-", "−"),
        help=P_HELP,
    )
    if difference.least_p > SMALL:
        count = difference.conversations if difference.conversations > 1 else difference.n
        what = "conversation" if difference.conversations > 1 else "message"
        third.caption(
            f"With {counted(count, what)} p can't be smaller than {difference.least_p:g}, whatever the prompts do."
        )
    st.markdown(f"**{plain(_verdict(difference.low, difference.high, difference.mean))}**")


def _verdict(low: float, high: float, mean: float) -> str:
    if high < 0:
        return f"The counselor's words are likelier under A, by a factor of {math.exp(-mean):.3f} a token."
    if low > 0:
        return f"The counselor's words are likelier under B, by a factor of {math.exp(mean):.3f} a token."
    return "Whether the counselor's words are likelier under A or under B can't be told: the interval holds 0."


def _against_uniform(series: Measured, vocabulary: int | None) -> None:
    """What guessing would have, and where the model is worse than that."""
    worse = [
        name
        for name, of in series.items()
        if reports.worse_than_uniform(tuple(m for messages in of.values() for m in messages), vocabulary)
    ]
    said = reports.uniform_sentence(vocabulary)
    if worse:
        under = ", ".join(f"“{name}”" for name in worse)
        st.warning(plain(f"The model predicts these words worse than uniform guessing does, under {under}. {said}"))
    else:
        st.caption(plain(said))


def _dumbbell(series: Measured, asked: PerplexityForm, vocabulary: int | None) -> None:
    table = reports.by_conversation(series, vocabulary=vocabulary)
    measure = st.segmented_control(
        "Measured by",
        list(MEASURES),
        format_func=lambda name: MEASURES[name][0],
        default="message_mean" if asked.mode == "published" else "perplexity",
        required=True,
        key=MEASURE_KEY,
    )
    said = {
        "perplexity": "e to the mean loss over all tokens; lower is more expected. For figures of one model alone.",
        "message_mean": "As published: one unlikely message outweighs all others. For figures of one model alone.",
        "bits_per_byte": "Loss by the bytes of the text, which compares across models too; lower is more expected.",
    }[str(measure)]
    here = {place: name for place, name in names(asked).items() if name in series}
    if vocabulary:
        drawn = uniform_is_drawn(table, str(measure))
        said += (
            " The grey ticks are where guessing all tokens alike would be."
            if drawn
            else " Guessing all tokens alike lies far to the right of the figure."
        )
    figures.show(dumbbell(table, str(measure), here), said)


def _one_message(asked: PerplexityForm, view: View, found: Library, way: Way) -> None:
    """The token strip of one message."""
    st.subheader("Word by word", anchor=False)
    there = [s for s in asked.talks if not found.missing(way, [asked.a.digest, asked.b.digest], [s])]
    talk = view.talk if view.talk in there else there[0]
    a, b = (found.messages(way, prompt.digest, talk) or () for prompt in (asked.a, asked.b))
    place = min(view.message, len(a))
    left, right = st.columns([2, 5])
    st.session_state[TALK_KEY], st.session_state[MESSAGE_KEY] = talk, place
    left.selectbox(
        "Conversation",
        there,
        format_func=lambda digest: found.conversations[digest].name,
        key=TALK_KEY,
        on_change=state.taking("talk", TALK_KEY, message=1),
    )
    right.selectbox(
        "The counselor's message",
        range(1, len(a) + 1),
        format_func=lambda i: f"{i}: {shortened(''.join(a[i - 1].pieces), 90)}",
        key=MESSAGE_KEY,
        on_change=state.taking("message", MESSAGE_KEY),
    )
    one, other = aligned(a[place - 1], b[place - 1])
    token_strip(one, other, most_changed(one, other), names=(asked.a.name, asked.b.name), key="token_strip")
    with st.expander("What was said before"):
        number = one.number
        for message in found.conversations[talk].messages[:number]:
            st.caption(f"**{message.role}** {plain(message.text)}")


def _along(series: Measured, vocabulary: int | None) -> None:
    st.subheader("Along the conversation", anchor=False)
    frame = reports.along_conversation(series)
    places = dict(zip(("A", "B", "none"), series, strict=False))
    figures.show(
        loss_along(frame, places, vocabulary=vocabulary),
        "The mean loss of the counselor's first message after the opening, the second, and so on, over conversations.",
    )


def _models(ready: list[str], asked: PerplexityForm, found: Library) -> None:
    """Across models in bits per byte alone."""
    st.subheader("Across models", anchor=False)
    rows = []
    for model in ready:
        size = found.vocabulary(asked.way(model), [one.digest for one in asked.prompts], asked.talks)
        for name, of in _series(asked, found, asked.way(model)).items():
            whole = [message for messages in of.values() for message in messages]
            tokens, count = sum(m.tokens for m in whole), sum(m.bytes for m in whole)
            rows.append(
                {
                    "Model": model,
                    "Prompt": name,
                    "Bits per byte": bits_per_byte(whole),
                    "Uniform": uniform_bits_per_byte(whole, size) if size else math.nan,
                    "Bytes a token": count / tokens,
                }
            )
    table = pd.DataFrame(rows)
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "Bits per byte": st.column_config.NumberColumn(format="%.3f", help="Lower is more expected."),
            "Uniform": st.column_config.NumberColumn(format="%.3f", help=UNIFORM_HELP),
            "Bytes a token": st.column_config.NumberColumn(format="%.2f", help="How long the model's tokens are."),
        },
        alt="Bits per byte of each model under each prompt",
    )
    st.caption(
        "Perplexity is left out here on purpose: it counts tokens, and models cut the same words into different ones. "
        "A model with long tokens has fewer of them, each less likely; bits per byte share one measure, the text."
    )


def _tables(series: Measured, asked: PerplexityForm, vocabulary: int | None) -> None:
    with st.expander("All figures, and those that are published"):
        table = reports.by_conversation(series, vocabulary=vocabulary)
        st.dataframe(
            table,
            hide_index=True,
            column_config={
                "conversation": "Conversation",
                "prompt": "Prompt",
                "messages": "Messages",
                "tokens": "Tokens",
                "perplexity": st.column_config.NumberColumn("Perplexity", format="%.2f"),
                "message_mean": st.column_config.NumberColumn("Mean of messages", format="%.2f"),
                "bits_per_byte": st.column_config.NumberColumn("Bits per byte", format="%.3f"),
                "uniform": st.column_config.NumberColumn("Uniform perplexity", format="%.0f", help=UNIFORM_HELP),
                "uniform_bits_per_byte": st.column_config.NumberColumn(
                    "Uniform, bits per byte", format="%.3f", help=UNIFORM_HELP
                ),
            },
            alt="Perplexities by conversation and prompt",
        )
        figures.download("These figures as CSV", table, "perplexities")
        a, b = list(series.values())[:2]
        differences = reports.differences(a, b)
        if len(differences):
            st.markdown("**A − B by conversation**, nats a token")
            st.dataframe(
                differences,
                hide_index=True,
                column_config={
                    "conversation": "Conversation",
                    "n": "Messages",
                    "difference": st.column_config.NumberColumn("A − B", format="%+.3f", help=DIFFERENCE_HELP),
                    "low": st.column_config.NumberColumn("from", format="%+.3f"),
                    "high": st.column_config.NumberColumn("to", format="%+.3f"),
                    "p": st.column_config.NumberColumn("p", format="%.3g", help=P_HELP),
                },
                alt="Differences of the two prompts by conversation",
            )
            figures.download("These differences as CSV", differences, "prompt-differences")
        _published(table, asked)


def _published(table: pd.DataFrame, asked: PerplexityForm) -> None:
    """The published perplexities, and ours of conversations of the same name beside them."""
    printed = reports.published()
    ours = table.set_index(["conversation", "prompt"])["message_mean"]
    called = names(asked)
    printed["ours"] = [
        ours.get((conversation, called[prompt]), math.nan)
        for conversation, prompt in zip(printed["conversation"], printed["prompt"], strict=True)
    ]
    beside = printed["ours"].notna().any()
    printed = printed if beside else printed.drop(columns="ours")
    st.markdown("**Published figures** (not Hedge's): other prompts A and B, of a counselor and of a president")
    st.dataframe(
        printed,
        hide_index=True,
        column_config={
            "model": "Model",
            "conversation": "Conversation",
            "prompt": "Prompt",
            "perplexity": st.column_config.NumberColumn("Perplexity, published", format="%.2f"),
            "ours": st.column_config.NumberColumn(
                "Here, mean of messages", format="%.2f", help="Of the model above, on a conversation of the same name."
            ),
        },
        alt="Perplexities as they were published",
    )
    st.caption(
        "They are means of the messages' perplexities, with the role's name scored and the last token of each message "
        "missed; “As published” under “How words are scored” computes ours so. "
        + ("" if beside else "Ours stand beside them where conversations of these names are measured.")
    )
