"""How a model uses letters: answers that are not options, the effect of the options' order, and written answers."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.caches import prompting_cache
from app.components.shared.static_table import static_table
from app.formatting import counted, plain
from app.state.prompting import PromptingView
from core.reports.prompting.experiments import PromptingMethod
from core.reports.prompting.letter_answers import Spread
from core.reports.prompting.option_order import OptionOrder

SMALLEST_P = 0.001
"""A p-value below this is shown as "less than" it."""


def letters(methods: Sequence[PromptingMethod], view: PromptingView) -> None:
    """Show what models would write instead of a letter, the effect of the options' order, and written answers."""
    if not methods:
        st.caption("This experiment has no runs by letter.")
        return
    _invalid(methods)
    orders = [prompting_cache.orders(method.run_id, view.alpha, view.score) for method in methods]
    spreads = [prompting_cache.spread(method.run_id) for method in methods]
    for method, order, spread in zip(methods, orders, spreads, strict=True):
        if order or spread:
            st.markdown(f"**{plain(method.way)}**")
        if order:
            _orders(order, view)
        if spread:
            _spread(spread)
    if not any(orders):
        st.caption("The options were asked in one order only. The launch below can ask in all orders.")
    if not any(spreads):
        st.caption(
            "Scoring has no random variation: a repeat gives the same figures. Written answers are sampled and do "
            "vary. The launch below can ask for them."
        )


def _invalid(methods: Sequence[PromptingMethod]) -> None:
    """Show how often the most probable next token is no letter of an option, one row per way of asking."""
    counts = [(method.way, prompting_cache.invalid(method.run_id)) for method in methods]
    rows = [
        {
            "Asked by": way,
            "Questions": f"{invalid.n:,}",
            "Invalid answers": "–"
            if math.isnan(invalid.rate)
            else f"{invalid.rate:.1%} ({invalid.low:.1%} to {invalid.high:.1%})",
            "Probability of all letters": "–" if math.isnan(invalid.letter_mass) else f"{invalid.letter_mass:.1%}",
            "Most probable instead": ", ".join(f"{token!r} {count:,} ×" for token, count in invalid.instead) or "–",
        }
        for way, invalid in counts
    ]
    static_table(pd.DataFrame(rows), alt="Invalid answers of each way of asking")
    lacking = any(math.isnan(invalid.rate) for _, invalid in counts)
    st.caption(
        "An answer is invalid if the most probable next token is not the letter of an option. Brackets hold 95% "
        "intervals." + (" – means that the run did not record it." if lacking else "")
    )


def _orders(order: OptionOrder, view: PromptingView) -> None:
    rates = ", ".join(
        f"{letter} {rate:.0%} ({span(order.letter_intervals[letter], 0)})"
        for letter, rate in order.letter_rates.items()
    )
    stable = order.sets[view.score]
    chance = (
        f"without a preference, rates this unequal occur in {order.letter_p_value:.1%} of cases (p)."
        if order.letter_p_value >= SMALLEST_P
        else f"without a preference, rates this unequal occur in less than {SMALLEST_P:.1%} of cases (p)."
    )
    st.markdown(
        plain(
            f"{counted(order.questions, 'question')}, each in {order.orders} orders of its options. In "
            f"{order.plurality:.1%} ({span(order.plurality_interval)}) of the orders, the model picks the option "
            f"that it picks most often for that question (PPA). The letters are picked this often: {rates}. "
            f"Letter bias is {order.letter_bias:.2f}; {chance} {stable.same:.1%} ({span(stable.same_interval)}) of "
            "the sets in other orders equal the set of the first order, with a mean overlap of "
            f"{stable.overlap:.2f}. By text, the options are not shown, so they have no order."
        )
    )
    st.caption(
        "All intervals are 95% intervals over questions: a question counts once, however often it was asked. "
        "Where few questions are an exception, they hold the true value in 95% of draws or more."
    )


def span(ends: tuple[float, float], digits: int = 1) -> str:
    """An interval of shares in percent."""
    low, high = ends
    return f"{low:.{digits}%} to {high:.{digits}%}"


def _spread(spread: Spread) -> None:
    each = ", ".join(f"{share:.1%}" for share in spread.accuracy)
    thinking = (
        f" {spread.unfinished:.1%} ended while the model still thought aloud; switch its reasoning off to get answers."
        if spread.unfinished
        else ""
    )
    deviation = "" if math.isnan(spread.deviation) else f", standard deviation {spread.deviation:.1%}"
    st.markdown(
        plain(
            f"{counted(len(spread.accuracy), 'sampled answer')} per question: "
            f"{'it is' if len(spread.accuracy) == 1 else 'they are'} right on {each}{deviation}, and scoring is "
            f"right on {spread.scored:.1%} every time. In {spread.not_found:.1%} of the written answers no option "
            f"could be found, which counts as wrong.{thinking} Answers to the same question agree in "
            f"{spread.agreement:.1%} of cases."
        )
    )
