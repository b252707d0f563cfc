"""The progress of a run, written to its folder and passed to a callback; and whether the run was cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from core.errors import RunCancelled
from core.files.atomic import drop_parts
from core.progress import ScoringRate
from core.runs import store
from core.runs.store import Progress

REPORT_EVERY_S = 0.1

IsCancelled = Callable[[], bool]
OnProgress = Callable[[Progress], None]


class ProgressReporter:
    """Reports the progress of one try at the run in ``folder``; ``done`` of ``total`` are finished."""

    def __init__(self, folder: Path, *, cancelled: IsCancelled, on_progress: OnProgress, worker: str) -> None:
        self.folder = folder
        self.cancelled = cancelled
        self.on_progress = on_progress
        self.worker = worker
        self.total = 0
        self.done = 0
        self.rate = ScoringRate(0)
        self._reported: tuple[str, float] = ("", 0.0)

    def expect(self, size: int) -> None:
        """Start the clock of the scoring: so much text is to be read, in characters or tokens."""
        self.rate = ScoringRate(size)

    def advance(self, number: int, size: int) -> None:
        """Report that ``number`` more questions or messages are scored, which had ``size`` to read."""
        self.done += number
        self.rate.add(number, size)
        self.report("scoring", rate=self.rate)

    def report(self, stage: str, *, rate: ScoringRate | None = None) -> None:
        """Report progress, at most ten times per second. Raises :class:`RunCancelled` if the run was cancelled."""
        self.stop_if_cancelled()
        if (
            self._reported[0] == stage
            and time.monotonic() - self._reported[1] < REPORT_EVERY_S
            and self.done < self.total
        ):
            return
        self._reported = (stage, time.monotonic())
        per_second, left = (rate.per_second, rate.remaining_s) if rate else (None, None)
        progress = Progress(self.done, self.total, stage, per_second, left, self.worker)
        store.write_progress(self.folder, progress)
        self.on_progress(progress)

    def begin(self, what: str, **provenance: object) -> None:
        """Say in ``run.json`` that the run is running and where its results come from, and in its log what is done."""
        drop_parts(self.folder)
        known = store.read_record(self.folder.name).provenance | provenance
        run_id = self.folder.name
        store.update_record(run_id, state="running", started=time.time(), ended=None, message="", provenance=known)
        self.log(f"{self.worker} begins: {what}")

    def log(self, line: str) -> None:
        """Write a line to the run's log."""
        store.log(self.folder, line)

    def stop_if_cancelled(self) -> None:
        """Raise :class:`RunCancelled` if a person has cancelled the run."""
        if self.cancelled():
            raise RunCancelled(self.folder.name)
