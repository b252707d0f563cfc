"""Custom questions, for pages: ask one, follow its progress, stop it. Loads no torch.

The first question starts this host's answering server (:mod:`core.runs.answering.server`), which outlives the page.
Every call returns within seconds. If something is wrong, it raises :class:`~core.errors.RunError` with one sentence.
"""

import time
from dataclasses import replace
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

from core import access, extras
from core.access import UserRole, quotas
from core.errors import HedgeError, InputError, RunError
from core.models.model_sources import FAKE_MODEL, check_named, ships
from core.models.server import permission
from core.models.server_address import ON_SERVERS, served_model
from core.processes.starting import start_detached
from core.runs import store
from core.runs.agent import liveness
from core.runs.agent.worker_process import environment
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion
from core.runs.answering.token_text import TokenText
from core.settings import writable_home
from core.storage.file_lock import is_held
from core.storage.sealed import read_json

STARTS_WITHIN_S = 15.0
REPLIES_WITHIN_S = 10.0
GONE = "The process that answers ended before it could; ask again."


def server_lock() -> Path:
    """The lock file that this host's one answering server holds."""
    return liveness.agent_lock().with_name("answering.lock")


def address_file() -> Path:
    """Where the server writes its address; only its owner can read the file."""
    return server_lock().with_suffix(".json")


def address() -> tuple[str | tuple[str, int], bytes] | None:
    """The server's socket, and the key that each side proves to know; None if no server has published them, or the file
    is damaged, at which the server ends."""
    try:
        values = read_json(address_file())
        socket = values["socket"]
        return tuple(socket) if isinstance(socket, list) else socket, bytes.fromhex(values["key"])
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None


def is_server_up() -> bool:
    """Whether an answering server runs on this host."""
    return is_held(server_lock()) and address() is not None


def ask(question: CustomQuestion | TokenText) -> AnswerProgress:
    """Ask a question or have a text read by token; one that waits or is being answered is not asked twice.

    A viewer may ask the models that ship with Hedge. Raises :class:`~core.errors.AccessError` for another, and
    :class:`~core.errors.QuotaError` for more questions a minute than one person may ask.
    """
    access.check_quietly(UserRole.VIEWER, "ask a model")
    if isinstance(question, TokenText):
        _check_model(question.model, question.key_variable)
        question = replace(question, asker=access.actor().name)
    else:
        _check_model(question.model)
        _check_run(question.run_id)
    quotas.check_question(question.answer_id)
    most = quotas.held().waiting_questions if quotas.limits_hold() else 0
    end = time.monotonic() + STARTS_WITHIN_S
    while True:
        _start_server()
        try:
            waiting: AnswerProgress = _call("ask", question, _asker(), quotas.visitor(), most)
            return waiting
        except ConnectionError as error:  # the server has just ended, or does not listen yet
            if time.monotonic() > end:
                raise RunError(f"the answering server can't be reached ({error}); ask again") from error
            time.sleep(0.05)


def _asker() -> str:
    """Whose a question is: a person's who logged in. On a public server it is one page's, because a whole class may
    share its address."""
    who = access.actor()
    return f"{who.name} {who.address} {who.session}" if access.mode() == "public" else who.name


def _check_model(model: str, key: str = "") -> None:
    if ships(model):
        extras.need("models")
        return
    access.check(UserRole.LAUNCHER, "ask a model that does not ship with Hedge", subject=model)
    if there := served_model(model):
        permission.check([there.url], key)
    elif ON_SERVERS not in model:  # otherwise its run names the servers
        check_named(model)
        if model != FAKE_MODEL:
            extras.need("models")


def _check_run(run_id: str) -> None:
    """Raise :class:`~core.errors.InputError` for an imported run, and :class:`~core.errors.AccessError` if the actor
    may not ask the servers that the run names."""
    try:
        record = store.read_record(run_id)
    except InputError:  # the worker says that there is no such run
        return
    store.check_computed(record)
    permission.check_recorded(record.spec.servers, record.spec.key_variable, launched_by=record.launched_by)


def progress(answer_id: str, *, wait_s: float = 0.0) -> AnswerProgress:
    """The progress of an answer; waits up to ``wait_s`` seconds (1 at most) for its end.

    A question that the server does not know, because the server died or ended, has failed.
    """
    try:
        now: AnswerProgress = _call("progress", answer_id, wait_s, _asker())
        return now
    except (ConnectionError, InputError):
        return AnswerProgress(answer_id, "failed", GONE)


def warm(model: str, dtype: str) -> None:
    """Load a model that will probably be asked. Errors are reported when it is asked."""
    try:
        _check_model(model)
        _start_server()
        _call("warm", model, dtype)
    except (ConnectionError, HedgeError):
        return


def stop(answer_id: str) -> None:
    """Stop one's own question, while others who have asked the same still wait; one that has ended or is unknown
    is left alone."""
    try:
        _call("stop", answer_id, _asker())
    except (ConnectionError, InputError):
        return


def _call(method: str, *arguments: Any) -> Any:
    """The server's reply. Raises ConnectionError if there is no server, and a :class:`HedgeError` if it refuses."""
    if (published := address()) is None:
        raise ConnectionError("it is not running")
    socket, key = published
    try:
        with Client(socket) as connection:
            _wait(connection)  # a suspended server would be waited for without end
            answer_challenge(connection, key)
            deliver_challenge(connection, key)
            connection.send((method, arguments))
            _wait(connection)
            reply = connection.recv()
    except Exception as error:  # of sockets, of authentication, or of unpickling what another version sends
        raise ConnectionError(str(error) or type(error).__name__) from error
    if isinstance(reply, HedgeError):
        raise reply
    return reply


def _wait(connection: Connection) -> None:
    if not connection.poll(REPLIES_WITHIN_S):
        raise TimeoutError(f"it has not replied within {REPLIES_WITHIN_S:g} s")


def _start_server() -> None:
    """Start this host's answering server if none is running, detached, so that it outlives this process. If several
    start at once, the first to take the lock stays and the others end.
    """
    if is_server_up():
        return
    with writable_home():
        start_detached(
            ("core.runs.answering.server",),
            environment=environment(),
            log="answers.log",
            up=is_server_up,
            within_s=STARTS_WITHIN_S,
            what="the answering server did not start",
        )
