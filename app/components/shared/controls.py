"""Controls that several pages share; each changes the view, and the view its address."""

from __future__ import annotations

import streamlit as st

from app import state
from app.state import View
from core.conformal.alpha import thousandths
from core.conformal.scores import SCORES
from core.reports.frames import alpha_value

ALPHA_KEY = "alpha_slider"
SCORE_KEY = "score_choice"
EMPTY_KEY = "empty_choice"

EMPTY_WORDS = {"allow": "stay empty", "top1": "take the top one"}
ALPHA_HELP = "The share of questions whose set may miss the truth: at 0.100 at least 90 % of sets should hold it."
SCORE_HELP = "\n".join(f"- **{of.title}**: {of.gloss}" for of in SCORES.values())
EMPTY_HELP = "Where no option fits, a set is empty. The published papers put the most probable option into it."


def alpha_slider(view: View) -> None:
    """alpha, applied when it is let go."""
    st.session_state[ALPHA_KEY] = alpha_value(view.alpha)
    st.slider(
        "alpha", 0.001, 0.999, step=0.001, format="%.3f", key=ALPHA_KEY, on_change=_alpha_released, help=ALPHA_HELP
    )


def score_choice(view: View) -> None:
    """The score of a figure that has room for one."""
    st.session_state[SCORE_KEY] = view.score
    st.selectbox(
        "Sets by",
        list(SCORES),
        format_func=lambda name: SCORES[name].title,
        key=SCORE_KEY,
        on_change=_score_chosen,
        help=SCORE_HELP,
    )


def empty_choice(view: View) -> None:
    """What becomes of a set that no option fits."""
    st.session_state[EMPTY_KEY] = view.empty
    st.segmented_control(
        "Empty sets",
        list(EMPTY_WORDS),
        format_func=EMPTY_WORDS.__getitem__,
        required=True,
        key=EMPTY_KEY,
        on_change=_empty_chosen,
        help=EMPTY_HELP,
    )


def _score_chosen() -> None:
    state.change(score=st.session_state[SCORE_KEY])


def _empty_chosen() -> None:
    state.change(empty=st.session_state[EMPTY_KEY])


def _alpha_released() -> None:
    state.change(alpha=thousandths(st.session_state[ALPHA_KEY]))
