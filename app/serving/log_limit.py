"""A limit of the server's log, so that nobody can fill the disk by what makes the server write a line.

Each logger writes :data:`AT_ONCE` lines of each level at once and :data:`PER_MINUTE` in a minute after that. The next
line then says how many were left out. This holds for the libraries too, whose lines visitors cause: handshakes that are
refused, invalid requests, logins that fail.
"""

import logging
from collections import defaultdict

from app.serving.rate import Bucket

AT_ONCE, PER_MINUTE = 30, 6
LONGEST_LINE = 2000
ACCESS = "uvicorn.access"
"""A line for each request, if the administrator of another server wants it."""


class _FewLines(logging.Filter):
    """Passes a limited number of a logger's lines."""

    def __init__(self) -> None:
        super().__init__()
        self._buckets: dict[int, Bucket] = defaultdict(lambda: Bucket(per_s=PER_MINUTE / 60, burst=AT_ONCE))
        self._left_out: dict[int, int] = defaultdict(int)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; it is cut if it is long."""
        level = record.levelno
        if not self._buckets[level].may_take(1):
            self._left_out[level] += 1
            return False
        text = record.getMessage()
        left_out = self._left_out.pop(level, 0)
        record.args = ()
        record.msg = text[:LONGEST_LINE] + (f" (and {left_out} lines that were left out)" if left_out else "")
        return True


class _LimitedLogger(logging.getLoggerClass()):  # type: ignore[misc]
    def __init__(self, name: str, level: int = logging.NOTSET) -> None:
        super().__init__(name, level)
        self.addFilter(_FewLines())


def install() -> None:
    """Limit all loggers of this process, those that are made later included."""
    for logger in [logging.getLogger(), *logging.root.manager.loggerDict.values()]:
        if isinstance(logger, logging.Logger) and logger.name != ACCESS:
            logger.addFilter(_FewLines())
    logging.setLoggerClass(_LimitedLogger)
