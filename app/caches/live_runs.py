"""The current state of runs, queried in a thread, so that a database that does not answer never delays a page.

Each server has one thread that queries at a time. Every session on the server reads the latest answer.
"""

import logging
import threading
import time
from dataclasses import dataclass, field, replace

import streamlit as st

from core.access import carried
from core.errors import HedgeError
from core.runs import engine
from core.runs.status import RunStatus

LOG = logging.getLogger(__name__)
WAIT_S = 1.0
"""A page waits at most this long for an answer, which usually takes some ten milliseconds. Then it is drawn without it.
"""
FRESH_S = 0.8
"""An answer is reused for every session for this long."""


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """The unfinished runs and those that ended recently.

    ``problem`` says why they can't be read. ``waiting_s`` is how long the database has not answered, or 0 if it has. In
    both cases ``statuses`` are the last known ones.
    """

    statuses: tuple[RunStatus, ...] = ()
    problem: str = ""
    waiting_s: float = 0.0

    @property
    def busy(self) -> bool:
        """Whether the state may change without any action by a person."""
        return bool(self.problem or self.waiting_s) or any(not status.ended for status in self.statuses)


@dataclass
class _Asking:
    """The latest answer on this server, and the query that is running."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    latest: LiveRuns = LiveRuns()
    answered: float = float("-inf")
    begun: float | None = None
    ended: threading.Event = field(default_factory=threading.Event)


def current(*, refresh: bool = False) -> LiveRuns:
    """The current state of runs. ``refresh`` queries again even if the last answer is recent, for example after an
    action on a run.
    """
    asking = _asking()
    with asking.lock:
        on_its_way = asking.begun is not None and refresh and not asking.latest.problem
        before = asking.ended
    if on_its_way:
        before.wait(WAIT_S)  # this query began before the action, so its answer may be older too
    with asking.lock:
        if asking.begun is None:
            if not refresh and time.monotonic() - asking.answered < FRESH_S:
                return asking.latest
            asking.begun = time.monotonic()
            asking.ended = threading.Event()
            threading.Thread(target=carried(_ask), args=(asking,), daemon=True, name="hedge-statuses").start()
        begun, ended, known = asking.begun, asking.ended, asking.latest
    # Once the database is known not to answer, no page waits for it.
    if ended.wait(0 if known.problem else max(0.0, begun + WAIT_S - time.monotonic())):
        return asking.latest
    return replace(known, waiting_s=time.monotonic() - begun)


def _ask(asking: _Asking) -> None:
    try:
        latest = LiveRuns(tuple(engine.statuses()))
    except HedgeError as error:
        latest = replace(asking.latest, problem=str(error))
    except Exception as error:
        LOG.exception("the runs can't be listed")
        latest = replace(
            asking.latest,
            problem=f"the runs can't be listed ({type(error).__name__}); the server's log has the details",
        )
    with asking.lock:
        asking.latest, asking.answered, asking.begun = latest, time.monotonic(), None
        asking.ended.set()


@st.cache_resource(show_spinner=False)
def _asking() -> _Asking:
    return _Asking()
