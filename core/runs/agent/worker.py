"""A worker: one DBOS executor that does one run after another.

The host agent, its parent, starts one a slot. While it has no run, it takes the
first waiting run that its device can hold (:func:`core.runs.queue.run_queue.take`), and its DBOS starts it, now or
after this process has died. It registers a single workflow, :meth:`Worker.perform`, whose work is
:func:`core.runs.execution.execute.execute`; torch is imported by that, with the first run. The result of a run is in
its folder, so the workflow ends successfully even if the run failed: DBOS retries only runs at which a worker died.

A thread asks the database about the current run. If the run is no longer wanted, :func:`execute` is told so. If that
does not stop it in time, for example while a model loads, the process ends itself; the agent starts another.
"""

import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from core import access
from core.errors import HedgeError, RunBusyError, RunCancelled, RunError, RunLostError, RunPaused
from core.models.devices.slots import UNKNOWN_GIB
from core.models.imports import language_models, uncollected
from core.models.model_sources import FAKE_MODEL
from core.processes import log_lines
from core.processes.log_lines import complain, say
from core.processes.parent import Parent
from core.runs import store
from core.runs.agent import liveness, tries, watchdog
from core.runs.agent.worker_process import ASKED, UNWANTED, start_agent
from core.runs.queue import run_queue
from core.runs.queue.run_queue import RUNNING, Lease, QueueEntry
from core.storage import database
from core.storage.atomic import guarded
from core.storage.file_lock import take

NICENESS = 19
ASK_EVERY_S = 0.3
"""How often a worker checks whether its run is still wanted."""
GRACE_S = 0.9
"""How long a worker may continue a run that is no longer wanted."""
GRACE_LOADING_S = 0.3
"""The same while it loads a model, in which it can't be asked to stop."""
WAIT_FOR_PREDECESSOR_S = 30.0
WAIT_FOR_RUN_S = 5.0
SUCCESSOR_WITHIN_S = 20.0
"""How long a worker whose agent was killed asks the database whether runs wait for another agent."""
LOOK_EVERY_S = 2.0
LOOK_SHARED_EVERY_S = 0.75
"""How often an idle worker asks for a run that another host may have queued; a submit on this host wakes it at once."""
WOKEN_WITHIN_S = 0.1


class Worker:
    """One executor; ``executor`` is its DBOS id, ``host:slot``, and ``memory_gib`` what its devices have. It takes only
    runs that need more than ``above_gib``."""

    def __init__(self, executor: str, *, memory_gib: float = UNKNOWN_GIB, above_gib: float = -1.0) -> None:
        self.executor = executor
        self.memory_gib = memory_gib
        self.above_gib = above_gib
        self.at_work = threading.Event()

    def perform(self, run_id: str) -> str:
        """Execute one run when DBOS calls this; returns its result for DBOS's own records."""
        self.at_work.set()
        liveness.say_busy(self.executor, run_id)
        try:
            entry = run_queue.wait_for_entry(run_id)
            if entry is None or (entry.status, entry.executor) != (RUNNING, self.executor):
                return "another worker has it"
            lease = Lease(run_id, self.executor, entry.tries)
            with _watched(lease) as cancelled:
                return _execute(lease, entry, cancelled=cancelled)
        finally:
            liveness.say_idle(self.executor)
            self.at_work.clear()


@contextmanager
def _watched(lease: Lease) -> Iterator[Callable[[], bool]]:
    """Ask the database about the run in parallel with its execution, so that the execution never waits for the
    database."""
    unwanted, over = threading.Event(), threading.Event()

    def watch() -> None:
        while _is_wanted(lease):
            if over.wait(ASK_EVERY_S):
                return
        unwanted.set()
        if not over.wait(GRACE_LOADING_S if watchdog.is_loading(lease.run_id) else GRACE_S):
            say(f"{lease.run_id} is no longer wanted and did not stop by itself: this worker ends", run=lease.run_id)
            # Not sys.exit: it would wait for the model. Chunks are written whole.
            os._exit(UNWANTED)

    threading.Thread(target=watch, daemon=True, name="hedge-watch").start()
    try:
        yield unwanted.is_set
    finally:
        over.set()


def _is_wanted(lease: Lease) -> bool:
    """Whether the run is still this worker's; a database that is gone for a while stops nothing."""
    try:
        return lease.is_wanted()
    except RunError as error:
        complain(f"{lease.run_id}: {error}", run=lease.run_id)
        return True


def _execute(lease: Lease, entry: QueueEntry, *, cancelled: Callable[[], bool]) -> str:
    """Execute the run, unless an earlier try has ended it and died before DBOS knew, or it is given up."""
    try:
        if (state := store.read_record(lease.run_id).state) in ("failed", "paused"):
            return f"it is {state}"
        if state != "done" and (reason := tries.begin(entry)):
            with guarded(lease.confirm):
                store.end(lease.run_id, "failed", reason)
            return f"failed: {reason}"
        _when_free(lease, cancelled=cancelled)
    except RunCancelled:
        return "cancelled"
    except RunBusyError as error:
        return f"left to another process: {error}"
    except RunLostError as error:
        say(str(error), run=lease.run_id)
        return str(error)
    except RunPaused as error:
        return f"paused: {error}"
    except HedgeError as error:
        return f"failed: {error}"
    except Exception as error:  # if execute did not notice it
        from core.runs.execution.execute import in_words

        store.log(store.folder_of(lease.run_id), traceback.format_exc())
        store.end(lease.run_id, "failed", in_words(error))
        return f"failed: {in_words(error)}"
    return "done"


