"""Exit reasons: why a process died, as text."""

from __future__ import annotations

import signal
from pathlib import Path

VMSTAT = Path("/proc/vmstat")
ILLEGAL = (
    ": this machine names processor instructions that it can't run, as some virtual machines do for bfloat16; choose "
    "32-bit precision, or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 for the agent"
)
"""Why torch is killed by SIGILL on a machine where it starts, and the way out."""


def in_words(status: int, *, starved: bool | None = None) -> str:
    """A process's exit status as the second half of "the process was …".

    ``starved`` says whether the kernel killed somebody for want of memory meanwhile; None if it can't be told.

    >>> in_words(-9)
    'killed by signal 9 (SIGKILL), perhaps for want of memory'
    >>> in_words(-9, starved=True)
    'killed by signal 9 (SIGKILL) for want of memory'
    >>> in_words(-9, starved=False)
    'killed by signal 9 (SIGKILL), not for want of memory'
    >>> in_words(-4)[:31]
    'killed by signal 4 (SIGILL): th'
    >>> in_words(1)
    'ended by an error of its own (exit status 1)'
    """
    if status >= 0:
        return f"ended by an error of its own (exit status {status})"
    name = signal.Signals(-status).name if -status in signal.valid_signals() else "unknown"
    said = f"killed by signal {-status} ({name})"
    why = {True: " for want of memory", False: ", not for want of memory", None: ", perhaps for want of memory"}
    if -status == signal.SIGILL:
        return said + ILLEGAL
    return said + why[starved] if -status == signal.SIGKILL else said


def kills_for_memory() -> int | None:
    """How many processes the kernel has killed for want of memory, the machine's or a control group's.

    Only its growth means something (:func:`is_starved`). None if the kernel does not say.
    """
    try:
        lines = VMSTAT.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def is_starved(before: int | None) -> bool | None:
    """Whether the kernel has killed a process for want of memory since :func:`kills_for_memory` gave ``before``.

    None if it can't be told.
    """
    now = kills_for_memory()
    return None if now is None or before is None else now > before
