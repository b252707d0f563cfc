"""Figures that are computed in the background while a person already sees the page.

A page asks a cache for a :class:`Computation` and shows the value that :func:`arrived` returns. Until there is one, a
line in its place says what is being computed. When the page's script has ended, :func:`following` starts the
computations and runs the page again as soon as one has ended. The page stays where it was scrolled to, because
everything else on it is the same.

A page that has just been opened is painted first: its computations start when the browser asks for them, about
:data:`BEGIN_S` after it has got the page. Otherwise they would take one of two cores, and the turns of the thread that
answers the browser. After anything that a person does on the open page, they start at once.

Computations of the whole server run one after another in one thread, so that they take at most one core. The page that
was drawn last comes first, because a person is looking at it.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

import streamlit as st

from app.state.session import BY_ITSELF_KEY
from charts.html_page import fragment
from core.access import carried
from core.errors import HedgeError, UnreadableRunError

Value = TypeVar("Value")
Parameters = ParamSpec("Parameters")

AWAITED_KEY = "awaited_computations"
PAINTED_KEY = "painted_page"
DIALOG_KEY = "dialog_is_shown"
"""In the session: whether the page shows a dialog. It then neither asks nor runs again by itself, because Streamlit
would redraw the dialog, and what a person is typing in it would be lost."""
AWAITS_KEY = "page_awaits"
BEGIN_S = 0.4
"""The delay between the end of the page's script and the browser's first request for awaited values."""
COMPUTING = (
    '<p class="computing" role="status"{% if height %} style="min-height: {{ height }}px"{% endif %}>'
    "Computing {{ what }} …</p>"
)
YIELD_S = 0.1
"""While the server waits, a person's next action is noticed after at most this long."""
WAIT_S = 1.0
"""The server waits this long at a time. A click in another fragment, such as an open dialog, is answered in between."""

_changed = threading.Condition()
"""Notified when a computation has ended."""


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
                self._compute.clear()  # frees the arrays that it holds
            except Exception as error:
                self._error = error
            with _changed:
                self._ended.set()
                _changed.notify_all()

    def value(self) -> Value:
        """The value of a computation that has ended, or the error that it ended with.

        After a lack of memory, for example, and after a run that can't be read, it can be run again.
        """
        if self._error is None:
            return self._found[0]
        error = self._error
        if not isinstance(error, HedgeError) or isinstance(error, UnreadableRunError):
            self._error = None
            self._ended.clear()
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


def computing(what: str, *, height: int = 0) -> None:
    """Show that ``what`` is being computed, in a box ``height`` pixels high."""
    st.html(fragment(COMPUTING, what=what, height=height))


def in_place(section: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """Draw a section of a page, which may grow when a figure arrives, in a container of its own.

    What stands below the section then keeps its place in the page. Streamlit recreates elements whose place changes,
    and that closes a list that a person has just opened.
    """

    @wraps(section)
    def drawn(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        with st.container():
            return section(*args, **kwargs)

    return drawn


@contextmanager
def following(page: str = "") -> Iterator[None]:
    """Run a page in the block. Afterwards start what it awaits, and run the page again when something has arrived.

    ``page`` is the page's name. If another page was open before, the browser has still to paint this one, and what it
    awaits starts with the browser's first request for it.
    """
    st.session_state[AWAITED_KEY] = []
    st.session_state[DIALOG_KEY] = False
    yield
    st.session_state[BY_ITSELF_KEY] = False
    awaited: list[Computation[object]] = st.session_state[AWAITED_KEY]
    if awaited:
        if painted(page):
            start(awaited)
        if not st.session_state[DIALOG_KEY]:  # closing it runs the page again
            st.fragment(_watch, run_every=BEGIN_S)(awaited)
    st.session_state[AWAITS_KEY] = bool(awaited)
    st.session_state[PAINTED_KEY] = page
    del st.session_state[AWAITED_KEY]


def painted(page: str) -> bool:
    """Whether the session's last run was of this page, too, so that the browser shows it already."""
    return bool(st.session_state.get(PAINTED_KEY) == page)


def _watch(awaited: Sequence[Computation[object]]) -> None:
    """Start what has not been started, and wait, in a run of the fragment alone, until something has arrived.

    Waiting takes no processor time. A poll takes about 50 ms, and many polls per second would slow the computation
    down. Each wait is limited, because Streamlit does not end the run of a fragment when a person clicks in another
    one.
    """
    if AWAITED_KEY in st.session_state:
        return  # called by the page's own script: the browser paints what it has got
    _start_once(awaited)
    end = time.monotonic() + WAIT_S

    def any_ended() -> bool:
        return any(computation.ended for computation in awaited)

    while not any_ended():
        # Streamlit ends this run here if a person has done something, or has left.
        if AWAITED_KEY in st.session_state:
            return  # the page's own script is still running
        if time.monotonic() > end:
            return  # the browser asks again
        with _changed:
            _changed.wait_for(any_ended, YIELD_S)
    st.session_state[BY_ITSELF_KEY] = True
    st.rerun()


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
