"""The main loop of a host agent (:mod:`core.runs.agent.host_agent`)."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import IO

from core.errors import HedgeError
from core.processes.log_lines import complain, say
from core.processes.stop_signals import StopSignals
from core.runs import trash
from core.runs.agent import host_reports, liveness, recovery, watchdog
from core.runs.agent.joint_slots import JointSlots
from core.runs.agent.recovery import ANSWER_WITHIN_S, Recovery
from core.runs.agent.worker_process import Death, WorkerProcess
from core.runs.queue import hosts, run_queue
from core.runs.queue.run_queue import QueueEntry
from core.settings import settings
from core.storage import database

TICK_S = 0.2


class Agent:
    """The workers of this host and the tasks that the loop repeats until ``stop`` is requested."""

    def __init__(
        self, lock: IO[str], workers: Sequence[WorkerProcess], *, idle_s: float | None, stop: StopSignals
    ) -> None:
        self.lock = lock
        self.idle_s = idle_s
        self.joint_slots = JointSlots(workers)
        self.stop = stop
        self.ended_idle = False
        self.woken = 0
        self.last_needed = time.monotonic()
        self.recovery = Recovery({worker.executor for worker in workers})
        self.progress = watchdog.ProgressWatch()
        self.archiving: threading.Thread | None = None

    @property
    def workers(self) -> list[WorkerProcess]:
        """The workers of one device and those of several."""
        return [*self.joint_slots.singles, *self.joint_slots.joint]

    def run(self) -> None:
        """Run the loop until stopped."""
        singles = self.joint_slots.singles
        self._try("publish the slots", lambda: host_reports.publish_slots([worker.slot for worker in singles]))
        rounds = (  # a name for complaints, the task, and every how many seconds
            ("recover", self._recover, 2.0),
            ("join devices", self._join_devices, 0.5),
            ("see the lock", self._check_lock, 2.0),
            ("beat", self._beat, hosts.BEAT_EVERY_S),
            ("see who hangs", self._kill_hanging, 1.0),
            ("read the GPUs", self._publish_metrics, 2.0),
            ("empty the bin", partial(trash.empty_bin, older_than_s=trash.KEEP_S), 3600.0),
            ("archive", self._archive, 10.0),
        )
        due = dict.fromkeys((name for name, _, _ in rounds), 0.0)
        while not self.stop.requested:
            for worker in self.workers:
                if death := worker.tend():
                    self._report(worker, death)
            if self.woken != (woken := liveness.last_wake()):
                self.woken = woken
                due["recover"] = 0.0
            for name, task, every_s in rounds:
                if time.monotonic() >= due[name]:
                    due[name] = time.monotonic() + every_s
                    self._try(name, task)
            time.sleep(TICK_S)
        self._end()

    def _try(self, name: str, task: Callable[[], object]) -> None:
        """Do a task that a lost database or a full disk may prevent. The same complaint is logged once in ten
        minutes."""
        try:
            task()
        except (HedgeError, OSError) as error:
            complain(f"{name}: {error}")

    def _report(self, worker: WorkerProcess, death: Death) -> None:
        """Record how a worker died, for the run that it was executing."""
        say(f"worker {worker.executor} was {death.reason}" + (f", at run {death.run_id}" if death.run_id else ""))
        if death.run_id and death.cancelled:
            self._try("settle", partial(recovery.settle, death.run_id))
        elif death.run_id:
            self._try("note a death", partial(self.recovery.see_death, death, worker.executor))

    def _recover(self) -> None:
        unfinished: list[QueueEntry] = []
        try:
            unfinished = self.recovery.go_over()
            for worker in self.workers:
                if worker.executor in self.recovery.stuck:
                    worker.kill("killed because it did not stop a run that was cancelled")
        finally:  # an agent must not stay for ever if its database is gone for ever
            self._staff(needed=any(map(self.is_for_here, unfinished)) or any(worker.run_id for worker in self.workers))

    def is_for_here(self, entry: QueueEntry) -> bool:
        """Whether a run is running here, or is waiting and fits on this host's devices."""
        holder = entry.holder
        return liveness.host_of(holder) == liveness.host() if holder else self.joint_slots.fits(entry)

    def _join_devices(self) -> None:
        if len(self.joint_slots.singles) < 2:
            return
        if not (waiting := run_queue.waiting(within_s=ANSWER_WITHIN_S)) and not self.joint_slots.joint:
            return
        self.joint_slots.arrange(waiting)
        self.recovery.executors = frozenset(worker.executor for worker in self.workers)
        self.recovery.resting = frozenset(worker.executor for worker in self.workers if worker.resting)

    def _staff(self, *, needed: bool) -> None:
        """Keep workers while there are runs and for a while longer, and end the agent after a long time without
        runs."""
        if needed:
            self.last_needed = time.monotonic()
        idle_s = time.monotonic() - self.last_needed
        for worker in self.workers:
            if needed or idle_s < settings().warm_minutes * 60:
                worker.wanted = not worker.resting and not worker.joining
            elif worker.wanted:
                worker.end()
        if self.idle_s is not None and idle_s >= self.idle_s:
            say(f"no run for {self.idle_s / 60:g} minutes")
            self.ended_idle = True
            self.stop.requested = True

    def _check_lock(self) -> None:
        path = liveness.agent_lock()
        if not path.exists() or path.stat().st_ino != os.fstat(self.lock.fileno()).st_ino:
            say(f"{path} was deleted, so this agent is stopping")
            self.stop.requested = True

    def _beat(self) -> None:
        """If hosts share a database: record this host's heartbeat, and requeue the runs of dead hosts."""
        if not database.is_shared():
            return
        hosts.beat(liveness.host(), within_s=ANSWER_WITHIN_S)
        for run_id in self.recovery.take_from_dead_hosts():
            say(f"run {run_id} waits again: its host is gone")
            liveness.wake()

    def _publish_metrics(self) -> None:
        if any(worker.run_id for worker in self.workers):
            host_reports.publish_metrics([worker.slot for worker in self.workers])

    def _archive(self) -> None:
        """Copy finished runs to the archive, if there is one, in a thread, because a copy may take minutes."""
        if not settings().archive_url or (self.archiving and self.archiving.is_alive()):
            return
        from core.runs import archive

        self.archiving = threading.Thread(target=self._try, args=("archive", archive.push), daemon=True)
        self.archiving.start()

    def _kill_hanging(self) -> None:
        at_work = {worker.executor: run for worker in self.workers if (run := worker.run_id)}
        hanging = self.progress.overdue(at_work, after_s=settings().hang_minutes * 60)
        for worker in self.workers:
            if worker.executor in hanging:
                worker.kill(f"killed because its run {watchdog.REASON} for {settings().hang_minutes:g} minutes")

    def _end(self) -> None:
        """Stop the workers, then put the runs they had started back into the queue."""
        for worker in self.workers:
            worker.end()
        self._try("put back", self.recovery.put_back_own)
        if database.is_shared():
            self._try("leave", partial(hosts.leave, liveness.host(), within_s=ANSWER_WITHIN_S))
        say("stopped")
