"""Exit reasons: why a process died, as text."""

import signal
import time
from contextlib import suppress
from pathlib import Path

VMSTAT = Path("/proc/vmstat")
OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")
DIES_WITHIN_S = 60.0
"""By then the memory of a process that was killed has been given back, even if that was hundreds of gigabytes."""
ILLEGAL = (
    ": this machine names processor instructions that it can't run, as some virtual machines do for bfloat16; choose "
    "32-bit precision, or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 for the agent"
)
"""Why torch is killed by SIGILL on a machine where it starts, and the way out."""


def in_words(status: int, *, out_of_memory: bool = False) -> str:
    """A process's exit status as the second half of "the process was …".

    ``out_of_memory`` says that the kernel has just stopped a process because memory ran out (:class:`MemoryKills`).

    >>> in_words(-9)
    'killed by signal 9 (SIGKILL), perhaps because memory ran out'
    >>> in_words(-9, out_of_memory=True)
    'out of memory: the system stopped it'
    >>> in_words(-4)[:31]
    'killed by signal 4 (SIGILL): th'
    >>> in_words(1)
    'ended by an error of its own (exit status 1)'
    """
    if status >= 0:
        return f"ended by an error of its own (exit status {status})"
    name = signal.Signals(-status).name if -status in signal.valid_signals() else "unknown"
    death = f"killed by signal {-status} ({name})"
    if -status == signal.SIGILL:
        return death + ILLEGAL
    if -status == signal.SIGKILL:
        return "out of memory: the system stopped it" if out_of_memory else f"{death}, perhaps because memory ran out"
    return death


class MemoryKills:
    """Tells whether the kernel stopped a process because memory ran out, around the time at which another died.

    Create it before the process starts, and call :meth:`look` while it lives. The kernel counts these kills for each
    control group, such as a container, or else for the whole machine, and names no process. A process that it has
    killed looks alive until its memory is given back, so a count that was taken while the process looked alive may hold
    its own kill. The count to compare with is therefore one that is at least ``DIES_WITHIN_S`` old, or the first.
    """

    def __init__(self) -> None:
        self._counter = _counter()
        self._before = self._latest = _memory_kills(self._counter) or 0
        self._counted = time.monotonic()

    def look(self) -> None:
        """Count again from time to time, so that a kill of long ago is not mistaken for this process's."""
        if time.monotonic() - self._counted >= DIES_WITHIN_S:
            self._before, self._latest = self._latest, _memory_kills(self._counter) or 0
            self._counted = time.monotonic()

    @property
    def any(self) -> bool:
        """Whether there was one; False if the kernel does not say."""
        return (_memory_kills(self._counter) or 0) > self._before


def _counter() -> Path:
    """The file with the count for this process's control group, in which its children are; otherwise the machine's."""
    with suppress(OSError):
        for line in OWN_GROUPS.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if "memory" in controllers.split(","):
                root, name = GROUPS / "memory", "memory.oom_control"
            elif not controllers:
                root, name = GROUPS, "memory.events"
            else:
                continue
            group = root / path.lstrip("/")
            for folder in (group, *group.parents[: len(group.parts) - len(root.parts)]):
                if _memory_kills(folder / name) is not None:
                    return folder / name
    return VMSTAT


def _memory_kills(counter: Path) -> int | None:
    """How many processes the kernel has stopped because memory ran out; None if it does not say."""
    with suppress(OSError):
        for line in counter.read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return None
