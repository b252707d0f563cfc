"""The watchdog: workers whose runs have made no progress for too long."""

from collections.abc import Mapping

from core.progress import UnchangedFor
from core.settings import settings

REASON = "made no progress"
LOADING_LASTS = 4
"""Loading may download a model, so its time limit is this many times as long."""


class ProgressWatch:
    """How long the progress of each run has been the same."""

    def __init__(self) -> None:
        self._unchanged = UnchangedFor()

    def overdue(self, at_work: Mapping[str, str], *, after_s: float) -> list[str]:
        """The executors without progress for ``after_s`` seconds; ``at_work`` maps each executor to its run."""
        reports = {(executor, run): _report(run) for executor, run in at_work.items()}
        return [
            key[0]
            for key, seconds in self._unchanged.seconds(reports).items()
            if seconds >= after_s * (LOADING_LASTS if b"loading" in reports[key] else 1)
        ]


def is_loading(run_id: str) -> bool:
    """Whether a run's last progress says that it is loading its model."""
    return b"loading" in _report(run_id)


def _report(run_id: str) -> bytes:
    try:
        return (settings().runs / run_id / "progress.json").read_bytes()
    except OSError:  # no progress yet
        return b""
