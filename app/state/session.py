"""The last view of each page in a session, and the address of the open page."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from app.formatting import plain, shortened
from app.state.address import SHARED_NAMES, View, address_of, names_in_address, opened, parse, readers
from app.state.shared import SharedView

BY_ITSELF_KEY = "page_runs_by_itself"
"""Set while a page runs again because a figure has arrived, and not because a person did something."""
MESSAGES_KEY = "messages_until_next_action"
REMEMBERED_KEY = "views"
OPEN_KEY = "open_view"


def view(page: type[View]) -> View:
    """The view of the open page. Warns about invalid values in its address and normalises the address."""
    if st.session_state.get(BY_ITSELF_KEY) and is_open(page):
        # The browser sent this address before it learned of the person's last change, which is what the view holds.
        address = address_of(remembered(page))
    else:
        address = st.query_params.to_dict()
    current, problems = opened(address, remembered(page))
    for problem in until_next_action("address", *problems):
        st.warning(plain(problem))
    st.session_state[OPEN_KEY] = page
    _remember(current)
    return current


def until_next_action(place: str, *messages: str) -> tuple[str, ...]:
    """The messages of one place on the page, or the last ones there if there are none and the page runs by itself.

    A message about a link is found only when the link is opened. If a figure arrives, the page runs again, and a person
    must still be able to read the message.
    """
    shown: dict[str, tuple[str, ...]] = st.session_state.setdefault(MESSAGES_KEY, {})
    if messages or not st.session_state.get(BY_ITSELF_KEY):
        shown[place] = messages
    return shown.get(place, ())


def is_open(page: type[SharedView]) -> bool:
    """Whether the page was open before this run of its script."""
    return st.session_state.get(OPEN_KEY) is page


def came_by_run_link(*, without: str) -> bool:
    """Whether the session begins with a link that names a run but not the field ``without``. Call it before
    :func:`view`.
    """
    return not _views() and "run" in st.query_params and without not in st.query_params


def is_linked(page: type[SharedView], *, beside: tuple[str, ...]) -> bool:
    """Whether the address names any field of the page ``beside`` these. Call it before :func:`view`, which writes the
    address.
    """
    return not (set(readers(page)) - set(beside)).isdisjoint(st.query_params)


def moved_names() -> list[str]:
    """The names in the open page's address whose changes add no entry to the browser's history."""
    page: type[SharedView] | None = st.session_state.get(OPEN_KEY)
    return list(page.MOVED or names_in_address(page)) if page else []


def no_view() -> None:
    """Declare that the open page has no record: from here on nothing is written into the address."""
    st.session_state.pop(OPEN_KEY, None)


def change(page: type[View], **values: Any) -> View:
    """Change fields of a page's view, and its address if the page is open. For callbacks and fallbacks.

    Pass :class:`SharedView` as ``page`` if any page may be open.
    """
    changed = replace(remembered(page), **values)
    _remember(changed)
    return changed


def choose_run(run_id: str, page: type[SharedView] = SharedView) -> None:
    """Select another run on every page, or on the page alone if it keeps its run to itself.

    Fields that belong to one run return to their defaults.
    """
    for each, last in list(_views().items()):
        if "run" in page.KEPT and each is not page:
            continue
        default = each()
        _views()[each] = replace(last, **{name: getattr(default, name) for name in each.OF_ONE_RUN})
    change(page, run=run_id)


def taking(page: type[SharedView], name: str, key: str, **also: Any) -> Callable[[], None]:
    """A callback that stores the value of the widget ``key`` in the view's field ``name``, and sets the fields
    ``also``.
    """

    def take() -> None:
        change(page, **{name: st.session_state[key]}, **also)

    return take


def read_changes(page: type[View], texts: Mapping[str, str]) -> View:
    """Change the fields that ``texts`` contains. The texts come from a browser, so they are validated."""
    changed, _ = parse(texts, remembered(page))
    _remember(changed)
    return changed


def fresh(page: type[View], **values: Any) -> View:
    """A page's view for a link: the session's shared fields, defaults for the page's own fields, and ``values``."""
    return page(**{**page.FIRST, **_shared(page), **values})


def remembered(page: type[View]) -> View:
    """The last view of a page in this session, with the current shared fields."""
    last = _views().get(page)
    return replace(last, **_shared(page)) if isinstance(last, page) else fresh(page)


def name_unknown(name: str, allowed: Collection[str]) -> None:
    """Warn about each value in the address that is not ``allowed``; a bound widget would drop it silently."""
    for linked in st.query_params.get_all(name):
        if linked and linked not in allowed:
            st.warning(
                plain(f"The link's {name} is “{shortened(linked, 40)}”, which is not here (it may have been deleted).")
            )


def _views() -> dict[type[SharedView], SharedView]:
    views: dict[type[SharedView], SharedView] = st.session_state.setdefault(REMEMBERED_KEY, {})
    return views


def _shared(page: type[SharedView] = SharedView) -> dict[str, Any]:
    """The session's shared fields, without those that the page keeps to itself."""
    shared = _views().get(SharedView, SharedView())
    return {name: getattr(shared, name) for name in SHARED_NAMES if name not in page.KEPT}


def _remember(view: SharedView) -> None:
    _views()[type(view)] = view
    given = {name: getattr(view, name) for name in SHARED_NAMES if name not in view.KEPT}
    _views()[SharedView] = SharedView(**_shared() | given)
    page: type[SharedView] | None = st.session_state.get(OPEN_KEY)
    if page is None:
        return
    address = address_of(remembered(page))
    if st.query_params.to_dict() != address:  # each write may add an entry to the browser's history
        st.query_params.from_dict(address)
