"""Exit reasons: why a process died, as text."""

from __future__ import annotations

import signal
from pathlib import Path

UNWANTED = 75
"""The exit status of a worker that ended itself because its run was no longer wanted."""
VMSTAT = Path("/proc/vmstat")


def in_words(status: int, *, starved: bool | None = None) -> str:
    """A process's exit status as the second half of "its worker was …".

    ``starved`` says whether the kernel killed somebody for want of memory meanwhile; None if it can't be told.

    >>> in_words(-9)
    'killed by signal 9 (SIGKILL), perhaps for want of memory'
    >>> in_words(-9, starved=True)
    'killed by signal 9 (SIGKILL) for want of memory'
    >>> in_words(-9, starved=False)
    'killed by signal 9 (SIGKILL), not for want of memory'
    >>> in_words(1)
    'ended by an error of its own (exit status 1)'
    """
    if status == UNWANTED:
        return "ended because its run was no longer wanted"
    if status >= 0:
        return f"ended by an error of its own (exit status {status})"
    name = signal.Signals(-status).name if -status in signal.valid_signals() else "unknown"
    said = f"killed by signal {-status} ({name})"
    why = {True: " for want of memory", False: ", not for want of memory", None: ", perhaps for want of memory"}
    return said + why[starved] if -status == signal.SIGKILL else said


def kills_for_memory() -> int | None:
    """How many processes the kernel has killed for want of memory, the machine's or a control group's.

    Only its growth means something. None if the kernel does not say.
    """
    try:
        lines = VMSTAT.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)
