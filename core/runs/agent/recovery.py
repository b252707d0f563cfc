"""Recovery: what DBOS does not notice on its own, and the agent repairs.

- A worker that was killed, or a run that was given up, could not write how the run ended: ``run.json`` is updated
  from the database.
- A run that belongs to a worker but that none executes goes back into the queue: its slot is gone, or a database
failure prevented its start.
- So do the runs of hosts whose heartbeats have stopped.
- How a worker died is counted against its run (:mod:`core.runs.agent.tries`), later if the database is gone meanwhile.
"""

import time
from collections.abc import Collection

from core.errors import InputError
from core.progress import UnchangedFor
from core.runs.agent import liveness, tries
from core.runs.agent.worker_process import Death
from core.runs.queue import hosts, run_queue
from core.runs.queue.run_queue import QueueEntry

LOOK_BACK_S = 120.0
"""How far back a round looks. The first round looks at everything."""
UNATTENDED_S = 20.0
"""A run that belongs to a worker of this host, but is executed by none, goes back into the queue after this time."""
STOPS_WITHIN_S = 2.5
"""A worker that still executes a cancelled run after this time can't even end itself."""
ANSWER_WITHIN_S = 1.5
"""An agent does not wait longer for its database, so that it stops within two seconds even then."""
ENDED_BADLY = (run_queue.CANCELLED, run_queue.GIVEN_UP, run_queue.CRASHED)


class Recovery:
    """The rounds of one agent; ``executors`` are the ids of its workers.

    ``resting`` are those whose device another worker has. ``stuck`` are those that, in the last round, were executing a
    run that had been cancelled long ago.
    """

    def __init__(self, executors: Collection[str]) -> None:
        self.executors = frozenset(executors)
        self.resting: frozenset[str] = frozenset()
        self.seen_until = 0.0
        self.unattended = UnchangedFor()
        self.cancelled = UnchangedFor()
        self.stuck: set[str] = set()
        self.watch = hosts.HostWatch()
        self.deaths: list[tuple[str, str, int]] = []
        """The deaths that the database does not know of yet: the run, the reason, and the bytes that it had kept."""

    def go_over(self) -> list[QueueEntry]:
        """Repair everything of this host once; returns all queued or running runs of any host."""
        self.note_deaths()
        begun = time.time()
        since = max(0.0, self.seen_until - LOOK_BACK_S)
        ended = run_queue.ended_since(since, status=ENDED_BADLY, within_s=ANSWER_WITHIN_S)
        for entry in ended.values():
            _settle(entry)
        self.seen_until = begun
        self._see_who_is_stuck(ended.values())
        unfinished = run_queue.unfinished(within_s=ANSWER_WITHIN_S)
        self._put_back_unattended([entry for entry in unfinished.values() if self._is_unattended(entry)])
        return list(unfinished.values())

    def note_deaths(self) -> None:
        """Count the deaths that are not counted yet."""
        while self.deaths:
            run_id, reason, bytes_kept = self.deaths[0]
            tries.note_death(run_id, reason, bytes_kept=bytes_kept, within_s=ANSWER_WITHIN_S)
            del self.deaths[0]

    def see_death(self, death: Death, worker: str) -> None:
        """Record in the run's log and in the database how its worker died."""
        if death.stopped:
            _note_loss(death.run_id, worker, death.reason)
            return
        self.deaths.append((death.run_id, death.reason, tries.kept_bytes(death.run_id)))
        _log_death(death.run_id, worker, death.reason)
        self.note_deaths()

    def put_back_own(self) -> None:
        """Put the runs of this agent's workers back into the queue, once these have ended."""
        for entry in run_queue.unfinished(within_s=ANSWER_WITHIN_S).values():
            if entry.holder in self.executors:
                _put_back(entry, "the agent was stopped; the run waits again")

    def take_from_dead_hosts(self) -> list[str]:
        """Put the runs of hosts without a heartbeat back into the queue; returns their ids."""
        dead = self.watch.dead(hosts.beats(within_s=ANSWER_WITHIN_S)) - {liveness.host()}
        if not dead:
            return []
        taken = []
        for entry in run_queue.unfinished(within_s=ANSWER_WITHIN_S).values():
            host = liveness.host_of(entry.holder)
            if host in dead and run_queue.put_back(entry, fresh=False, within_s=ANSWER_WITHIN_S):
                _note_loss(entry.run_id, entry.holder, f"lost with its host {host}, which is gone")
                taken.append(entry.run_id)
        return taken

    def _see_who_is_stuck(self, ended: Collection[QueueEntry]) -> None:
        still = {entry.run_id: entry.executor for entry in ended if liveness.at_work(entry.executor, entry.run_id)}
        self.stuck = {still[run] for run, seconds in self.cancelled.seconds(still).items() if seconds >= STOPS_WITHIN_S}

    def _put_back_unattended(self, entries: Collection[QueueEntry]) -> None:
        seconds = self.unattended.seconds({entry.run_id: entry.run_id for entry in entries})
        for entry in entries:
            if seconds[entry.run_id] >= UNATTENDED_S:
                _put_back(entry, "no worker was at the run, which goes back into the queue")

    def _is_unattended(self, entry: QueueEntry) -> bool:
        """A dead worker of this host continues its run itself after its restart."""
        holder = entry.holder
        if liveness.host_of(holder) != liveness.host() or liveness.at_work(holder, entry.run_id):
            return False
        return holder not in self.executors or holder in self.resting or liveness.worker_alive(holder)


def settle(run_id: str) -> None:
    """Write one run's state in the database into its ``run.json``."""
    for entry in run_queue.entries([run_id], within_s=ANSWER_WITHIN_S).values():
        _settle(entry)


def _note_loss(run_id: str, worker: str, reason: str) -> None:
    """Record how a worker ended that is not counted against its run."""
    _log_death(run_id, worker, reason)
    run_queue.note(run_id, death=reason, within_s=ANSWER_WITHIN_S)


def _log_death(run_id: str, worker: str, reason: str) -> None:
    from core.runs import store

    store.log(store.folder_of(run_id), f"worker {worker} was {reason}")


def _put_back(entry: QueueEntry, why: str) -> None:
    """Put a run back into the queue. If its worker recorded its end but was killed before DBOS knew of it, the run is
    over."""
    from core.runs import store

    try:
        is_over = store.read_record(entry.run_id).state in store.ENDED
    except InputError:  # its folder is gone or damaged, and no worker could execute it
        is_over = True
    if is_over:
        run_queue.cancel(entry.run_id, within_s=ANSWER_WITHIN_S)
        return
    if run_queue.put_back(entry, fresh=True, within_s=ANSWER_WITHIN_S):
        store.update_record(entry.run_id, state="queued")
        store.clear_progress(store.folder_of(entry.run_id))
        store.log(store.folder_of(entry.run_id), why)


def _settle(entry: QueueEntry) -> None:
    from core.runs import status  # imports pyarrow: 40 MB that an idle agent does not need

    status.settle(entry)
