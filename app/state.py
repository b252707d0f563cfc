"""What a person looks at: one typed record that lives in the page's address, so that a link reopens the view.

The menu's links carry no view, so the last one is remembered for the session and written back into the address.
Nonsense in a link is named in one sentence and replaced by what was there before or by the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app.words import plain, shortened
from core.conformal.alpha import check_thousandths
from core.conformal.scores import SCORE_NAMES
from core.conformal.sets import EMPTY_POLICIES
from core.errors import InputError
from core.reports.frames import alpha_value
from core.reports.report import DEFAULT_SCORES

VIEW_KEY = "view"
NAMES_KEY = "view_names"


@dataclass(frozen=True, slots=True)
class View:
    """The choices that a link carries.

    ``run`` a run id, ``alpha`` in thousandths, ``score`` the one that a figure with room for one shows, ``empty``
    the policy for empty sets, ``row`` the number (from 1) of the first test question shown, ``question`` an id.
    On One question ``bars`` is the score whose p-values are drawn, ``ask`` whether the question is a run's or one's
    own, and ``answer`` the id of the answer to one's own.
    """

    run: str = ""
    alpha: int = 100
    score: str = "lac"
    empty: str = "allow"
    row: int = 1
    question: str = ""
    bars: str = "lac"
    ask: str = "run"
    answer: str = ""


ALWAYS_SHOWN = ("run", "alpha")
"""Names that stand in the address even at their defaults."""


def _alpha(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise InputError("alpha counts in whole thousandths from 1 to 999")
    return check_thousandths(int(text))


def _row(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= 9 and int(text) > 0):
        raise InputError("rows count from 1")
    return int(text)


def _one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise InputError(f"it is one of {', '.join(allowed)}")
        return text

    return read


READERS: dict[str, Callable[[str], Any]] = {
    "run": str,
    "alpha": _alpha,
    "score": _one_of(DEFAULT_SCORES),
    "empty": _one_of(EMPTY_POLICIES),
    "row": _row,
    "question": str,
    "bars": _one_of(SCORE_NAMES),
    "ask": _one_of(("run", "own")),
    "answer": str,
}
"""From a name in the address to what reads its value or raises :class:`InputError`."""


def parse(address: Mapping[str, str], start: View) -> tuple[View, tuple[str, ...]]:
    """The view that an address asks for, ``start`` where it says nothing, and a sentence for each nonsense in it."""
    values: dict[str, Any] = {}
    problems = []
    for name, read in READERS.items():
        if name not in address:
            continue
        try:
            values[name] = read(address[name])
        except InputError as error:
            problems.append(
                f"The link's {name} is “{shortened(address[name], 40)}”, but {error}; "
                f"{_in_words(name, getattr(start, name))} is shown instead."
            )
    return replace(start, **values), tuple(problems)


def _in_words(name: str, value: Any) -> str:
    return f"alpha {alpha_value(value):.3f}" if name == "alpha" else f"{name} {value}"


def address_of(view: View, names: tuple[str, ...]) -> dict[str, str]:
    """The part of an address that brings the view back: the named choices that differ from their defaults."""
    default = View()
    shown = {name: str(getattr(view, name)) for name in names}
    return {
        name: value
        for name, value in shown.items()
        if value and (name in ALWAYS_SHOWN or value != str(getattr(default, name)))
    }


def address(*names: str) -> dict[str, str]:
    """The part of an address that brings the session's view back on a page with ``names``."""
    return address_of(_remembered(), names)


def view(*names: str) -> View:
    """The view of a page whose address holds ``names``; says what was nonsense in it and tidies the address."""
    address, start = st.query_params.to_dict(), _remembered()
    if any(name in READERS for name in address):  # what stands at its default is left out of an address
        absent = set(names) - set(ALWAYS_SHOWN) - set(address)
        start = replace(start, **{name: getattr(View(), name) for name in absent})
    found, problems = parse(address, start)
    for problem in problems:
        st.warning(plain(problem))
    st.session_state[NAMES_KEY] = names
    _remember(found)
    return found


def change(**values: Any) -> View:
    """Change choices of the view and the address with them; for callbacks and fallbacks."""
    changed: View = replace(_remembered(), **values)
    _remember(changed)
    return changed


def read_changes(texts: Mapping[str, str]) -> View:
    """Change choices to what ``texts`` say, where they say something; what a browser sends is not trusted."""
    changed, _ = parse(texts, _remembered())
    _remember(changed)
    return changed


def _remembered() -> View:
    view: View = st.session_state.get(VIEW_KEY, View())
    return view


def _remember(view: View) -> None:
    st.session_state[VIEW_KEY] = view
    address = address_of(view, st.session_state.get(NAMES_KEY, ()))
    if st.query_params.to_dict() != address:  # each write is an entry in the browser's history
        st.query_params.from_dict(address)
