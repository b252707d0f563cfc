"""Figures that are computed in the background while a person already sees the page.

A page asks a cache for a :class:`Computation` and shows the value that :func:`arrived` returns. Until there is one, a
line in its place says what is being computed. The browser asks for the values (:mod:`app.serving.awaited`), and has the
page run again when some have arrived. The page stays where it was scrolled to, because everything else on it is the
same.

A page that has just been opened is painted first: its computations start when the browser asks for them, which it does
when it has painted the page, or :data:`PAINT_MS` after it has got it. Otherwise they would take one of two cores, and
the turns of the thread that answers the browser. After anything that a person does on the open page, they start at
once.

Computations of the whole server run one after another in one thread, so that they take at most one core. The page that
was drawn last comes first, because a person is looking at it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st

from app.serving.awaited import Ticket
from app.state.session import BY_ITSELF_KEY
from charts.html_page import fragment
from core.access import carried
from core.errors import HedgeError, UnreadableRunError

Value = TypeVar("Value")
Parameters = ParamSpec("Parameters")

AWAITED_KEY = "awaited_computations"
CONDITIONS_KEY = "awaited_conditions"
TICKET_KEY = "awaited_ticket"
PAGE_KEY = "running_page"
PAINTED_KEY = "painted_page"
DIALOG_KEY = "dialog_is_shown"
"""In the session: whether the page shows a dialog. It then neither asks nor runs again by itself, because Streamlit
would draw the dialog again, and what a person is typing in it would be lost."""
AWAITS_KEY = "page_awaits"
PAINT_MS = 400
"""The longest delay between a new page's arrival in the browser and its first request for awaited values."""
COMPUTING = (
    '<p class="computing" role="status"{% if height %} style="min-height: {{ height }}px"{% endif %}>'
    "Computing {{ what }} …</p>"
)


class Computation(Generic[Value]):
    """A value that a thread computes with ``compute``, kept by the cache that made it.

    ``compute`` calls no cached function, because Streamlit's caches warn in a thread that belongs to no session.
    """

    def __init__(self, compute: Callable[[], Value]) -> None:
        self._compute: list[Callable[[], Value]] = [carried(compute)]
        self._found: list[Value] = []
        self._error: Exception | None = None
        self._ended = threading.Event()
        self._computing = threading.Lock()

    @classmethod
    def of(cls, value: Value) -> Computation[Value]:
        """A computation that has ended with a value."""
        computation = cls(lambda: value)
        computation.run()
        return computation

    @property
    def ended(self) -> bool:
        """Whether there is a value or an error."""
        return self._ended.is_set()

    def run(self) -> None:
        """Compute the value, unless it is there. If another thread is computing it, wait for that one.

        An error is kept for :meth:`value`.
        """
        with self._computing:
            if self.ended:
                return
            try:
                self._found.append(self._compute[0]())
                self._error = None
                self._compute.clear()  # frees the arrays that it holds
            except Exception as error:
                self._error = error
            self._ended.set()

    def value(self) -> Value:
        """The value of a computation that has ended, or the error that it ended with.

        After a lack of memory, for example, and after a run that can't be read, it can be run again.
        """
        if self._error is None:
            return self._found[0]
        error = self._error
        if not isinstance(error, HedgeError) or isinstance(error, UnreadableRunError):
            self._ended.clear()  # the error stays for other sessions, which may be about to read it
        raise error


def arrived(computation: Computation[Value], what: str = "", *, height: int = 0) -> Value | None:
    """The value, or None while it is computed.

    Then a line says ``what`` is being computed, if that is given. It takes ``height`` pixels, about as many as what
    will be shown there, so that the rest of the page does not move. Raises what computing the value raised.
    """
    if computation.ended:
        return computation.value()
    st.session_state[AWAITED_KEY].append(computation)
    if what:
        computing(what, height=height)
    return None


def under_dialog() -> None:
    """Run the page again if it awaits something, so that it no longer does beneath a dialog that is about to open."""
    if st.session_state.get(AWAITS_KEY):
        st.rerun()


def after_paint(computation: Computation[Value]) -> None:
    """Run the page again for a value that would delay the first paint, even if it is there already."""
    st.session_state[AWAITED_KEY].append(Computation(computation.run))


