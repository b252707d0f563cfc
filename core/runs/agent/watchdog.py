"""The watchdog: finds workers whose runs have made no progress for too long."""

from __future__ import annotations

import time
from collections.abc import Mapping

from core.settings import settings

REASON = "made no progress"
LOADING_LASTS = 4
"""Loading may download a model, so its time limit is this many times as long."""


class ProgressWatch:
    """The progress of each run as last seen, timed by a monotonic clock and not by file times."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[bytes, float]] = {}

    def overdue(self, at_work: Mapping[str, str], *, after_s: float) -> list[str]:
        """The executors (of ``at_work``, to the run each is at) without progress for ``after_s`` seconds."""
        now = time.monotonic()
        said = {(executor, run): _said(run) for executor, run in at_work.items()}
        self._seen = {
            key: before if (before := self._seen.get(key)) and before[0] == content else (content, now)
            for key, content in said.items()
        }
        return [
            executor
            for (executor, _), (content, since) in self._seen.items()
            if now - since >= after_s * (LOADING_LASTS if b"loading" in content else 1)
        ]


def is_loading(run_id: str) -> bool:
    """Whether a run's last progress says that it is loading its model."""
    return b"loading" in _said(run_id)


def _said(run_id: str) -> bytes:
    try:
        return (settings().runs / run_id / "progress.json").read_bytes()
    except OSError:  # nothing said yet
        return b""
