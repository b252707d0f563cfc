"""Whether a server answers requests for decisions, found out with one question."""

from dataclasses import replace
from functools import partial

from core.models.server.client import OF_ALL, PassingError, RefusedError, ServerClient, WrongReplyError
from core.models.server.decision_replies import Decided, Fault, decided
from core.models.server_address import without_secrets
from core.questions.prompting.decision import decision_prompt, joined_request
from core.records import Question

DECISION_PROBE = Question("probe", "qa", "", "", "Pick one of these words.", ("the", "and", "of", "in"), 0)
"""No answer is right, so weights answer it in their own ways."""


def decision_of_probe(client: ServerClient, url: str, model: str, form: str) -> Decided | Fault | str:
    """What a server answers to :data:`DECISION_PROBE` in the format ``form``: the probabilities, what is wrong with
    them, or why there is no such reply, in words.

    Raises :class:`~core.models.server.client.PassingError` if it is gone or busy, and
    :class:`~core.models.server.client.RefusedError` if it refuses every request.
    """
    body = joined_request([decision_prompt(DECISION_PROBE, strategy="base", demonstrations=(), form=form)])
    try:
        (answer,) = client.post(
            f"/{form}", {"model": model, **body}, partial(decided, options=[len(DECISION_PROBE.options)]), url=url
        )
    except RefusedError as error:
        if error.status in OF_ALL:
            raise
        status = f"HTTP status {error.status}"
        if 300 <= error.status < 400:
            status = f"{status}, it {str(error).partition(';')[0].removeprefix(f'the server {url} ')}"
        return f'{status}, "{error.words}"' if error.words else status
    except (PassingError, WrongReplyError) as error:
        if isinstance(error, PassingError) and not error.alive:
            raise
        return str(error).partition(";")[0]
    if isinstance(answer, Fault):
        return replace(answer, reason=without_secrets(answer.reason, client.key_variable))
    return answer
