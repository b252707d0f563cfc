"""Makes the rows of a verification one after another, each in a process of its own. Loads no torch.

A check that crashes, hangs, or is killed by the kernel is a failed row and not the end. Each process has a home of its
own in a temporary folder, and everything that it started ends with it.
"""

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from core import access, extras
from core.access import UserRole
from core.checks.machine import described
from core.checks.outcome import CheckResult, State
from core.checks.plan import PlannedCheck
from core.checks.report import Verification
from core.processes.child import Child

MINUTES = 10.0
LOOK_EVERY_S = 0.1
ENDS_WITHIN_S = 5.0
LEAST_S = 5.0
"""No row begins when less is left."""
FORGOTTEN = ("HEDGE_DATABASE_URL", "HEDGE_ARCHIVE_URL", "HEDGE_HOST")
STOPPED = "It was stopped before this check ended."


@access.needs(UserRole.ADMINISTRATOR, "check this machine")
def verify(
    rows: Sequence[PlannedCheck],
    *,
    minutes: float = MINUTES,
    on_begin: Callable[[PlannedCheck], object] = lambda row: None,
    on_row: Callable[[CheckResult], object] = lambda result: None,
    stop: Callable[[], bool] = lambda: False,
) -> Verification:
    """Make the rows, in at most this many ``minutes``.

    ``on_begin`` and ``on_row`` hear of each row when it begins and when it has ended. ``stop`` is asked ten times a
    second. When it says yes, or at a KeyboardInterrupt, the present row's process is ended, and the rows that are left
    are not tried.
    """
    extras.need("models")
    begun, started = time.monotonic(), datetime.now(UTC)
    results: list[CheckResult] = []
    stopped = False
    for row in rows:
        left = minutes * 60 - (time.monotonic() - begun)
        try:
            stopped = stopped or stop()
            if row.absent:
                row_result = _without(row, "not here", row.absent)
            elif stopped:
                row_result = _without(row, "not tried", STOPPED)
            elif left < LEAST_S:
                row_result = _without(row, "not tried", f"The {minutes:g} minutes were up; allow more with --minutes.")
            else:
                on_begin(row)
                row_result = run_row(row, limit_s=left, stop=stop)
        except KeyboardInterrupt:
            stopped, row_result = True, _without(row, "not tried", STOPPED)
        results.append(row_result)
        on_row(row_result)
    seconds = time.monotonic() - begun
    return Verification(started.strftime("%Y-%m-%dT%H:%M:%SZ"), seconds, described(), tuple(results), stopped or stop())


def run_row(
    row: PlannedCheck,
    *,
    limit_s: float,
    stop: Callable[[], bool] = lambda: False,
) -> CheckResult:
    """Make one row in a process of its own, which is killed after ``limit_s`` or the check's own limit.

    The check's own limit is one for a machine that does nothing else, and is longer on a busy one.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hedge-verify-", ignore_cleanup_errors=True) as folder:
        place = row.place
        child = Child(
            "core.checks.row_process",
            *(row.check.function, place.device, place.dtype),
            environment=_environment(row, Path(folder)),
            log=Path(folder) / "log",
        )
        own_s = row.check.limit_s * _busy()
        limit, death, row_result = min(limit_s, own_s), "", None
        try:
            if ended := _ends(child, limit, stop):
                row_result = child.receive(CheckResult)
        except (EOFError, OSError):
            death = child.end(within_s=ENDS_WITHIN_S)
        finally:
            child.end()
        seconds = time.monotonic() - begun
        if row_result:
            return replace(row_result, name=row.name, shows=row.check.shows, seconds=seconds)
        if ended:
            last = f" Its last line: {line[:200]}" if (line := child.last_line()) else ""
            return _without(row, "failed", f"Its process was {death}.{last}", seconds)
    if stop():
        return _without(row, "not tried", STOPPED, seconds)
    if limit_s < own_s:
        return _without(row, "not tried", "The time was up before this check ended; allow more with --minutes.")
    return _without(row, "failed", f"It did not end within {limit:.0f} s.", seconds)


def _busy() -> float:
    """How many times longer a check may take because others use the processors too: the load of each of them."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 1.0


def _environment(row: PlannedCheck, folder: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    return inherited | {"HEDGE_HOME": str(folder / "home"), "CUDA_VISIBLE_DEVICES": row.visible, "TMPDIR": str(folder)}


def _ends(child: Child, limit_s: float, stop: Callable[[], bool]) -> bool:
    """Whether the child sends its result or dies in time."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end and not stop():
        if child.poll(LOOK_EVERY_S):
            return True
    return False


def _without(row: PlannedCheck, state: State, says: str, seconds: float = 0.0) -> CheckResult:
    return CheckResult(row.name, row.check.shows, state, says, seconds=seconds)
