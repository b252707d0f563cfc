"""Custom questions, for pages: ask one, follow its progress, stop it. Loads no torch. Every call returns within
seconds."""

from contextlib import suppress
from dataclasses import replace

from core import access, extras
from core.access import UserRole, quotas
from core.errors import HedgeError, InputError
from core.models.model_sources import FAKE_MODEL, check_named, ships
from core.models.server import permission
from core.models.server_address import ON_SERVERS, served_model
from core.runs import store
from core.runs.answering.answer_queue import AnswerQueue
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion
from core.runs.answering.token_text import TokenText
from core.settings import settings

GONE = "The process that answers ended before it could; ask again."
QUEUE = AnswerQueue()
"""The questions that were asked in this process."""


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
    QUEUE.start()
    return QUEUE.ask(question, _asker(), quotas.visitor(), most)


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

    A question that is not known, as after a restart of the page server, has failed.
    """
    try:
        return QUEUE.progress(answer_id, wait_s, _asker())
    except InputError:
        return AnswerProgress(answer_id, "failed", GONE)


def warm(model: str, dtype: str) -> None:
    """Load a model that will probably be asked, unless ``HEDGE_WARM_MINUTES`` is 0. Errors are reported when it is
    asked."""
    if settings().warm_minutes:
        with suppress(HedgeError, OSError):
            _check_model(model)
            QUEUE.start()
            QUEUE.warm(model, dtype)


def stop(answer_id: str) -> None:
    """Stop one's own question, while others who have asked the same still wait; one that has ended or is unknown
    is left alone."""
    with suppress(InputError):
        QUEUE.stop(answer_id, _asker())
