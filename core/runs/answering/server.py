"""The answering server (``python -m core.runs.answering.server``): keeps the queue and the time limits, loads nothing.

Clients reach it through :mod:`multiprocessing.connection`, on a Unix socket that only its owner can reach where there
can be one, and each side proves to the other that it knows a key. ``HEDGE_HOME/agents/<host>/answering.json``, which
only its owner can read, holds the socket's path and the key. A client sends the name of one of the four
:data:`METHODS` with its arguments, and receives what the method returns or raises.

There is one server a host (a file lock). It ends ten minutes after the last question, and its worker with it.
"""

import argparse
import functools
import json
import os
import reprlib
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge

from core.errors import HedgeError, InputError
from core.models.devices.slots import slots
from core.processes import temporary
from core.processes.child import Child
from core.processes.stop_signals import StopSignals
from core.runs.agent import liveness
from core.runs.answering import client
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion
from core.runs.answering.token_text import TokenText
from core.storage.file_lock import holder, take
from core.storage.sealed import seal

IDLE_S = 600.0
LOOK_EVERY_S = 0.2
MOST_WAITING = 64
MOST_TURNS = 1000
"""The number of visitors whose last turns are remembered."""
REMEMBERED = 100
LONGEST_WAIT_S = 1.0
DIES_WITHIN_S = 10.0
LIMITS = {"starting": 120.0, "downloading": 180.0, "loading": 900.0, "checking": 300.0, "answering": 120.0}
"""Seconds without news after which a stage counts as stuck; each byte of a download is news."""
WAY_OUT = "choose a smaller model, or ask again"


@dataclass(slots=True, eq=False)
class Job:
    """A question, or a text to read by token, and its progress; ``since`` is the time at which its stage began.

    ``askers`` maps each page or person that waits for it to the visitor whose turn it takes. Those who stopped it while
    others still wait are in ``left``.
    """

    question: CustomQuestion | TokenText
    progress: AnswerProgress
    since: float
    askers: dict[str, str]
    left: set[str] = field(default_factory=set)