def _when_free(lease: Lease, *, cancelled: Callable[[], bool]) -> None:
    """Execute the run. If another process still executes it, such as a dying predecessor, wait for it a little."""
    from core.runs.execution.execute import execute

    spec = store.read_record(lease.run_id).spec
    end = time.monotonic() + WAIT_FOR_RUN_S
    while True:
        try:
            with guarded(lease.confirm):
                execute(spec, cancelled=cancelled, worker=lease.executor)
            return
        except RunBusyError:
            if cancelled() or time.monotonic() > end:
                raise
            time.sleep(0.1)


def launch(worker: Worker) -> None:
    """Start DBOS in this process: it continues what this executor had begun, then takes from the queue."""
    from dbos import DBOS, DBOSPortableJSONSerializer

    database.prepare(within_s=database.PREPARED_WITHIN_S)
    run_queue.open_queue(worker.executor)
    DBOS(
        config={
            "name": database.APPLICATION,
            "system_database_url": database.url(),
            "executor_id": worker.executor,
            "application_version": run_queue.VERSION,
            "serializer": DBOSPortableJSONSerializer(),
            "sys_db_pool_size": 4,
            "log_level": "WARNING",
            # Hedge uses neither messages nor schedules; asking for them often would only cost an idle worker.
            "notification_listener_polling_interval_sec": 60,
            "scheduler_polling_interval_sec": 3600,
        }
    )

    def run(run_id: str) -> str:
        if run_id != DBOS.workflow_id:
            return _refuse(str(DBOS.workflow_id), run_id)
        return worker.perform(run_id)

    logging.getLogger("dbos").addFilter(_is_news)
    DBOS.workflow(name=run_queue.WORKFLOW, max_recovery_attempts=None)(run)  # tries.py gives runs up
    DBOS.listen_queues([run_queue.queue_of(worker.executor)])
    DBOS.launch()


def _refuse(run_id: str, other: str) -> str:
    """End a run for which the database names another one, which this worker must not execute in its place."""
    message = f"the run database {database.shown()} is damaged: it names {other!r} for {run_id!r}; {database.WAY_OUT}"
    say(message, run=run_id)
    with suppress(HedgeError, OSError):  # its folder may be gone
        store.end(run_id, "failed", message)
    return f"failed: {message}"


def _is_news(record: logging.LogRecord) -> bool:
    """DBOS logs a traceback for every run that is cancelled while it runs, as if that were an accident."""
    return not (record.exc_info and type(record.exc_info[1]).__name__ == "DBOSAwaitedWorkflowCancelledError")


def main(connection: Connection, executor: str, memory_gib: str = "", above_gib: str = "") -> None:
    """Work until the agent has gone."""
    agent = Parent(connection, when_gone=_replace_agent)
    access.work()
    worker = Worker(executor, memory_gib=float(memory_gib or UNKNOWN_GIB), above_gib=float(above_gib or -1.0))
    log_lines.begin("worker")
    os.nice(NICENESS)  # each thread's own: the one that replaces the agent keeps the agent's
    lock = take(liveness.worker_lock(executor), wait_s=WAIT_FOR_PREDECESSOR_S)
    if lock is None:
        raise RunError(f"another worker holds {liveness.worker_lock(executor)}; there can be only one with its id")
    with uncollected():
        launch(worker)
        import core.runs.execution.execute  # noqa: F401 - what the first run would import first, torch not among it

    say(f"worker {executor} is ready", worker=executor)
    _look_forever(worker, agent)


def _look_forever(worker: Worker, agent: Parent) -> None:
    """Take a run whenever this worker has none: at once if the last one has ended or a page calls, otherwise from time
    to time. End when the agent has sent ``LAST_RUN``, and there is no run."""
    woken, due = 0, 0.0
    while True:
        if worker.at_work.is_set():
            due = 0.0
        elif agent.has_message:
            _end_without_run(worker)
        elif time.monotonic() >= due or liveness.last_wake() != woken:
            every_s = LOOK_SHARED_EVERY_S if database.is_shared() else LOOK_EVERY_S
            woken, due = liveness.last_wake(), time.monotonic() + every_s
            try:
                taken = run_queue.take(worker.executor, memory_gib=worker.memory_gib, above_gib=worker.above_gib)
                if taken:
                    _prepare_for(taken)
                elif taken is None:
                    due = 0.0  # DBOS will start it in a moment, or has just ended it
            except HedgeError as error:
                complain(str(error))
        time.sleep(WOKEN_WITHIN_S)


def _prepare_for(run_id: str) -> None:
    """Import what the run will need, before DBOS starts it."""
    spec = store.read_record(run_id).spec
    if spec.model != FAKE_MODEL and not spec.servers:
        with suppress(ImportError, OSError):  # the run itself will report what is wrong with torch
            language_models()


def _end_without_run(worker: Worker) -> None:
    """End this process if the worker has no run; otherwise return, and be called again."""
    try:
        if not run_queue.has_run(worker.executor):
            os._exit(ASKED)  # not sys.exit, which would wait for the threads of DBOS
    except HedgeError as error:
        complain(str(error))
        time.sleep(ASK_EVERY_S)


def _replace_agent() -> None:
    """Start another agent, if runs wait for one.

    An agent that is stopped ends its workers first. So one that is gone before its workers was killed, and no person
    may be there to start the next. Whatever is wrong, a page or `core runs` starts an agent as well.
    """
    if liveness.agent_lock().exists() and run_queue.unfinished(within_s=SUCCESSOR_WITHIN_S):
        start_agent()
