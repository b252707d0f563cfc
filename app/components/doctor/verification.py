"""The full check of this machine: the button that starts it, its progress by row, and the last result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from app.components.doctor import verification_job
from app.components.doctor.verification_job import VerificationJob
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence
from core import access
from core.access import UserRole
from core.checks.outcome import CheckResult
from core.checks.plan import row_title
from core.checks.report import Verification
from core.reports.titles import setting_title

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
    running = _is_running()
    st.fragment(_follow, run_every=POLL_S if running else None)(running)


def _may_check() -> bool:
    """Whether the person may start and stop the check, which keeps all devices busy."""
    return access.may(UserRole.ADMINISTRATOR)


def _is_running() -> bool:
    job = verification_job.current()
    return job is not None and not job.ended.is_set()


def _follow(was_running: bool) -> None:
    with spoken():
        job = verification_job.current()
        if _is_running() != was_running:
            st.rerun()  # rerun the whole page, which begins or ends the polling
        if job is not None and was_running:
            _progress(job)
            return
        if job is not None and job.problem:
            st.error(plain(sentence(job.problem)))
        _last(verification_job.latest())


def _progress(job: VerificationJob) -> None:
    done, of = len(job.results), len(job.rows)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            present = f"{_title(job.present)} …" if job.present else "Starting …"
            text = f"{done} of {counted(of, 'check')}, {duration(job.seconds)}: {present}"
            st.progress(done / max(of, 1), text=plain(text))
            if _may_check() and st.button(
                "Stop", disabled=job.stop.is_set(), help="End the check. The result of the last whole one stays."
            ):
                verification_job.stop()
                st.rerun(scope="fragment")
        _rows(job.results)


def _last(found: Verification | None) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(plain(_summary(found)), width="stretch")
            if _may_check() and st.button("Check this machine", help=ABOUT):
                verification_job.start()
                st.rerun()
        if found is None:
            st.caption(ABOUT)
            return
        with st.expander("What was checked", expanded=found.count("failed") > 0):
            _rows(found.rows)


def _summary(found: Verification | None) -> str:
    """A sentence on when the machine was checked, and the result."""
    if found is None:
        return "This machine has not been checked in full."
    day = datetime.fromisoformat(found.started)
    when = f"{day.day} {day:%B %Y, %H:%M} UTC"
    counts = [f"{found.count('passed')} passed", f"{found.count('failed')} failed"]
    counts += [f"{found.count('not tried')} not tried"] if found.count("not tried") else []
    return f"Full check of {when}: {', '.join(counts)}. It took {duration(found.seconds)}."


def _rows(results: Sequence[CheckResult]) -> None:
    """Show the rows that were tried, with failed ones first, and the others in one line."""
    tried = [one for one in results if one.state in VERDICTS]
    for one in sorted(tried, key=lambda one: one.state != "failed"):
        title, says = st.columns(WIDTHS, gap="medium")
        title.markdown(f"**{plain(_title(one.name))}**: {VERDICTS[one.state]} in {duration(one.seconds)}")
        says.markdown(plain(one.says))
    for state, begins in OTHERS.items():
        if names := [_title(one.name) for one in results if one.state == state]:
            st.caption(plain(f"{begins}: {'; '.join(names)}."))


def _title(name: str) -> str:
    """A row's name in words: its check, device and precision."""
    title, device, dtype = row_title(name)
    return ", ".join(filter(None, (title, device, setting_title("dtype", dtype) if dtype else "")))
