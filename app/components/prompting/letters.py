"""How a model uses letters: answers that are not options, the effect of the options' order, and written answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from app.caches import prompting_cache
from app.formatting import counted, plain
from app.state.prompting import PromptingView
from core.reports.prompting.experiments import PromptingMethod

SMALLEST_P = 0.001
"""A p-value below this is shown as "less than" it."""


def letters(found: Sequence[PromptingMethod], view: PromptingView) -> None:
    """Show what models would write instead of a letter, the effect of the options' order, and written answers."""
    if not found:
        st.caption("This experiment has no runs by letter.")
        return
    for one in found:
        st.markdown(f"**{counted(one.shots, 'shot')}**")
        _invalid(one)
        _orders(one, view)
        _spread(one)


def _invalid(reading: PromptingMethod) -> None:
    made = prompting_cache.invalid(reading.run_id)
    mass = "" if math.isnan(made.letter_mass) else f" The letters have {made.letter_mass:.1%} of the total probability."
    if math.isnan(made.rate):
        st.caption(f"These runs did not record which next token was the most probable.{mass}")
        return
    st.markdown(
        plain(
            f"On {made.rate:.1%} ({made.low:.1%} to {made.high:.1%}) of {counted(made.n, 'question')}, the most "
            f"probable next token is not the letter of an option. That is an invalid answer.{mass}"
        )
    )
    if made.instead:
        said = ", ".join(f"{token!r} {count:,} ×" for token, count in made.instead)
        st.caption(plain(f"These tokens were the most probable instead: {said}."))


def _orders(reading: PromptingMethod, view: PromptingView) -> None:
    made = prompting_cache.orders(reading.run_id, view.alpha, view.score)
    if made is None:
        st.caption("The options were asked in one order only. The launch below can ask in all orders.")
        return
    rates = ", ".join(
        f"{letter} {rate:.0%} ({span(made.letter_intervals[letter], 0)})" for letter, rate in made.letter_rates.items()
    )
    stable = made.sets[view.score]
    chance = (
        f"without a preference, rates this unequal occur in {made.letter_p_value:.1%} of cases (p)."
        if made.letter_p_value >= SMALLEST_P
        else f"without a preference, rates this unequal occur in less than {SMALLEST_P:.1%} of cases (p)."
    )
    st.markdown(
        plain(
            f"{counted(made.questions, 'question')}, each in {made.orders} orders of its options. In "
            f"{made.plurality:.1%} ({span(made.plurality_interval)}) of the orders, the model picks the option "
            f"that it picks most often for that question (PPA). The letters are picked this often: {rates}. "
            f"Letter bias is {made.letter_bias:.2f}; {chance} {stable.same:.1%} ({span(stable.same_interval)}) of "
            "the sets in other orders equal the set of the first order, with a mean overlap of "
            f"{stable.overlap:.2f}. By text, the options are not shown, so they have no order."
        )
    )
    st.caption("All intervals are 95% intervals over questions: a question counts once, however often it was asked.")


def span(ends: tuple[float, float], digits: int = 1) -> str:
    """An interval of shares in percent."""
    low, high = ends
    return f"{low:.{digits}%} to {high:.{digits}%}"


def _spread(reading: PromptingMethod) -> None:
    made = prompting_cache.spread(reading.run_id)
    if made is None:
        st.caption(
            "Scoring has no random variation: a repeat gives the same figures. Written answers are sampled and do vary."
        )
        return
    each = ", ".join(f"{share:.1%}" for share in made.accuracy)
    deviation = "" if math.isnan(made.deviation) else f", standard deviation {made.deviation:.1%}"
    st.markdown(
        plain(
            f"{counted(len(made.accuracy), 'sampled answer')} per question: "
            f"{'it is' if len(made.accuracy) == 1 else 'they are'} right on {each}{deviation}, and scoring is "
            f"right on {made.scored:.1%} every time. In {made.not_found:.1%} of the written answers no option "
            f"could be found, which counts as wrong. Answers to the same question agree in {made.agreement:.1%} "
            "of cases."
        )
    )
