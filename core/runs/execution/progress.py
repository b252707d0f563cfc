"""The progress of a run, written to its folder and passed to a callback; and whether the run was cancelled."""

import time
from collections.abc import Callable
from pathlib import Path

from core.errors import RunCancelled
from core.models.devices.sharing import torch_device
from core.models.devices.slots import slots
from core.progress import ScoringRate
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import Progress
from core.storage.atomic import drop_parts

REPORT_EVERY_S = 0.1
WAITING = "waiting: "
"""The beginning of a run's stage if its server does not answer; the reason follows."""
HERE = "here"
"""The worker of a run that is executed in the foreground."""

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
        self.devices = 1
        """The devices that score the run's questions at the moment."""
        self._reported: tuple[str, float] = ("", 0.0)
        self._awaited = ""

    def expect(self, size: int) -> None:
        """Start timing the scoring of this much text, in characters or tokens."""
        self.rate = ScoringRate(size)

    def advance(self, number: int, size: int) -> None:
        """Report that ``number`` more questions or messages are scored, whose texts have this ``size``."""
        self.done += number
        self.rate.add(number, size)
        where = f" on {self.devices} devices" if self.devices > 1 else ""
        self.report(f"scoring{where}", rate=self.rate)

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

    def wait_for_server(self, reason: str) -> None:
        """Report that a server does not answer, and why; ``reason`` is empty once it does again."""
        self.stop_if_cancelled()
        if reason and reason != self._awaited:
            self.log(reason)
        self._awaited = reason
        if reason:
            self.report(f"{WAITING}{reason}")

    def begin(self, what: str, **provenance: object) -> None:
        """Record in ``run.json`` that the run is running and where its results come from, and in its log what is done
        already."""
        drop_parts(self.folder)
        known = store.read_record(self.folder.name).provenance | provenance
        run_id = self.folder.name
        store.update_record(run_id, state="running", started=time.time(), ended=None, message="", provenance=known)
        self.log(f"{self.worker} begins: {what}")

    def log(self, line: str) -> None:
        """Write a line to the run's log."""
        store.log(self.folder, line)

    def device_of(self, spec: RunSpec) -> str:
        """The device onto which this process loads the run's model, the first of a list; empty if it may choose. A
        worker sees only its slot's devices, whatever their numbers are elsewhere."""
        return torch_device(spec.device, slots()) if self.worker == HERE and spec.device else ""

    def stop_if_cancelled(self) -> None:
        """Raise :class:`RunCancelled` if a person has cancelled the run."""
        if self.cancelled():
            raise RunCancelled(self.folder.name)
