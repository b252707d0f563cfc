"""The check of this machine that is running or ended last, one for the whole server.

Each of its rows is made in a process of its own (:mod:`core.checks.runner`), which ends with the server. The last
result is kept in ``HEDGE_HOME`` and is also that of ``hedge verify``.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from core.access import UserRole, carried, check
from core.checks import report
from core.checks.outcome import CheckResult
from core.checks.plan import PlannedCheck, planned
from core.checks.report import Verification
from core.checks.runner import verify
from core.errors import HedgeError
from core.models.devices.slots import slots

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class VerificationJob:
    """A check of this machine: its ``rows``, the ``results`` so far, and the name of the row that is being made.

    Once it has ``ended``, :func:`latest` is its result, unless it was stopped, or ``problem`` says in one sentence why
    there is none.
    """

    rows: Sequence[PlannedCheck]
    results: list[CheckResult] = field(default_factory=list)
    present: str = ""
    begun: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    problem: str = ""

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.begun

    def run(self) -> None:
        """Make all rows and store their results, unless the check is stopped. An error becomes one sentence."""
        try:
            made = verify(self.rows, on_begin=self._begin, on_row=self.results.append, stop=self.stop.is_set)
            if not made.stopped:
                report.keep(made)
        except HedgeError as error:
            self.problem = str(error)
        except Exception as error:
            LOG.exception("the check of this machine failed")
            self.problem = f"the check failed ({type(error).__name__}); the server's log has the details"
        finally:
            self.ended.set()

    def _begin(self, row: PlannedCheck) -> None:
        self.present = row.name


_lock = threading.Lock()


@st.cache_resource(max_entries=1, show_spinner=False)
def _jobs() -> list[VerificationJob]:
    """The job of the server: at most one."""
    return []


def current() -> VerificationJob | None:
    """The check that is running or ended last in this server; None if there was none."""
    jobs = _jobs()
    return jobs[-1] if jobs else None


def start() -> None:
    """Begin a check in a thread, unless one is running.

    Raises :class:`~core.errors.AccessError` unless an administrator asks: the check keeps all devices busy.
    """
    check(UserRole.ADMINISTRATOR, "check this machine")
    with _lock:
        job = current()
        if job is not None and not job.ended.is_set():
            return
        job = VerificationJob(planned(slots()))
        _jobs()[:] = [job]
        # A daemon thread, so that a server that is stopped does not wait for it.
        threading.Thread(target=carried(job.run), daemon=True, name="hedge-verify").start()


def stop() -> None:
    """End the check that is running. Raises :class:`~core.errors.AccessError` as :func:`start`."""
    check(UserRole.ADMINISTRATOR, "stop the check of this machine")
    if job := current():
        job.stop.set()


def latest() -> Verification | None:
    """The last result of this home; None if there is none."""
    return report.latest()
