"""Asking questions, for pages: open the desk where it is closed, ask, hear how far the answer is. Loads no torch.

Every call returns within seconds; where something is wrong it raises :class:`~core.errors.RunError` with one
sentence.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from core.errors import InputError, RunError
from core.runs.agent.file_lock import take
from core.runs.agent.worker_process import start_detached
from core.runs.answering import endpoint
from core.runs.answering.custom_question import OwnQuestion
from core.runs.answering.state import AnswerState
from core.settings import settings

OPENS_WITHIN_S = 15.0
SAID_WITHIN_S = 10.0
GONE = "The process that answers ended before it could; ask again."


def ask(own: OwnQuestion) -> AnswerState:
    """Ask a question; the same one, while it is on its way, is asked once."""
    end = time.monotonic() + OPENS_WITHIN_S
    while True:
        _open_desk()
        try:
            return _state(_said({"do": "ask", "own": own.to_json()}))
        except ConnectionError as error:  # the desk closed that very moment, or has yet to say where it is
            if time.monotonic() > end:
                raise RunError(f"the desk that answers can't be reached ({error}); ask again") from error
            time.sleep(0.05)


def state(answer_id: str, *, wait_s: float = 0.0) -> AnswerState:
    """How far a question is; waits up to ``wait_s`` seconds (1 at most) for its end.

    One that the desk does not know, because it died or closed, has failed.
    """
    try:
        return _state(_said({"do": "state", "id": answer_id, "wait_s": wait_s}, wait_s=wait_s))
    except (ConnectionError, InputError):
        return AnswerState(answer_id, "failed", GONE)


def warm(model: str, dtype: str) -> None:
    """Have a model loaded that will probably be asked; what is wrong with it is said when it is."""
    try:
        _open_desk()
        _said({"do": "warm", "model": model, "dtype": dtype})
    except (ConnectionError, InputError, RunError):
        return


def stop(answer_id: str) -> None:
    """Let go of a question; one that has ended or is unknown is left alone."""
    try:
        _said({"do": "stop", "id": answer_id})
    except (ConnectionError, InputError):
        return


def _state(values: dict[str, Any]) -> AnswerState:
    return AnswerState.from_json(values)


def _said(message: dict[str, Any], *, wait_s: float = 0.0) -> dict[str, Any]:
    """What the desk says; ConnectionError where there is none, :class:`InputError` where it refuses."""
    at = endpoint.address()
    if at is None:
        raise ConnectionError("it is closed")
    try:
        with socket.create_connection(("127.0.0.1", at.port), timeout=SAID_WITHIN_S) as talk:
            talk.settimeout(SAID_WITHIN_S + wait_s)
            talk.sendall(json.dumps(message | {"token": at.token}).encode() + b"\n")
            with talk.makefile("rb") as heard:
                said = json.loads(heard.readline(endpoint.MOST_BYTES))
    except (OSError, ValueError) as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
    if "error" in said:
        raise InputError(str(said["error"]))
    values: dict[str, Any] = said
    return values


def _open_desk() -> None:
    """Open this host's desk where none is open, detached, so that it outlives this process."""
    if endpoint.desk_open():
        return
    turn = None
    try:
        # Of many pages that want one at once, the first opens it and the others wait here for it.
        turn = take(endpoint.start_lock(), wait_s=OPENS_WITHIN_S)
        if not endpoint.desk_open():
            _start_desk()
    except OSError as error:
        raise RunError(
            f"{error.filename or settings().home} can't be written ({error.strerror}); "
            "free some space, or set HEDGE_HOME to a folder of your own"
        ) from error
    finally:
        if turn:
            turn.close()


def _start_desk() -> None:
    start_detached(
        ("core.runs.answering.server",),
        log="answers.log",
        up=endpoint.desk_open,
        within_s=OPENS_WITHIN_S,
        what="the process that answers did not start",
    )