class AnsweringServer:
    """The queue, and what is known about every question.

    Clients call :data:`METHODS`, each in a thread of its own; :meth:`run` hands the worker one question after another,
    until ``signals`` ask it to stop.
    """

    def __init__(self, *, idle_s: float, limits: dict[str, float], signals: StopSignals) -> None:
        self.signals = signals
        self.idle_s = idle_s
        self.limits = limits
        self.slots = slots()
        self.changed = threading.Condition()
        self.jobs: OrderedDict[str, Job] = OrderedDict()
        self.waiting: deque[Job] = deque()
        self.turns: OrderedDict[str, int] = OrderedDict()
        """For each visitor, the number of the latest turn that was his or hers."""
        self.current: Job | None = None
        self.worker: Child | None = None
        self.last_asked = time.monotonic()
        self.ending = False

    # ---- what clients call

    def ask(
        self, question: CustomQuestion | TokenText, asker: str = "", visitor: str = "", most: int = 0
    ) -> AnswerProgress:
        """Put a question into the queue; one that is there already is shared with those who asked it before.

        At most ``most`` questions of a ``visitor`` wait (0: as many as fit into the queue), and visitors take turns.
        """
        name = question.answer_id
        with self.changed:
            if self.ending:
                raise ConnectionError("the server ends at this moment")  # the client starts another
            known = self.jobs.get(name)
            if known and not known.progress.ended:
                known.left.discard(asker)
                known.askers[asker] = visitor
                return self._progress(known)
            own = sum(visitor in job.askers.values() for job in self.waiting)
            if most and own >= most:
                raise InputError(
                    f"{own} of your questions are waiting already, and this server keeps {most} for each person; ask "
                    "again when one is answered, or stop one"
                )
            if len(self.waiting) >= MOST_WAITING:
                raise InputError(f"{len(self.waiting)} questions are waiting already; ask again in a moment")
            self.last_asked = time.monotonic()
            self.jobs[name] = job = Job(question, AnswerProgress(name, "waiting"), self.last_asked, {asker: visitor})
            self.jobs.move_to_end(name)
            self.waiting.append(job)
            if len(self.jobs) > REMEMBERED:
                del self.jobs[next(old for old, job in self.jobs.items() if job.progress.ended)]
            self.changed.notify_all()
            return self._progress(job)

    def progress(self, name: str, wait_s: float, asker: str = "") -> AnswerProgress:
        """The progress of a question; waits up to ``wait_s`` seconds for its end."""
        with self.changed:
            job = self._job(name)
            self.changed.wait_for(lambda: job.progress.ended or asker in job.left, min(wait_s, LONGEST_WAIT_S))
            if asker in job.left and not job.progress.ended:
                return AnswerProgress(name, "failed", "Stopped.")
            return self._progress(job)

    def stop(self, name: str, asker: str = "") -> None:
        """Take a question out of the queue, or kill the worker that is answering it, if nobody else waits for it."""
        with self.changed:
            job = self._job(name)
            if job.progress.ended:
                return
            if set(job.askers) != {asker}:
                job.askers.pop(asker, None)
                if len(job.left) < MOST_TURNS:
                    job.left.add(asker)
                self.changed.notify_all()
            elif job in self.waiting:
                self.waiting.remove(job)
                self._fail(job, "Stopped before it was asked.")
            elif job is self.current:
                self._fail(job, "Stopped.")
                if self.worker:
                    self.worker.kill()  # the work of a model can't be stopped in any other way
                    self.worker.join()

    def warm(self, model: str, dtype: str) -> None:
        """Have the worker load a model before it is asked, unless the worker is busy.

        ``dtype`` is :data:`core.runs.answering.token_text.BY_TOKEN` for a model that will read texts by token.
        """
        with self.changed:
            if not (self.current or self.waiting):
                self.last_asked = time.monotonic()
                with suppress(OSError):
                    self._living_worker().send((model, dtype))

    def _job(self, name: str) -> Job:
        if name not in self.jobs:
            raise InputError("the answering server no longer has this question; ask it again")
        return self.jobs[name]

    def _progress(self, job: Job) -> AnswerProgress:
        if job.progress.ended:
            return job.progress
        ahead = self._order().index(job) + bool(self.current) if job in self.waiting else 0
        return replace(job.progress, seconds=time.monotonic() - job.since, ahead=ahead)

    def _order(self) -> list[Job]:
        """The waiting questions in the order in which they are answered: visitors take turns, and the next is the one
        whose latest turn is longest ago."""
        turns, rest, order = dict(self.turns), list(self.waiting), list[Job]()
        now = max(turns.values(), default=0)
        while rest:
            job = min(rest, key=lambda waiting: min(turns.get(visitor, 0) for visitor in waiting.askers.values()))
            rest.remove(job)
            order.append(job)
            now += 1
            turns |= dict.fromkeys(job.askers.values(), now)
        return order

    # ---- one question after another

    def run(self) -> None:
        """Answer questions until a signal comes, none has been asked for a while, or ``HEDGE_HOME`` is removed."""
        try:
            while job := self._next():
                self._answer(job)
                with self.changed:
                    self.current = None
                    self.last_asked = time.monotonic()
        finally:
            if self.worker:
                self.worker.end()

    def _next(self) -> Job | None:
        """The next question, once there is one; None if the server may end."""
        with self.changed:
            while self.signals.requested or not self.waiting:
                idle = time.monotonic() - self.last_asked >= self.idle_s
                if self.signals.requested or idle or client.address() is None:
                    self.ending = True
                    return None
                self.changed.wait(LOOK_EVERY_S)
            self.current = self._order()[0]
            self.waiting.remove(self.current)
            now = 1 + max(self.turns.values(), default=0)
            for visitor in self.current.askers.values():
                self.turns[visitor] = now
                self.turns.move_to_end(visitor)
            while len(self.turns) > MOST_TURNS:
                self.turns.popitem(last=False)
            return self.current

    def _answer(self, job: Job) -> None:
        """Give the worker a question, and read its reports until the question has ended."""
        with self.changed:
            is_up = self.worker is not None and self.worker.status is None
            self._set(job, replace(job.progress, stage="loading" if is_up else "starting"))
            try:
                worker = self._living_worker()
            except OSError as error:
                self._fail(job, f"no process can be started ({error.strerror}); free some memory and ask again")
            is_over = job.progress.ended  # it could not be started, or somebody has just stopped the question
        if is_over:
            return
        try:
            worker.send(job.question)
            last_report = time.monotonic()
            while not (progress := job.progress).ended:  # a client may stop the question at any moment
                if self.signals.requested:
                    self._fail(job, client.GONE)
                elif worker.poll(LOOK_EVERY_S):
                    self._set(job, worker.receive(AnswerProgress))
                    last_report = time.monotonic()
                elif time.monotonic() - last_report >= (limit := self.limits[progress.stage]):
                    raise TimeoutError(f"{job.question.model} was {progress.stage} for {limit:g} s without news")
            return
        except TimeoutError as error:
            reason = f"{error} and was given up"
        except (EOFError, OSError):  # it died, or was killed because somebody stopped the question
            doing = {"answering": "answering", "checking": "checking itself"}.get(job.progress.stage, "loading")
            death = worker.end(within_s=DIES_WITHIN_S)
            reason = f"the process that answers was {death} while {doing} {job.question.model}"
        self._fail(job, f"{reason}; {WAY_OUT}")
        worker.end()

    def _living_worker(self) -> Child:
        """The process that loads models. If there is none, it is started in the first slot without a run, or else in
        the slot of a run. Raises :class:`OSError` if no process can be started."""
        if self.worker is None or self.worker.status is not None:
            if self.worker:
                self.worker.end()
            free = [slot for slot in self.slots if not liveness.busy_with(liveness.executor_id(slot.name))]
            devices = (*free, *self.slots)[0].devices
            self.worker = Child(
                "core.runs.answering.worker", environment=os.environ | {"CUDA_VISIBLE_DEVICES": devices}
            )
        return self.worker

    def _set(self, job: Job, progress: AnswerProgress) -> None:
        """Store the progress of a question, unless it has ended: a question that was stopped stays stopped."""
        with self.changed:
            if job.progress.ended:
                return
            if progress.stage != job.progress.stage:
                job.since = time.monotonic()
            job.progress = progress
            self.changed.notify_all()

    def _fail(self, job: Job, message: str) -> None:
        self._set(job, replace(job.progress, stage="failed", message=message))


