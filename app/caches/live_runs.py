"""How runs are now, asked for beside the page: a database that does not answer holds up nothing that is drawn.

One thread a server asks at a time; every session on it reads the latest answer.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field, replace

import streamlit as st

from core.errors import HedgeError
from core.runs import engine
from core.runs.status import RunStatus

LOG = logging.getLogger(__name__)
WAIT_S = 1.0
"""A page waits this long for an answer, which takes some ten milliseconds; then it is drawn without."""
FRESH_S = 0.8
"""An answer is given to every session for this long."""


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """The unfinished runs and those that ended lately; ``problem`` says why they can't be had, and ``waiting_s`` for
    how long the database has not answered, 0 where it has. ``statuses`` are then the last that were known."""

    statuses: tuple[RunStatus, ...] = ()
    problem: str = ""
    waiting_s: float = 0.0

    @property
    def busy(self) -> bool:
        """Whether something may change without anybody's doing."""
        return bool(self.problem or self.waiting_s) or any(not status.ended for status in self.statuses)


@dataclass
class _Asking:
    """What is known on this server, and the question that is on its way."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    latest: LiveRuns = LiveRuns()
    answered: float = float("-inf")
    begun: float | None = None
    ended: threading.Event = field(default_factory=threading.Event)


def current(*, anew: bool = False) -> LiveRuns:
    """How runs are now. ``anew`` asks even where an answer is fresh, as after something was done to a run."""
    asking = _asking()
    with asking.lock:
        on_its_way = asking.begun is not None and anew and not asking.latest.problem
        before = asking.ended
    if on_its_way:
        before.wait(WAIT_S)  # it was begun before what was done, and so may its answer be
    with asking.lock:
        if asking.begun is None:
            if not anew and time.monotonic() - asking.answered < FRESH_S:
                return asking.latest
            asking.begun = time.monotonic()
            asking.ended = threading.Event()
            threading.Thread(target=_ask, args=(asking,), daemon=True, name="hedge-statuses").start()
        begun, ended, known = asking.begun, asking.ended, asking.latest
    # Once it is known not to answer, no page waits for it.
    if ended.wait(0 if known.problem else max(0.0, begun + WAIT_S - time.monotonic())):
        return asking.latest
    return replace(known, waiting_s=time.monotonic() - begun)


def _ask(asking: _Asking) -> None:
    try:
        found = LiveRuns(tuple(engine.statuses()))
    except HedgeError as error:
        found = replace(asking.latest, problem=str(error))
    except Exception as error:
        LOG.exception("the runs can't be listed")
        found = replace(
            asking.latest, problem=f"the runs can't be listed ({type(error).__name__}); see the server's log"
        )
    with asking.lock:
        asking.latest, asking.answered, asking.begun = found, time.monotonic(), None
        asking.ended.set()


@st.cache_resource(show_spinner=False)
def _asking() -> _Asking:
    return _Asking()