def waits_for_paint() -> bool:
    """Whether a section further down waits until the page that has just been opened is painted: its charts would take
    the browser from the first ones. The page then runs again."""
    if painted(st.session_state[PAGE_KEY]):
        return False
    after_paint(Computation.of(None))
    return True


def run_again_when(condition: Callable[[], bool]) -> None:
    """Run the page again when ``condition`` holds. It is called often, in the server's own thread: it must be quick."""
    st.session_state[CONDITIONS_KEY].append(condition)


def computing(what: str, *, height: int = 0) -> None:
    """Show that ``what`` is being computed, in a box ``height`` pixels high."""
    st.html(fragment(COMPUTING, what=what, height=height))


def in_place(section: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """Draw a section of a page, which may grow when a figure arrives, in a container of its own.

    Elements below the section then keep their place in the page. Streamlit rebuilds elements whose place changes,
    and that closes a list that a person has just opened.
    """

    @wraps(section)
    def drawn(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        with st.container():
            return section(*args, **kwargs)

    return drawn


@contextmanager
def following(page: str = "") -> Iterator[None]:
    """Run a page in the block, which ends with :func:`request`. Afterwards start what it awaits.

    ``page`` is the page's name. If another page was open before, the browser has still to paint this one, and what it
    awaits starts with the browser's first request for it.
    """
    st.session_state[AWAITED_KEY], st.session_state[CONDITIONS_KEY] = [], []
    st.session_state[DIALOG_KEY] = False
    st.session_state[PAGE_KEY] = page
    yield
    st.session_state[BY_ITSELF_KEY] = False
    awaited: list[Computation[object]] = st.session_state[AWAITED_KEY]
    if awaited and painted(page):
        start(awaited)
    st.session_state[AWAITS_KEY] = bool(awaited or st.session_state[CONDITIONS_KEY])
    st.session_state[PAINTED_KEY] = page


def painted(page: str) -> bool:
    """Whether the session's last run was of this page, too, so that the browser shows it already."""
    return bool(st.session_state.get(PAINTED_KEY) == page)


def request() -> dict[str, Any]:
    """The request of the browser for what the page awaits: its ``address``, empty if the page awaits nothing or shows a
    dialog, whose end runs the page again, and the longest delay in milliseconds, ``after``."""
    awaited: list[Computation[object]] = st.session_state[AWAITED_KEY]
    conditions: list[Callable[[], bool]] = st.session_state[CONDITIONS_KEY]
    ticket = None
    if (awaited or conditions) and not st.session_state[DIALOG_KEY]:
        ended = [partial(_ended, computation) for computation in awaited]
        ticket = Ticket(partial(_start_once, awaited), [*ended, *conditions])
    st.session_state[TICKET_KEY] = ticket  # alone holds it, so that it ends with the session
    after = 0 if painted(st.session_state[PAGE_KEY]) else PAINT_MS
    return {"address": ticket.address if ticket else "", "after": after}


def _ended(computation: Computation[object]) -> bool:
    return computation.ended


def runs_by_itself() -> None:
    """Mark the page's next run as one for a value that has arrived."""
    st.session_state[BY_ITSELF_KEY] = True


_lock = threading.Lock()
_stack: list[Computation[object]] = []
"""The computations to do, with the next one last. While the thread runs, they include the current one."""
_running: list[threading.Thread] = []


def start(awaited: Sequence[Computation[object]]) -> None:
    """Compute these in this order, before all others that have not begun."""
    with _lock:
        for computation in reversed(awaited):
            if computation in _stack:
                _stack.remove(computation)
            _stack.append(computation)
        if not _running:
            # A daemon thread, so that a server that is stopped does not wait for it.
            _running.append(threading.Thread(target=_compute_all, daemon=True, name="hedge-background"))
            _running[0].start()


def _start_once(awaited: Sequence[Computation[object]]) -> None:
    """Start these unless they have been started. A page that asks again does not overtake one that was drawn later."""
    with _lock:
        is_new = not any(computation.ended or computation in _stack for computation in awaited)
    if is_new:
        start(awaited)


def _compute_all() -> None:
    while True:
        with _lock:
            if not _stack:
                _running.clear()
                return
            computation = _stack[-1]
        if not computation.ended:
            computation.run()
        with _lock:
            if computation in _stack:
                _stack.remove(computation)
