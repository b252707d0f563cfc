"""Controls that several pages share. Each changes the view, which changes the page's address."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state
from app.glossary import TERMS
from app.state.shared import SharedView
from core.conformal.alpha import thousandths
from core.conformal.scores import SCORES
from core.reports.frames import alpha_value

ALPHA_KEY = "alpha_slider"
SCORE_KEY = "score_choice"
REFUSED = -(10**15)
"""The value of :func:`whole_number` for a number that it refused."""

ALPHA_HELP = TERMS["alpha"].meaning
SCORE_HELP = "\n".join(f"- **{score.title}**: {score.gloss}" for score in SCORES.values())


def alpha_slider(view: SharedView) -> None:
    """Show the slider of alpha. A change takes effect when a person releases it."""
    st.session_state[ALPHA_KEY] = alpha_value(view.alpha)
    st.slider("alpha", 0.001, 0.999, step=0.001, format="%g", key=ALPHA_KEY, on_change=_alpha_released, help=ALPHA_HELP)


def score_choice(view: SharedView) -> None:
    """Show the choice of a score, for figures that show only one."""
    st.session_state[SCORE_KEY] = view.score
    st.selectbox(
        "Score",
        list(SCORES),
        format_func=lambda name: SCORES[name].title,
        key=SCORE_KEY,
        on_change=state.taking(SharedView, "score", SCORE_KEY),
        help=SCORE_HELP,
    )


def score_of(view: SharedView, name: str, label: str, *, width: int | Literal["stretch"] = "stretch") -> None:
    """Show the choice of the score in the view's field ``name``, at most ``width`` pixels wide."""
    key = f"score_{name}"
    st.session_state[key] = getattr(view, name)
    st.selectbox(
        label,
        list(SCORES),
        format_func=lambda score: SCORES[score].title,
        key=key,
        on_change=state.taking(type(view), name, key),
        help=SCORE_HELP,
        width=width,
    )


def whole_number(
    label: str, *, key: str, digits: int = 9, step: int = 1, place: DeltaGenerator | None = None, **settings: Any
) -> int | None:
    """Show a field for a whole number and return the number, None if the field is empty, or :data:`REFUSED`.

    The field takes any number: a browser does not send an integer of more than 15 digits, and the page would still use
    the number before. A number with more ``digits`` or with a fraction is refused in a sentence below the field.
    """
    here = place or st.container()
    number = here.number_input(label, step=float(step), format="%g", key=key, **settings)
    problem = here.container()  # present even if empty, so that an expander that follows stays open
    if number is None:
        return None
    if number % 1 or abs(number) >= 10**digits:
        problem.error(f"{label} must be a whole number of at most {digits} digits.")
        return REFUSED
    return int(number)


def choice(
    label: str,
    titles: Mapping[str, str],
    offered: Iterable[str] | None = None,
    *,
    key: str,
    place: DeltaGenerator | None = None,
    **more: Any,
) -> str:
    """Show a choice of one value by its title, and return the value. ``offered`` are all that have one by default."""
    show = (place or st).segmented_control
    values = list(titles if offered is None else offered)
    chosen = show(label, values, format_func=titles.__getitem__, required=True, key=key, **more)
    return str(values[0] if chosen is None else chosen)


def switch(
    view: SharedView,
    name: str,
    label: str,
    words: Mapping[str, str],
    *,
    key: str,
    help: str | None = None,
    label_visibility: Literal["visible", "collapsed"] = "visible",
    **also: Any,
) -> None:
    """Show a choice among a few values of the view's field ``name``. ``words`` maps each value to its label.

    A choice changes the page's view and the fields ``also`` that depend on it.
    """
    st.session_state[key] = getattr(view, name)
    take = state.taking(type(view), name, key, **also)
    choice(label, words, key=key, on_change=take, help=help, label_visibility=label_visibility, wrap=True)


def _alpha_released() -> None:
    state.change(SharedView, alpha=thousandths(st.session_state[ALPHA_KEY]))
