"""What a session remembers of each page, and the address of the page that is open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from app.formatting import plain, shortened
from app.state.address import SHARED_NAMES, View, address_of, opened, parse
from app.state.shared import SharedView

REMEMBERED_KEY = "views"
OPEN_KEY = "open_view"


def view(page: type[View]) -> View:
    """The view of the page that is open; says what was nonsense in its address and tidies the address."""
    found, problems = opened(st.query_params.to_dict(), remembered(page))
    for problem in problems:
        st.warning(plain(problem))
    st.session_state[OPEN_KEY] = page
    _remember(found)
    return found


def no_view() -> None:
    """For a page that has no record: from here on nothing is written into the address."""
    st.session_state.pop(OPEN_KEY, None)


def change(page: type[View], **values: Any) -> View:
    """Change fields of a page's view, and its address where the page is open; for callbacks and fallbacks.

    ``page`` is :class:`SharedView` where the page that is open may be any.
    """
    changed = replace(remembered(page), **values)
    _remember(changed)
    return changed


def choose_run(run_id: str) -> None:
    """Look at another run on every page; fields that mean nothing in it return to their defaults."""
    for page, of in list(_views().items()):
        default = page()
        _views()[page] = replace(of, **{name: getattr(default, name) for name in page.OF_ONE_RUN})
    change(SharedView, run=run_id)


def taking(page: type[SharedView], name: str, key: str, **also: Any) -> Callable[[], None]:
    """A callback that takes the widget ``key``'s value into the view as ``name``, and ``also`` what depends on it."""

    def take() -> None:
        change(page, **{name: st.session_state[key]}, **also)

    return take


def read_changes(page: type[View], texts: Mapping[str, str]) -> View:
    """Change fields to what ``texts`` say, where they say something; what a browser sends is not trusted."""
    changed, _ = parse(texts, remembered(page))
    _remember(changed)
    return changed


def fresh(page: type[View], **values: Any) -> View:
    """A page's view with the session's shared fields, its own at their defaults, and ``values``: for links to it."""
    return replace(page(**_shared()), **values)


def remembered(page: type[View]) -> View:
    """The last view of a page in this session, with the shared fields as they are now."""
    of = _views().get(page)
    return replace(of if isinstance(of, page) else page(), **_shared())


def name_unknown(name: str, allowed: Collection[str]) -> None:
    """Name in a sentence what the address asks for that is not ``allowed``; a bound widget would drop it silently."""
    for asked in st.query_params.get_all(name):
        if asked and asked not in allowed:
            st.warning(plain(f"The link's {name} is “{shortened(asked, 40)}”, which is not here (any more)."))


def _views() -> dict[type[SharedView], SharedView]:
    views: dict[type[SharedView], SharedView] = st.session_state.setdefault(REMEMBERED_KEY, {})
    return views


def _shared() -> dict[str, Any]:
    shared = _views().get(SharedView, SharedView())
    return {name: getattr(shared, name) for name in SHARED_NAMES}


def _remember(view: SharedView) -> None:
    _views()[type(view)] = view
    _views()[SharedView] = SharedView(**{name: getattr(view, name) for name in SHARED_NAMES})
    page: type[SharedView] | None = st.session_state.get(OPEN_KEY)
    if page is None:
        return
    address = address_of(remembered(page))
    if st.query_params.to_dict() != address:  # each write is an entry in the browser's history
        st.query_params.from_dict(address)
