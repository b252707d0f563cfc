"""The doctor's findings. A separate process makes them once for the whole server, and pages follow its progress."""

import logging
import threading
import time
from dataclasses import dataclass, field

import streamlit as st

from core.access import carried
from core.checks import doctor
from core.checks.doctor import Finding
from core.errors import HedgeError

LOG = logging.getLogger(__name__)
REFRESH_S = 30.0
"""Findings that can change by themselves are refreshed after this many seconds if a person has the page open."""


@dataclass
class Checkup:
    """A checkup that is running (``ended`` is not set) or has ended.

    An ended checkup has its findings in ``found``, or one sentence on what went wrong in ``problem``. ``looked`` is the
    time at which it ended. ``looked_again`` is the time at which the findings that can change by themselves were last
    refreshed. Both are read from the monotonic clock.
    """

    ended: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=time.monotonic)
    findings: tuple[Finding, ...] = ()
    problem: str = ""
    looked: float = 0.0
    looked_again: float = 0.0
    refreshing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def seconds(self) -> float:
        """Seconds since the checkup began."""
        return time.monotonic() - self.begun


def checkup() -> Checkup:
    """The server's only checkup. The first call starts it; every call returns at once."""
    return _checkup()


def again() -> None:
    """Let the next call of :func:`checkup` start a new one, unless one is still running."""
    if _checkup().ended.is_set():
        _checkup.clear()


def refresh(checkup: Checkup) -> None:
    """Refresh, in a thread, what may have changed by itself, if the last refresh is older than :data:`REFRESH_S`.

    A checkup that ended without findings is started again.
    """
    if checkup is not _checkup() or not checkup.ended.is_set() or time.monotonic() - checkup.looked_again < REFRESH_S:
        return
    if checkup.problem:
        again()
    elif checkup.refreshing.acquire(blocking=False):
        threading.Thread(target=carried(_look_again), args=(checkup,), daemon=True, name="hedge-doctor-again").start()


@st.cache_resource(show_spinner=False)
def _checkup() -> Checkup:
    checkup = Checkup()
    # A daemon thread, so that a server that is stopped does not wait for it.
    threading.Thread(target=carried(_look), args=(checkup,), daemon=True, name="hedge-doctor").start()
    return checkup


def _look(checkup: Checkup) -> None:
    try:
        checkup.findings = tuple(doctor.ask())
    except HedgeError as error:
        checkup.problem = str(error)
    except Exception as error:
        LOG.exception("the doctor failed")
        checkup.problem = f"the check failed ({type(error).__name__}); the server's log has the details"
    finally:
        checkup.looked = checkup.looked_again = time.monotonic()
        checkup.ended.set()


def _look_again(checkup: Checkup) -> None:
    try:
        findings = (*checkup.findings, *doctor.changing())
        checkup.findings = tuple({finding.name: finding for finding in findings}.values())
    finally:
        checkup.looked_again = time.monotonic()
        checkup.refreshing.release()
