"""The watchdog: how long something has not changed, and workers whose runs have made no progress for too long."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from typing import TypeVar

from core.settings import settings

K = TypeVar("K", bound=Hashable)

REASON = "made no progress"
LOADING_LASTS = 4
"""Loading may download a model, so its time limit is this many times as long."""


class UnchangedFor:
    """How long each key has had its value, by this process's monotonic clock, which nobody sets."""

    def __init__(self) -> None:
        self._since: dict[object, float] = {}

    def seconds(self, values: Mapping[K, Hashable]) -> dict[K, float]:
        """For each key the seconds since a call first found it with this value; keys left out are forgotten."""
        now = time.monotonic()
        self._since = {item: self._since.get(item, now) for item in values.items()}
        return {key: now - self._since[key, value] for key, value in values.items()}


class ProgressWatch:
    """How long the progress of each run has been the same."""

    def __init__(self) -> None:
        self._unchanged = UnchangedFor()

    def overdue(self, at_work: Mapping[str, str], *, after_s: float) -> list[str]:
        """The executors (of ``at_work``, to the run each is at) without progress for ``after_s`` seconds."""
        said = {(executor, run): _said(run) for executor, run in at_work.items()}
        return [
            key[0]
            for key, seconds in self._unchanged.seconds(said).items()
            if seconds >= after_s * (LOADING_LASTS if b"loading" in said[key] else 1)
        ]


def is_loading(run_id: str) -> bool:
    """Whether a run's last progress says that it is loading its model."""
    return b"loading" in _said(run_id)


def _said(run_id: str) -> bytes:
    try:
        return (settings().runs / run_id / "progress.json").read_bytes()
    except OSError:  # nothing said yet
        return b""
