"""The queue of custom questions: it keeps their order, who waits for them and the time limits, and loads nothing.

Pages call it (:mod:`core.runs.answering.client`). A thread hands one question after another to the worker, a child
process that loads models. The worker ends with this process, or when nothing has been asked for
``HEDGE_WARM_MINUTES``, which frees the memory of its models.
"""

import threading
import time
from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import dataclass, field, replace

from core.errors import InputError
from core.models.devices.slots import slots
from core.processes.child import Child
from core.runs.agent import liveness
from core.runs.agent.worker_process import environment
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion
from core.runs.answering.token_text import TokenText
from core.settings import settings

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
LOG = "answers.log"


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


class AnswerQueue:
    """The queue, and what is known about every question. Any thread may call its methods; :meth:`start` begins to
    answer."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.jobs: OrderedDict[str, Job] = OrderedDict()
        self.waiting: deque[Job] = deque()
        self.turns: OrderedDict[str, int] = OrderedDict()
        """For each visitor, the number of the latest turn that was his or hers."""
        self.current: Job | None = None
        self.worker: Child | None = None
        self.warmed: tuple[str, str] | None = None
        """The model that the worker was last told to load beforehand, and its dtype."""
        self.last_asked = time.monotonic()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to answer, if that has not begun."""
        with self.changed:
            if self.thread is None:
                self.thread = threading.Thread(target=self._answer_forever, daemon=True, name="hedge-answers")
                self.thread.start()

    # ---- what pages call

    def ask(
        self, question: CustomQuestion | TokenText, asker: str = "", visitor: str = "", most: int = 0
    ) -> AnswerProgress:
        """Put a question into the queue; one that is there already is shared with those who asked it before.

        At most ``most`` questions of a ``visitor`` wait (0: as many as fit into the queue), and visitors take turns.
        """
        name = question.answer_id
        with self.changed:
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
        """Have the worker load a model before it is asked, unless the worker is busy. A worker with the model stays
        for longer.

        ``dtype`` is :data:`core.runs.answering.token_text.BY_TOKEN` for a model that will read texts by token.
        """
        with self.changed:
            if not (self.current or self.waiting):
                self.last_asked = time.monotonic()
                with suppress(OSError):
                    worker = self._living_worker()
                    if self.warmed != (model, dtype):
                        worker.send((model, dtype))
                        self.warmed = (model, dtype)
                self.changed.notify_all()

    def _job(self, name: str) -> Job:
        if name not in self.jobs:
            raise InputError("the question is no longer known; ask it again")
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

    def _answer_forever(self) -> None:
        while True:
            self._answer(self._next())
            with self.changed:
                self.current = None
                self.last_asked = time.monotonic()

    def _next(self) -> Job:
        """The next question, once there is one. Ends the worker if nothing has been asked for a while."""
        with self.changed:
            while not self.waiting:
                left_s = self.last_asked + 60 * settings().warm_minutes - time.monotonic()
                if self.worker and left_s <= 0:
                    self.worker.end()
                    self.worker = None
                self.changed.wait(left_s if self.worker else None)
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
                self._fail(job, f"no process can be started ({error}); free some memory or space, and ask again")
            is_over = job.progress.ended  # it could not be started, or somebody has just stopped the question
        if is_over:
            return
        try:
            worker.send(job.question)
            last_report = time.monotonic()
            while not (progress := job.progress).ended:  # a client may stop the question at any moment
                if worker.poll(LOOK_EVERY_S):
                    self._set(job, worker.receive(AnswerProgress))
                    last_report = time.monotonic()
                elif time.monotonic() - last_report >= (limit := LIMITS[progress.stage]):
                    raise TimeoutError(f"{job.question.model} was {progress.stage} for {limit:g} s without news")
            return
        except TimeoutError as error:
            reason = f"{error} and was given up"
        except Exception:  # it died, or was killed because somebody stopped the question
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
            here = slots()
            free = [slot for slot in here if not liveness.busy_with(liveness.executor_id(slot.name))]
            variables = environment() | {"CUDA_VISIBLE_DEVICES": (*free, *here)[0].devices}
            self.worker = Child("core.runs.answering.worker", environment=variables, log=LOG)
            self.warmed = None
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