METHODS: dict[str, Callable[..., AnswerProgress | None]] = {
    "ask": AnsweringServer.ask,
    "progress": AnsweringServer.progress,
    "stop": AnsweringServer.stop,
    "warm": AnsweringServer.warm,
}
"""What a client may call."""


def called(server: AnsweringServer, message: object) -> AnswerProgress | None:
    """The result of the call in a client's message. Raises :class:`InputError` unless it names one of ``METHODS``."""
    match message:
        case name, tuple(arguments):
            if isinstance(name, str) and name in METHODS:
                return METHODS[name](server, *arguments)
            raise InputError(
                f"a client may call {', '.join(METHODS)} of the answering server, got {reprlib.repr(name)}"
            )
    raise InputError(f"a call of the answering server is a name and its arguments, got {reprlib.repr(message)}")


def serve(server: AnsweringServer, connection: Connection, key: bytes) -> None:
    """Answer one call of a client that knows the key."""
    with connection, suppress(OSError, EOFError, AuthenticationError):
        deliver_challenge(connection, key)
        answer_challenge(connection, key)
        message = connection.recv()
        reply: AnswerProgress | HedgeError | None
        try:
            reply = called(server, message)
        except HedgeError as error:
            reply = error
        connection.send(reply)


def accept(server: AnsweringServer, listener: Listener, key: bytes) -> None:
    """Serve clients as long as the process lives, each in a thread, so that none can delay another."""
    while True:
        try:
            connection = listener.accept()
        except OSError:  # too many files are open, or the server is ending
            time.sleep(LOOK_EVERY_S)
            continue
        threading.Thread(target=serve, args=(server, connection, key), daemon=True).start()


def listening() -> Listener:
    """A socket in a new folder for temporary files that only its owner can enter.

    Where that folder's path is too long for a socket, or nothing can be written there, the socket is in this host's
    folder, and else it is a port of this machine.
    """
    own = client.server_lock().with_suffix(".socket")
    with suppress(OSError):
        return Listener(family="AF_UNIX", backlog=MOST_WAITING)
    with suppress(OSError):
        own.unlink(missing_ok=True)
        listener = Listener(str(own), backlog=MOST_WAITING)
        own.chmod(0o600)
        return listener
    return Listener(("127.0.0.1", 0), backlog=MOST_WAITING)


def announce(socket: str | tuple[str, int], key: bytes) -> None:
    """Write where the server listens into a file that only its owner can read."""
    owners_only = functools.partial(os.open, mode=0o600)
    with open(client.address_file(), "x", encoding="utf-8", opener=owners_only) as file:
        json.dump(seal({"socket": socket, "key": key.hex()}), file)


def main() -> None:
    """Be this host's answering server, unless there is one already."""
    parser = argparse.ArgumentParser(prog="python -m core.runs.answering.server")
    parser.add_argument("--idle-s", type=float, default=IDLE_S)
    parser.add_argument("--limits", type=json.loads, default={}, help="JSON: seconds a stage may go without news")
    options = parser.parse_args()
    temporary.choose_folder()
    signals = StopSignals()  # before the lock, so that a signal never leaves this process between two states
    lock = take(client.server_lock())
    if lock is None:
        parser.error(f"an answering server runs on this host already (process {holder(client.server_lock())})")
    client.address_file().unlink(missing_ok=True)  # a server that was killed could not remove its own
    server = AnsweringServer(idle_s=options.idle_s, limits=LIMITS | options.limits, signals=signals)
    key = secrets.token_bytes(32)
    with lock, listening() as listener:
        threading.Thread(target=accept, args=(server, listener, key), daemon=True).start()
        announce(listener.address, key)
        try:
            server.run()
        finally:
            client.address_file().unlink(missing_ok=True)


if __name__ == "__main__":
    main()
