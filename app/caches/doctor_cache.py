"""The doctor's findings, which a process of its own makes once for the whole server; pages follow it."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

import streamlit as st

from core import doctor
from core.doctor import Finding
from core.errors import HedgeError

LOG = logging.getLogger(__name__)
REFRESH_S = 30.0
"""After so long, what changes by itself is looked at again where somebody has the page open."""


@dataclass
class Checkup:
    """On its way (``ended`` unset) or at its end, with ``found`` or with what went wrong in one sentence.

    ``looked`` is when it ended, and ``looked_again`` when what changes by itself was last looked at, both by the
    monotonic clock.
    """

    ended: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=time.monotonic)
    found: tuple[Finding, ...] = ()
    problem: str = ""
    looked: float = 0.0
    looked_again: float = 0.0
    refreshing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.begun


def checkup() -> Checkup:
    """The one there is, begun by the first who asks; returns at once."""
    return _checkup()


def again() -> None:
    """Let the next who asks begin another, unless one is on its way."""
    if _checkup().ended.is_set():
        _checkup.clear()


def refresh(made: Checkup) -> None:
    """Look again at what may have changed by itself, beside the page, once the last look is :data:`REFRESH_S` old.

    A checkup that ended without findings is begun anew.
    """
    if made is not _checkup() or not made.ended.is_set() or time.monotonic() - made.looked_again < REFRESH_S:
        return
    if made.problem:
        again()
    elif made.refreshing.acquire(blocking=False):
        threading.Thread(target=_look_again, args=(made,), daemon=True, name="hedge-doctor-again").start()


@st.cache_resource(show_spinner=False)
def _checkup() -> Checkup:
    made = Checkup()
    # A daemon, so that a server which is stopped does not wait for it.
    threading.Thread(target=_look, args=(made,), daemon=True, name="hedge-doctor").start()
    return made


def _look(made: Checkup) -> None:
    try:
        made.found = tuple(doctor.ask())
    except HedgeError as error:
        made.problem = str(error)
    except Exception as error:
        LOG.exception("the doctor failed")
        made.problem = f"the doctor failed ({type(error).__name__}); the server's log says where"
    finally:
        made.looked = made.looked_again = time.monotonic()
        made.ended.set()


def _look_again(made: Checkup) -> None:
    try:
        now = {finding.name: finding for finding in doctor.changing()}
        made.found = tuple(now.get(finding.name, finding) for finding in made.found)
    finally:
        made.looked_again = time.monotonic()
        made.refreshing.release()
