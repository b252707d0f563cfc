"""How far a download is: bytes, rate and remaining time, and whether a person has cancelled it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.errors import RunCancelled

RATE_SECONDS = 10.0
"""The rate is that of the last seconds, so that a change of speed shows."""


@dataclass(slots=True)
class DownloadProgress:
    """Bytes ``done`` of about ``total``, and the ``file`` that is being worked on.

    Each piece is followed by a call of ``report`` and a check of ``cancelled``. ``abort`` may be called from another
    thread: it closes the connection that is being read, for a server that sends nothing.
    """

    total: int = 0
    done: int = 0
    fetched: int = 0
    file: str = ""
    stage: str = "downloading"
    cancelled: Callable[[], bool] = lambda: False
    report: Callable[[DownloadProgress], None] = lambda progress: None
    abort: Callable[[], None] = lambda: None
    _seen: list[tuple[float, int]] = field(default_factory=list)

    def begin(self, file: str, stage: str = "downloading") -> None:
        """Say which file comes next, or which stage. Raises :class:`RunCancelled` if the work was cancelled."""
        self.file, self.stage = file, stage
        self.check()
        self.report(self)

    def advance(self, size: int) -> None:
        """Count bytes that came from the network."""
        self.fetched += size
        self.done += size
        now = time.monotonic()
        self._seen.append((now, self.fetched))
        while len(self._seen) > 2 and now - self._seen[0][0] > RATE_SECONDS:
            self._seen.pop(0)
        self.report(self)

    def skip(self, size: int) -> None:
        """Count bytes that were here already."""
        self.done += size
        self.report(self)

    def check(self) -> None:
        """Raise :class:`RunCancelled` if the work was cancelled."""
        if self.cancelled():
            raise RunCancelled("cancelled; what was downloaded is kept, and the next time continues from there")

    @property
    def rate(self) -> float:
        """Bytes per second over the last seconds; 0 if nothing can be said yet."""
        if len(self._seen) < 2:
            return 0.0
        (begun, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / max(now - begun, 1e-9)

    @property
    def remaining_s(self) -> float | None:
        """The remaining seconds at that rate; None if nothing can be said yet."""
        return max(self.total - self.done, 0) / self.rate if self.rate > 0 else None
