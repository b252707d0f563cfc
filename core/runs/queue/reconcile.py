"""What the agent puts right among runs: what a worker could not write, and what no worker is at."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from core.errors import HedgeError
from core.runs.agent import liveness
from core.runs.queue import claims, database, hosts, ledger
from core.runs.queue.claims import Claim, Place
from core.runs.queue.ledger import Entry

LOOK_BACK_S = 120.0
"""How far back a round looks after the first, which looks at everything."""
UNATTENDED_S = 20.0
"""A run that is said to run on this host while no worker is at it, for so long, is put back into the queue."""
ANSWER_WITHIN_S = 1.5
"""An agent does not wait longer for its database, so that it stops within two seconds even then."""
ENDED_BADLY = (ledger.CANCELLED, ledger.GIVEN_UP, ledger.CRASHED)


class Reconciler:
    """Goes over the runs that the database knows; ``executors`` are the ids of this agent's workers."""

    def __init__(self, executors: Collection[str]) -> None:
        self.executors = frozenset(executors)
        self.seen_until = 0.0
        self.unattended: dict[str, float] = {}
        self.watch = hosts.HostWatch()

    def watch_hosts(self) -> list[str]:
        """Take the runs of hosts whose hearts have stopped, so that live ones may have them; returns their ids."""
        dead = self.watch.dead(hosts.beats(within_s=ANSWER_WITHIN_S)) - {liveness.host()}
        if not dead:
            return []
        waiting = claims.places(within_s=ANSWER_WITHIN_S).values()
        lost = [place for place in waiting if place.executor.rpartition(":")[0] in dead]
        return [place.run_id for place in lost if _take_from_the_dead(place)]

    def go_over(self) -> bool:
        """Put everything right once; says whether any run, on any host, is queued or running."""
        begun = time.time()
        since = max(0.0, self.seen_until - LOOK_BACK_S)
        for entry in ledger.ended_since(since, status=ENDED_BADLY, within_s=ANSWER_WITHIN_S).values():
            _settle(entry)
        self.seen_until = begun
        unfinished = ledger.unfinished(within_s=ANSWER_WITHIN_S)
        _adopt(unfinished.values())
        self._put_back([entry for entry in unfinished.values() if entry.status == ledger.RUNNING])
        return bool(unfinished)

    def _put_back(self, running: Sequence[Entry]) -> None:
        now = time.monotonic()
        self.unattended = {
            entry.run_id: self.unattended.get(entry.run_id, now) for entry in running if self._is_unattended(entry)
        }
        for run_id, since in self.unattended.items():
            if now - since >= UNATTENDED_S:
                put_back(run_id, "no worker was at the run, which goes back into the queue")

    def _is_unattended(self, entry: Entry) -> bool:
        """Whether its slot is no more (a GPU fewer than before), or its worker missed that it was given the run.

        A worker of ours that is dead takes its run up itself when it is back, which counts as a try.
        """
        if entry.executor.rpartition(":")[0] != liveness.host() or liveness.at_work(entry.executor, entry.run_id):
            return False
        return entry.executor not in self.executors or liveness.worker_alive(entry.executor)


def settle(run_id: str) -> None:
    """Bring one run's ``run.json`` in line with the database."""
    for entry in ledger.entries([run_id], within_s=ANSWER_WITHIN_S).values():
        _settle(entry)


def put_back(run_id: str, why: str) -> None:
    """Put a run whose worker is dead back into the queue, and say so in its folder."""
    from core.runs import store

    # First the queue, then the claim: whoever takes it then finds the run where it waits.
    ledger.hand_back(run_id, within_s=ANSWER_WITHIN_S)
    if claim := claims.get(run_id):
        claims.let_go(claim, back=True, within_s=ANSWER_WITHIN_S)
    store.update_record(run_id, state="queued")
    store.clear_progress(store.folder_of(run_id))
    store.log(store.folder_of(run_id), why)


def note_death(run_id: str, worker: str, reason: str) -> None:
    """Write down, in the run's log and in the database, how its worker died."""
    from core.runs import store

    store.log(store.folder_of(run_id), f"worker {worker} was {reason}")
    ledger.note_death(run_id, reason, within_s=ANSWER_WITHIN_S)


def _adopt(unfinished: Collection[Entry]) -> None:
    """Give a place to a run that waits without one: whoever queued it died halfway, or was an older Hedge."""
    waiting = [entry for entry in unfinished if entry.status in ledger.QUEUED and entry.queue == database.QUEUE]
    if not waiting:
        return
    known = claims.places(within_s=ANSWER_WITHIN_S)
    for entry in waiting:
        if entry.run_id not in known:
            from core.runs import store
            from core.runs.execution import memory_estimate

            try:
                claims.add(entry.run_id, needs_gib=memory_estimate.memory_gib(store.read_record(entry.run_id).spec))
            except HedgeError:  # its folder is gone or damaged, and says so wherever it is opened
                continue


def _take_from_the_dead(place: Place) -> bool:
    """End a dead host's claim; a run that has lost as many hosts as it may is given up instead of queued again."""
    if not claims.take_away(Claim(place.run_id, place.executor, place.epoch), within_s=ANSWER_WITHIN_S):
        return False
    from core.runs import status, store

    host = place.executor.rpartition(":")[0]
    losses = place.losses + 1
    store.log(store.folder_of(place.run_id), f"host {host} is gone, the {losses}. that this run has lost")
    if losses >= ledger.TRIES:
        claims.withdraw(place.run_id)
        ledger.cancel(place.run_id)
        message = status.LOST_HOSTS.format(losses=losses)
        store.update_record(place.run_id, state="failed", message=message, ended=time.time())
        return False
    return True


def _settle(entry: Entry) -> None:
    from core.runs import status  # which brings pyarrow along: 40 MB that an idle agent need not have

    status.settle(entry)
