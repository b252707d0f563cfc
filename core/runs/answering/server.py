"""The desk (``python -m core.runs.answering.server``): takes questions, keeps the queue and the clock, loads nothing.

It listens on 127.0.0.1 at a port of its own. ``HEDGE_HOME/agents/<host>/answers.json``, which only its owner may
read, holds the port and a token that every message must carry. A message is a line of JSON, at most a megabyte, and
gets one line back: ``ask`` a question, hear its ``state`` (waiting for news, up to a second), ``stop`` it, have a
model ``warm`` before there is a question.

There is one desk a host (a file lock). It ends ten minutes after the last question, with its answerer.
"""

from __future__ import annotations

import argparse
import hmac
import json
import secrets
import signal
import socketserver
import sys
import threading
import time
from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from core.errors import HedgeError, InputError
from core.runs.agent import liveness
from core.runs.agent.file_lock import holder, take
from core.runs.answering import endpoint
from core.runs.answering.custom_question import OwnQuestion
from core.runs.answering.state import STAGES, AnswerState
from core.runs.answering.worker_pipe import Line, free_slot
from core.runs.devices.slots import slots

IDLE_S = 600.0
TICK_S = 0.2
MOST_WAITING = 16
REMEMBERED = 100
LONGEST_WAIT_S = 1.0
TALK_WITHIN_S = 5.0

LIMITS = {"starting": 120.0, "downloading": 180.0, "loading": 900.0, "checking": 300.0, "answering": 120.0}
"""Seconds without news after which a stage counts as stuck; each byte of a download is news."""


@dataclass(slots=True)
class Job:
    """A question and how far it is; ``began`` and ``news`` are when its stage began and when it was last heard of."""

    own: OwnQuestion
    state: AnswerState
    began: float
    news: float


class Desk:
    """The queue, the answerer, and what is known of every question."""

    def __init__(self, *, idle_s: float, limits: dict[str, float]) -> None:
        self.idle_s = idle_s
        self.limits = limits
        self.slots = slots()
        self.token = secrets.token_hex(32)
        self.stopping = threading.Event()
        self.changed = threading.Condition()
        self.jobs: OrderedDict[str, Job] = OrderedDict()
        self.waiting: deque[str] = deque()
        self.current: str = ""
        self.line: Line | None = None
        self.last_asked = time.monotonic()

    # ---- what clients ask

    def reply(self, text: bytes) -> dict[str, Any]:
        """The answer to one message."""
        try:
            message = json.loads(text)
            if not isinstance(message, dict) or not hmac.compare_digest(str(message.get("token")), self.token):
                return {"error": "the message does not carry the desk's token"}
            return self._do(message)
        except HedgeError as error:
            return {"error": str(error)}
        except (ValueError, TypeError, RecursionError) as error:
            return {"error": f"the message can't be read ({type(error).__name__})"}

    def _do(self, message: dict[str, Any]) -> dict[str, Any]:
        match message.get("do"):
            case "ask":
                return self.ask(OwnQuestion.from_json(message.get("own"))).to_json()
            case "state":
                wait_s = min(float(message.get("wait_s", 0)), LONGEST_WAIT_S)
                return self.state(str(message.get("id")), wait_s=wait_s).to_json()
            case "warm":
                return self.warm(str(message.get("model")), str(message.get("dtype")))
            case "stop":
                return self.stop(str(message.get("id"))).to_json()
        return {"error": "the desk knows ask, state, stop and warm"}

    def ask(self, own: OwnQuestion) -> AnswerState:
        """Take a question; one that is on its way already is left alone."""
        name = own.answer_id
        with self.changed:
            known = self.jobs.get(name)
            if known and not known.state.ended:
                return self._now(known)
            if len(self.waiting) >= MOST_WAITING:
                raise InputError(f"{len(self.waiting)} questions are waiting already; ask again in a moment")
            now = time.monotonic()
            self.last_asked = now
            self.jobs[name] = job = Job(own, AnswerState(name, "waiting"), now, now)
            self.jobs.move_to_end(name)
            self.waiting.append(name)
            self._forget()
            self.changed.notify_all()
            return self._now(job)

    def warm(self, model: str, dtype: str) -> dict[str, Any]:
        """Have the answerer load a model before it is asked, unless it is at something."""
        with self.changed:
            if not (self.current or self.waiting):
                self.last_asked = time.monotonic()
                with suppress(OSError):
                    self.line = self.line or Line(self.hear, free_slot(self.slots))
                    self.line.say({"warm": [model, dtype]})
        return {}

    def state(self, name: str, *, wait_s: float = 0.0) -> AnswerState:
        """How far a question is; waits up to ``wait_s`` seconds for its end."""
        end = time.monotonic() + wait_s
        with self.changed:
            while True:
                job = self.jobs.get(name)
                if job is None:
                    raise InputError("the desk does not know this question (any more); ask it again")
                left = end - time.monotonic()
                if job.state.ended or left <= 0:
                    return self._now(job)
                self.changed.wait(left)

    def stop(self, name: str) -> AnswerState:
        """Let go of a question: take it out of the queue, or end the answerer that is at it."""
        with self.changed:
            job = self.jobs.get(name)
            if job is None:
                raise InputError("the desk does not know this question (any more)")
            if name in self.waiting:
                self.waiting.remove(name)
                self._set(job, replace(job.state, stage="failed", message="Stopped before it was asked."))
            elif name == self.current and self.line:
                self._fail("Stopped.")
            return self._now(job)

    def _now(self, job: Job) -> AnswerState:
        if job.state.ended:
            return job.state
        ahead = self.waiting.index(job.state.answer_id) + bool(self.current) if job.state.stage == "waiting" else 0
        return replace(job.state, seconds=time.monotonic() - job.began, ahead=ahead)

    # ---- what the answerer says

    def hear(self, line: Line, news: dict[str, Any] | None) -> None:
        """News from the answerer; None when it is dead."""
        with self.changed:
            if line is not self.line:
                return  # one that was given up before
            job = self.jobs.get(self.current)
            if news is None:
                if job:
                    doing = {"answering": "answering", "checking": "checking itself"}.get(job.state.stage, "loading")
                    self._fail(f"the answerer was {line.death()} while {doing} {job.own.model}; {WAY_OUT}")
                self.line = None
            elif job and news.get("answer_id") == self.current and news.get("stage") in STAGES:
                self._set(job, AnswerState.from_json(news))
                if job.state.ended:
                    self.current = ""
            self.last_asked = time.monotonic()
            self.changed.notify_all()

    # ---- rounds

    def run(self) -> None:
        """Work until told to stop, or until nobody asks any more."""
        while not self.stopping.is_set():
            with self.changed:
                idle = self._round()
                if not idle:
                    self.changed.wait(TICK_S)
            if idle or not endpoint.is_ours(self.token):
                break
        with self.changed:
            if self.line:
                self.line.end()

    def _round(self) -> bool:
        """Feed the answerer and look at the clock; True where the desk may close."""
        self._enforce()
        if not self.current and self.waiting:
            self.current = self.waiting.popleft()
            self._feed(self.jobs[self.current])
        busy = self.current or self.waiting
        return not busy and time.monotonic() - self.last_asked >= self.idle_s

    def _feed(self, job: Job) -> None:
        self._set(job, replace(job.state, stage="loading" if self.line else "starting"))
        try:
            self.line = self.line or Line(self.hear, free_slot(self.slots))
            self.line.say({"id": self.current, "own": job.own.to_json()})
        except OSError as error:
            self._fail(f"no answerer can be started ({error.strerror}); free some memory and ask again")

    def _enforce(self) -> None:
        job = self.jobs.get(self.current)
        limit = self.limits.get(job.state.stage, 0.0) if job else 0.0
        if job and limit and time.monotonic() - job.news > limit:
            self._fail(
                f"{job.own.model} was {job.state.stage} for {limit:g} s without news and was given up; {WAY_OUT}"
            )

    def _fail(self, message: str) -> None:
        """End the current question and the answerer with it: what it was at can't be called off otherwise."""
        job = self.jobs[self.current]
        self._set(job, replace(job.state, stage="failed", message=message))
        self.current = ""
        if self.line:
            self.line.end()
        self.line = None

    def _set(self, job: Job, state: AnswerState) -> None:
        now = time.monotonic()
        if state.stage != job.state.stage:
            job.began = now
        job.state, job.news = state, now
        self.changed.notify_all()

    def _forget(self) -> None:
        ended = [name for name, job in self.jobs.items() if job.state.ended]
        for name in ended[: max(0, len(self.jobs) - REMEMBERED)]:
            del self.jobs[name]


