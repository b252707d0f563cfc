"""The full check of this machine: the button that starts it, its progress by row, and the last result."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import streamlit as st

from app.errors import spoken
from app.formatting import counted, duration, plain, sentence
from core import access
from core.access import UserRole, carried, check
from core.checks import report
from core.checks.outcome import CheckResult
from core.checks.plan import PlannedCheck, planned, row_title
from core.checks.report import Verification
from core.checks.runner import verify
from core.errors import HedgeError
from core.models.devices.slots import slots
from core.reports.titles import setting_title

LOG = logging.getLogger(__name__)
_lock = threading.Lock()

POLL_S = 1.0
VERDICTS = {"passed": "passed", "failed": "**failed**"}
OTHERS = {"not tried": "Not tried", "not here": "Not present on this machine"}
WIDTHS = [1, 2]
ABOUT = (
    "The full check scores with every path and precision, fills the memory, cancels and kills runs, and trains for a "
    "few steps. It takes up to ten minutes and keeps the devices busy."
)


def verification() -> None:
    """Show the last full check, or follow the one that is running."""
    running = is_running()
    st.fragment(_follow, run_every=POLL_S if running else None)(running)


def _may_check() -> bool:
    """Whether the person may start and stop the check, which keeps all devices busy."""
    return access.may(UserRole.ADMINISTRATOR)


def is_running() -> bool:
    """Whether a full check is running in this server."""
    job = current()
    return job is not None and not job.ended.is_set()


def has_failed() -> bool:
    """Whether the last full check could not be made or has a row that failed."""
    job, last = current(), latest()
    return bool(job and job.problem) or (last is not None and last.count("failed") > 0)


def _follow(was_running: bool) -> None:
    with spoken():
        job = current()
        if is_running() != was_running:
            st.rerun()  # rerun the whole page, which begins or ends the polling
        if job is not None and was_running:
            _progress(job)
            return
        if job is not None and job.problem:
            st.error(plain(sentence(job.problem)))
        _last(latest())


def _progress(job: VerificationJob) -> None:
    done, total = len(job.results), len(job.rows)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            present = f"{_title(job.present)} …" if job.present else "Starting …"
            text = f"{done} of {counted(total, 'check')}, {duration(job.seconds)}: {present}"
            st.progress(done / max(total, 1), text=plain(text))
            if _may_check() and st.button(
                "Stop", disabled=job.stop.is_set(), help="End the check. The result of the last whole one stays."
            ):
                stop()
                st.rerun(scope="fragment")
        _rows(job.results)


def _last(verification: Verification | None) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(plain(_summary(verification)), width="stretch")
            if _may_check() and st.button("Check this machine", help=ABOUT):
                start()
                st.rerun()
        if verification is None:
            st.caption(ABOUT)
            return
        _rows(verification.rows)


def _summary(verification: Verification | None) -> str:
    """A sentence on when the machine was checked, and the result."""
    if verification is None:
        return "This machine has not been checked in full."
    day = datetime.fromisoformat(verification.started)
    when = f"{day.day} {day:%B %Y, %H:%M} UTC"
    counts = [f"{verification.count('passed')} passed", f"{verification.count('failed')} failed"]
    counts += [f"{verification.count('not tried')} not tried"] if verification.count("not tried") else []
    return f"Full check of {when}: {', '.join(counts)}. It took {duration(verification.seconds)}."


def _rows(results: Sequence[CheckResult]) -> None:
    """Show the rows that were tried, with failed ones first, and the others in one line."""
    tried = [row for row in results if row.state in VERDICTS]
    for row in sorted(tried, key=lambda row: row.state != "failed"):
        title, says = st.columns(WIDTHS, gap="medium")
        title.markdown(f"**{plain(_title(row.name))}**: {VERDICTS[row.state]} in {duration(row.seconds)}")
        says.markdown(plain(row.says))
    for state, begins in OTHERS.items():
        if names := [_title(row.name) for row in results if row.state == state]:
            st.caption(plain(f"{begins}: {'; '.join(names)}."))


def _title(name: str) -> str:
    """A row's name in words: its check, device and precision."""
    title, device, dtype = row_title(name)
    return ", ".join(filter(None, (title, device, setting_title("dtype", dtype) if dtype else "")))


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
            verification = verify(self.rows, on_begin=self._begin, on_row=self.results.append, stop=self.stop.is_set)
            if not verification.stopped:
                report.keep(verification)
        except HedgeError as error:
            self.problem = str(error)
        except Exception as error:
            LOG.exception("the check of this machine failed")
            self.problem = f"the check failed ({type(error).__name__}); the server's log has the details"
        finally:
            self.ended.set()

    def _begin(self, row: PlannedCheck) -> None:
        self.present = row.name


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
