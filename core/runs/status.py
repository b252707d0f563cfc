"""The status of a run, for a person.

Three sources describe a run, and each is reliable for something: the database for what waits and which worker has which
run, ``run.json`` for how a run ended, and locks for which processes are alive. :func:`judge` combines them. Pages use
its result, and so does the agent, which writes it back to ``run.json``.
"""

from dataclasses import dataclass

from core.errors import InputError
from core.runs import store
from core.runs.agent import liveness, tries
from core.runs.queue import run_queue
from core.runs.queue.run_queue import QueueEntry
from core.runs.store import ENDED, Progress, RunRecord, State
from core.storage.file_lock import is_held

STOPPING = "Stopping."
LOST = "Its process ended before the run did; resume it to continue with what is missing."
CRASHED = "Its worker failed without a message; the worker's log in HEDGE_HOME/logs has the details."
NO_AGENT = "It is waiting because no agent is running on this host; `hedge agent` starts one."


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run as it is now.

    ``state`` and ``message`` are for a person and may be ahead of ``record.state``, which is what ``run.json`` says.
    ``progress`` is given only while the run is running. ``worker`` is the ``host:slot`` that has the run or had it last
    (empty before the first), and ``worker_alive`` says whether a live process is responsible for it. ``tries`` counts
    the workers that have begun it since it was last launched.
    """

    record: RunRecord
    state: State
    message: str
    progress: Progress | None = None
    worker: str = ""
    worker_alive: bool = False
    tries: int = 0

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.record.run_id

    @property
    def ended(self) -> bool:
        """Whether nothing more happens to the run unless a person resumes it."""
        return self.state in ENDED


def status_of(record: RunRecord, entry: QueueEntry | None, *, agent: bool) -> RunStatus:
    """The status from ``run.json``, the database and the locks. ``agent``: whether any agent is running."""
    held = is_executed(record, entry)
    state, message = judge(record, entry, held=held)
    worker = entry.executor if entry else ""
    alive = held or (state == "running" and liveness.worker_alive(worker))
    if state == "queued" and not agent:
        message = NO_AGENT
    if state == "running" and not alive:
        message = _without_worker(entry, agent=agent)
    progress = store.read_progress(record.run_id) if state == "running" else None
    return RunStatus(record, state, message, progress, worker, alive, entry.tries if entry else 0)


def judge(record: RunRecord, entry: QueueEntry | None, *, held: bool) -> tuple[State, str]:
    """The state of a run and a sentence about it. ``held``: whether a process is executing it."""
    if record.state == "done":
        return "done", record.message
    if entry is not None and entry.status in run_queue.QUEUED:
        return "queued", ""
    if entry is not None and entry.status == run_queue.RUNNING and record.state not in ("failed", "paused"):
        return "running", ""
    if held:
        stopping = entry is not None and entry.status == run_queue.CANCELLED
        return "running", STOPPING if stopping else record.message
    if record.state in ENDED:
        return record.state, record.message
    return _ended(entry)


def settle(entry: QueueEntry) -> None:
    """Write into ``run.json`` how a run ended if its worker could not, once no process executes it any more."""
    try:
        record = store.read_record(entry.run_id)
    except InputError:
        return  # its folder is gone or damaged; opening it reports the error
    if record.state in ENDED:
        return
    held = is_executed(record, entry)
    state, message = judge(record, entry, held=held)
    if not held and state in ENDED:
        store.end(entry.run_id, state, message)


def is_executed(record: RunRecord, entry: QueueEntry | None) -> bool:
    """Whether a process is executing the run, or is about to start it."""
    if record.state == "done":
        return False
    if entry is not None and liveness.at_work(entry.executor, record.run_id):
        return True
    return is_held(liveness.run_lock(store.folder_of(record.run_id)))


def _ended(entry: QueueEntry | None) -> tuple[State, str]:
    """How a run ended, if its worker could not record it."""
    if entry is None:
        return "failed", LOST
    if entry.status == run_queue.CANCELLED:
        return "cancelled", store.CANCELLED
    if entry.status == run_queue.GIVEN_UP:
        return "failed", tries.given_up(entry)
    return "failed", CRASHED if entry.status == run_queue.CRASHED else LOST


def _without_worker(entry: QueueEntry | None, *, agent: bool) -> str:
    host = liveness.host_of(entry.executor) if entry else ""
    if agent and host != liveness.host() and host not in liveness.live_hosts():
        return f"Its host {host} is gone; another host will continue it."
    died = f"Its worker was {entry.death}" if entry and entry.death else "Its worker is gone"
    if agent:
        return f"{died}; the agent starts another worker, which will continue it."
    return f"{died}, and no agent is running on this host; `hedge agent` continues it."