WAY_OUT = "choose a smaller model, or ask again"


class _Server(socketserver.ThreadingTCPServer):
    """A thread a message; each is short."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, desk: Desk) -> None:
        super().__init__(("127.0.0.1", 0), _Message)
        self.desk = desk


class _Message(socketserver.StreamRequestHandler):
    timeout = TALK_WITHIN_S
    server: _Server

    def handle(self) -> None:
        """One line in, one line out."""
        with suppress(OSError):
            text = self.rfile.readline(endpoint.MOST_BYTES + 1)
            said = (
                {"error": "the message is too long"}
                if len(text) > endpoint.MOST_BYTES
                else self.server.desk.reply(text)
            )
            self.wfile.write(json.dumps(said).encode() + b"\n")


def main(*, idle_s: float, limits: dict[str, float]) -> None:
    """Be this host's desk; :class:`~core.errors.InputError` where there is one already."""
    lock = take(endpoint.desk_lock())
    if lock is None:
        raise InputError(f"a desk is open on this host already (process {holder(endpoint.desk_lock())})")
    with lock:
        endpoint.withdraw()  # one that was killed could not
        desk = Desk(idle_s=idle_s, limits=limits)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: desk.stopping.set())
        with _Server(desk) as server:
            threading.Thread(target=server.serve_forever, daemon=True, name="hedge-desk").start()
            endpoint.announce(server.server_address[1], desk.token)
            say(f"the desk of {liveness.host()} is open")
            try:
                desk.run()
            finally:
                endpoint.withdraw(desk.token)
                server.shutdown()
    say("closed")


def say(line: str) -> None:
    """A timestamped line for the log; never what somebody asked."""
    with suppress(OSError):
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}", file=sys.stderr, flush=True)


def _command_line() -> None:
    parser = argparse.ArgumentParser(prog="python -m core.runs.answering.server")
    parser.add_argument("--idle-s", type=float, default=IDLE_S)
    parser.add_argument("--limits", type=json.loads, help="JSON: seconds a stage may go without news")
    options = parser.parse_args()
    try:
        main(idle_s=options.idle_s, limits=LIMITS | (options.limits or {}))
    except HedgeError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_status)


if __name__ == "__main__":
    _command_line()
