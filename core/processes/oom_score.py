"""The OOM score, by which the Linux kernel chooses the process that it stops when memory runs out."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SCORE = Path("/proc/self/oom_score_adj")
RAISED_BY = 500
"""In thousandths of all memory: the kernel treats this process as if it used that much more."""
HIGHEST = 1000


def raise_oom_score() -> Callable[[], None]:
    """Have the kernel stop this process rather than the one that started it, when memory runs out.

    Returns a function that restores the score, because a process started from this one inherits it. Systems other than
    Linux have no score, and nothing happens there.
    """
    before = ""
    with suppress(OSError, ValueError):
        before = SCORE.read_text(encoding="ascii")
        SCORE.write_text(str(min(int(before) + RAISED_BY, HIGHEST)), encoding="ascii")

    def restore() -> None:
        with suppress(OSError):
            if before:
                SCORE.write_text(before, encoding="ascii")

    return restore
