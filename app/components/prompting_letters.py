"""Letters as a model takes them: answers that are none, what the options' order changes, and written answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from app import readings
from app.state import View
from app.words import counted, plain
from core.reports.prompting import Reading


def letters(found: Sequence[Reading], view: View) -> None:
    """What the models would write where a letter is asked for, what the options' order changes, and written answers."""
    if not found:
        st.caption("This experiment has not asked for letters.")
        return
    for one in found:
        st.markdown(f"**{counted(one.shots, 'shot')}**")
        _invalid(one)
        _orders(one, view)
        _spread(one)


def _invalid(reading: Reading) -> None:
    made = readings.invalid(reading.run_id)
    mass = "" if math.isnan(made.letter_mass) else f" The letters hold {made.letter_mass:.1%} of all probability."
    if math.isnan(made.rate):
        st.caption(f"Its runs do not say which next token was the most probable.{mass}")
        return
    st.markdown(
        plain(
            f"On {made.rate:.1%} ({made.low:.1%} to {made.high:.1%}) of {counted(made.n, 'question')} the most "
            f"probable next token is no letter of an option: an invalid answer.{mass}"
        )
    )
    if made.instead:
        said = ", ".join(f"{token!r} {count:,} ×" for token, count in made.instead)
        st.caption(plain(f"Instead: {said}."))


def _orders(reading: Reading, view: View) -> None:
    made = readings.orders(reading.run_id, view.alpha, view.score)
    if made is None:
        st.caption("Asked in one order of the options; the launch below asks in all of them.")
        return
    rates = ", ".join(f"{letter} {rate:.0%}" for letter, rate in made.letter_rates.items())
    stable = made.sets[view.score]
    st.markdown(
        plain(
            f"In {made.orders} orders of the options, {made.plurality:.1%} of the orders pick a question's most picked "
            f"option (PPA); letter bias {made.letter_bias:.2f} ({rates}). {stable.same:.1%} of questions keep one set "
            f"in all orders, with a mean overlap of {stable.overlap:.2f}. Texts are asked without an order."
        )
    )


def _spread(reading: Reading) -> None:
    made = readings.spread(reading.run_id)
    if made is None:
        st.caption("Scoring has no spread: a repeat gives the same figures. Written answers, which are sampled, have.")
        return
    each = ", ".join(f"{share:.1%}" for share in made.accuracy)
    deviation = "" if math.isnan(made.deviation) else f", standard deviation {made.deviation:.1%}"
    st.markdown(
        plain(
            f"{counted(len(made.accuracy), 'sampled answer')} a question: right on {each}{deviation}, where the score "
            f"is right on {made.scored:.1%} every time. In {made.not_found:.1%} of them no option could be found, "
            f"which counts as wrong; a question's answers agree in {made.agreement:.1%}."
        )
    )
