"""Runs that need several devices: workers of single devices make room for one that sees several.

When a waiting run is too large for one device of this host and not for several, as many workers as it has devices are
told to end after their present run. Then one worker starts that sees all of these devices
(:func:`core.models.devices.slots.joined`), takes that run and others as large, and ends when none waits. The order of
the queue is kept: runs that wait before a large one and need one device are given theirs first, and the other devices
continue beside it.
"""

from collections.abc import Sequence

from core.models.devices.slots import joined
from core.models.memory_estimate import devices_for
from core.runs.agent.worker_process import WorkerProcess
from core.runs.queue.run_queue import QueueEntry


class JointSlots:
    """The workers of several devices of one agent; ``singles`` are its workers of one device each."""

    def __init__(self, singles: Sequence[WorkerProcess]) -> None:
        self.singles = singles
        self.largest = max((worker.slot.memory_gib for worker in singles), default=0.0)
        self.joint: list[WorkerProcess] = []

    def arrange(self, waiting: Sequence[QueueEntry]) -> None:
        """Begin and end joint workers by the runs that wait, in the queue's order."""
        for worker in list(self.joint):
            if worker.ended_as_asked:
                self._give_back(worker)
        wide = [entry for entry in waiting if self._is_wide(entry)]
        for worker in self.joint:
            alike = any(self._takes(worker, entry) for entry in wide)
            if not worker.run_id and not worker.joining and (not alike or self._is_in_the_way(waiting)):
                worker.end_after_run()
        self._join(waiting)
        for worker in self.joint:
            if worker.joining and all(part.is_gone for part in self._parts(worker)):
                worker.joining, worker.wanted = False, True

    def fits(self, entry: QueueEntry) -> bool:
        """Whether this host can hold a run, on one device or on several."""
        sizes = [worker.slot.memory_gib for worker in self.singles if entry.slot in ("", worker.slot.name)]
        return devices_for(entry.needs_gib, sizes[:1] if entry.slot else sizes) > 0

    def _join(self, waiting: Sequence[QueueEntry]) -> None:
        """Reserve devices for the first large run for which the runs before it leave enough."""
        free = [worker for worker in self.singles if not worker.resting]
        spared = [worker for worker in self.joint if not worker.resting and not worker.run_id]
        ahead = 0
        for entry in waiting:
            if not self._is_wide(entry):
                ahead += 1
                continue
            if taking := next((worker for worker in spared if self._takes(worker, entry)), None):
                spared.remove(taking)
                continue
            idle_first = sorted(free, key=lambda worker: (bool(worker.run_id), -worker.slot.memory_gib))
            count = devices_for(entry.needs_gib, [worker.slot.memory_gib for worker in idle_first])
            if not count or count > len(free) - ahead:
                return
            parts = sorted(idle_first[:count], key=self.singles.index)
            if devices_for(entry.needs_gib, [part.slot.memory_gib for part in parts]) != count:  # idle ones are small
                parts = sorted(free, key=lambda worker: -worker.slot.memory_gib)[:count]
            slot = joined([part.slot for part in parts], memory_gib=entry.needs_gib)
            worker = WorkerProcess(slot, above_gib=self.largest)
            worker.joining, worker.wanted = True, False
            self.joint.append(worker)
            for part in parts:
                part.end_after_run()
                free.remove(part)

    def _give_back(self, worker: WorkerProcess) -> None:
        self.joint.remove(worker)
        for part in self._parts(worker):
            part.resting, part.wanted = False, True

    def _parts(self, worker: WorkerProcess) -> list[WorkerProcess]:
        return [part for part in self.singles if part.slot.name in worker.slot.parts]

    def _is_wide(self, entry: QueueEntry) -> bool:
        """Whether several devices of this host together can hold the run, but no single one."""
        sizes = [worker.slot.memory_gib for worker in self.singles]
        return not entry.slot and entry.needs_gib > self.largest and devices_for(entry.needs_gib, sizes) > 1

    def _takes(self, worker: WorkerProcess, entry: QueueEntry) -> bool:
        return self._is_wide(entry) and entry.needs_gib <= worker.slot.memory_gib

    def _is_in_the_way(self, waiting: Sequence[QueueEntry]) -> bool:
        """Whether the next run needs one device and none is left."""
        return bool(waiting) and not self._is_wide(waiting[0]) and all(worker.resting for worker in self.singles)
