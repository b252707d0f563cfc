"""Controls that several pages share. Each changes the view, which changes the page's address."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state
from app.formatting import plain
from app.glossary import TERMS
from app.state.shared import SharedView
from core.conformal.alpha import thousandths
from core.conformal.scores import SCORES, offered_scores
from core.reports.frames import alpha_value
from core.runs.store import RunRecord

ALPHA_KEY = "alpha_slider"
SCORE_KEY = "score_choice"
REFUSED = -(10**15)
"""The value of :func:`whole_number` for a number that it refused."""

ALPHA_HELP = TERMS["alpha"].meaning

View = TypeVar("View", bound=SharedView)


def alpha_slider(view: SharedView) -> None:
    """Show the slider of alpha. A change takes effect when a person releases it."""
    st.session_state[ALPHA_KEY] = alpha_value(view.alpha)
    st.slider("alpha", 0.001, 0.999, step=0.001, format="%g", key=ALPHA_KEY, on_change=_alpha_released, help=ALPHA_HELP)


def with_offered_scores(view: View, records: Iterable[RunRecord], *fields: str) -> View:
    """The view with scores that all of its runs have in these fields. In place of another one, which a link may name,
    the field's default is shown, and a sentence says so."""
    offered = offered_of(records)
    default = type(view)()
    instead = {name: getattr(default, name) for name in fields if getattr(view, name) not in offered}
    said = [
        f"{SCORES[getattr(view, name)].title} is for questions whose options are ordered levels, and those here are "
        f"not all ordered. {SCORES[score].title} is shown instead."
        for name, score in instead.items()
    ]
    for message in state.until_next_action("scores", *dict.fromkeys(said)):
        st.warning(plain(message))
    return state.change(type(view), **instead) if instead else view


def offered_of(records: Iterable[RunRecord]) -> tuple[str, ...]:
    """The names of the scores that all of these runs have."""
    return offered_scores(ordered=all(record.ordered for record in records))


def score_choice(view: SharedView, records: Iterable[RunRecord]) -> None:
    """Show the choice of a score that these runs have, for figures that show only one."""
    _score_box(view, "score", "Score", records, page=SharedView, key=SCORE_KEY)


def score_of(
    view: SharedView, name: str, label: str, record: RunRecord, *, width: int | Literal["stretch"] = "stretch"
) -> None:
    """Show the choice of the score in the view's field ``name``, at most ``width`` pixels wide."""
    _score_box(view, name, label, [record], page=type(view), key=f"score_{name}", width=width)


def _score_box(
    view: SharedView,
    name: str,
    label: str,
    records: Iterable[RunRecord],
    *,
    page: type[SharedView],
    key: str,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    st.session_state[key] = getattr(view, name)
    offered = offered_of(records)
    st.selectbox(
        label,
        offered,
        format_func=lambda score: SCORES[score].title,
        key=key,
        on_change=state.taking(page, name, key),
        help="\n".join(f"- **{SCORES[score].title}**: {SCORES[score].gloss}" for score in offered),
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
