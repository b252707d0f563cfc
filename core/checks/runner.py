"""Makes the rows of a verification one after another, each in a process of its own. Loads no torch.

A check that crashes, hangs, or is killed by the kernel is a failed row and not the end. Each process has a home of its
own in a temporary folder, and everything that it started ends with it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from core import access, extras
from core.access import UserRole
from core.checks.machine import described
from core.checks.outcome import CheckResult
from core.checks.plan import PlannedCheck
from core.checks.report import Verification
from core.processes import exit_reasons
from core.settings import ROOT

MINUTES = 10.0
LOOK_EVERY_S = 0.1
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
    """Make the rows, in at most so many ``minutes``.

    ``on_begin`` and ``on_row`` hear of each row when it begins and when it has ended. ``stop`` is asked ten times a
    second. When it says yes, or at a KeyboardInterrupt, the present row's process is ended, and the rows that are left
    are not tried.
    """
    extras.need("models")
    begun, started = time.monotonic(), datetime.now(UTC)
    made: list[CheckResult] = []
    stopped = False
    for row in rows:
        left = minutes * 60 - (time.monotonic() - begun)
        try:
            stopped = stopped or stop()
            if row.absent:
                result = _without(row, "not here", row.absent)
            elif stopped:
                result = _without(row, "not tried", STOPPED)
            elif left < LEAST_S:
                result = _without(row, "not tried", f"The {minutes:g} minutes were up; allow more with --minutes.")
            else:
                on_begin(row)
                result = made_in_process(row, limit_s=left, stop=stop)
        except KeyboardInterrupt:
            stopped, result = True, _without(row, "not tried", STOPPED)
        made.append(result)
        on_row(result)
    seconds = time.monotonic() - begun
    return Verification(started.strftime("%Y-%m-%dT%H:%M:%SZ"), seconds, described(), tuple(made), stopped or stop())


def made_in_process(
    row: PlannedCheck,
    *,
    limit_s: float,
    stop: Callable[[], bool] = lambda: False,
) -> CheckResult:
    """Make one row in a process of its own, which is killed after ``limit_s`` or the check's own limit.

    The check's own limit is one for a machine that does nothing else, and is longer on a busy one.

    """
    with tempfile.TemporaryDirectory(prefix="hedge-verify-", ignore_cleanup_errors=True) as folder:
        there = Path(folder)
        begun, memory_kills = time.monotonic(), exit_reasons.MemoryKills()
        with (there / "said").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "core.checks.row_process", *_arguments(row), folder],
                cwd=ROOT,
                env=_environment(row, there),
                stdin=subprocess.PIPE,  # never written to: it closes when this process dies, by which the row knows
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        own_s = row.check.limit_s * _busy()
        limit = min(limit_s, own_s)
        try:
            ended = _waited(process, limit, stop)
        finally:
            _end(process)
        seconds = time.monotonic() - begun
        if ended:
            death = exit_reasons.in_words(process.returncode, out_of_memory=memory_kills.any)
            return _result(row, there, death, seconds)
        if stop():
            return _without(row, "not tried", STOPPED, seconds)
        if limit_s < own_s:
            return _without(row, "not tried", "The time was up before this check ended; allow more with --minutes.")
        return _without(row, "failed", f"It did not end within {limit:.0f} s.", seconds)


def _busy() -> float:
    """How many times longer a check may take because others use the processors too: the load of each of them."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 1.0


def _arguments(row: PlannedCheck) -> tuple[str, str, str]:
    return row.check.function, row.place.device, row.place.dtype


def _environment(row: PlannedCheck, folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    return kept | {"HEDGE_HOME": str(folder / "home"), "CUDA_VISIBLE_DEVICES": row.visible, "TMPDIR": str(folder)}


def _waited(process: subprocess.Popen[bytes], limit_s: float, stop: Callable[[], bool]) -> bool:
    """Whether the process ended by itself in time."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end and not stop():
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_EVERY_S)
            return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin:
        process.stdin.close()


def _result(row: PlannedCheck, folder: Path, death: str, seconds: float) -> CheckResult:
    """The row that the process wrote down, or how it died."""
    try:
        values = json.loads((folder / "result.json").read_bytes())
        return CheckResult(row.name, row.check.shows, values["state"], values["says"], values["figures"], seconds)
    except (OSError, ValueError, KeyError):
        lines = (folder / "said").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = f" Its last line: {lines[-1][:200]}" if lines else ""
        return _without(row, "failed", f"Its process was {death}.{last}", seconds)


def _without(row: PlannedCheck, state: str, says: str, seconds: float = 0.0) -> CheckResult:
    return CheckResult.from_json(
        {"name": row.name, "shows": row.check.shows, "state": state, "says": says, "figures": {}, "seconds": seconds}
    )
