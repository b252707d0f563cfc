"""What a server can do, found out by asking: nothing is assumed from its kind or version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from core.errors import InputError
from core.inference.server.client import Body, PassingError, RefusedError, ServerClient, WrongReplyError
from core.inference.server.replies import EchoedText, NextTokens, echoed, next_tokens

Found = TypeVar("Found")

MOST_LISTED = (-1, 20, 5, 1)
"""Numbers of next tokens to ask for, in this order: all of them (vLLM), then what the protocol allows."""
PROBE = "Question: Which letter comes first?\nA. A\nB. B\nAnswer:"
SAID = " A"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one server does for one model.

    ``kind`` is who the server says owns the model, such as ``vllm``, and ``version`` its version, both empty if not
    told. ``context`` is the most tokens that the model reads (0: not told). ``listed`` and ``chat_listed`` are the most
    next tokens with log-probabilities that the server gives on its completions and its chat endpoint: -1 for all, 0 if
    there is no such endpoint or it gives none. ``echo`` says whether it gives the log-probabilities of a text that it
    was sent.
    """

    kind: str
    version: str
    context: int
    listed: int
    chat_listed: int
    echo: bool


def models(client: ServerClient) -> list[str]:
    """The names of the models on the server. Raises :class:`~core.errors.ServerError` if it can't be asked."""
    return sorted({str(one["id"]) for one in _listed(client, client.urls[0])})


def abilities(client: ServerClient, model: str) -> Abilities:
    """What the servers can do for ``model``; of several servers all must have it, and the first is asked the rest.

    Raises :class:`InputError` if one of them has no such model, or gives no log-probabilities at all.
    """
    entries = [_entry(client, url, model) for url in client.urls]
    listed = _most(client, "/completions", lambda n: letter_body(model, PROBE, listed=n), chat=False)
    messages = [{"role": "user", "content": PROBE}]
    chat_listed = _most(client, "/chat/completions", lambda n: chat_body(model, messages, listed=n), chat=True)
    if not listed and not chat_listed:
        raise InputError(
            f"the server {client.urls[0]} gives no log-probabilities of next tokens, neither on its completions nor on "
            "its chat endpoint; start it so that it gives them, or use another server"
        )
    context = entries[0].get("max_model_len") or _mapping(entries[0].get("meta")).get("n_ctx_train") or 0
    return Abilities(
        kind=str(entries[0].get("owned_by") or ""),
        version=_version(client),
        context=int(context) if isinstance(context, int) else 0,
        listed=listed,
        chat_listed=chat_listed,
        echo=bool(listed) and _able(lambda: _echoes(client, model)) is not None,
    )


def letter_body(model: str, text: str, *, listed: int) -> Body:
    """A request for the most probable tokens after ``text``."""
    return {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": listed}


def chat_body(model: str, messages: list[dict[str, str]], *, listed: int) -> Body:
    """A request for the most probable first tokens of what the assistant says."""
    asked = {"logprobs": True, "top_logprobs": listed}
    return {"model": model, "messages": messages, "max_tokens": 1, "temperature": 0, **asked}


def echo_body(model: str, text: str) -> Body:
    """A request for the log-probabilities of a text. One token more is written, because some servers take 0 for "as
    many as you like"."""
    return {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": True}


def _entry(client: ServerClient, url: str, model: str) -> Mapping[str, Any]:
    known = {str(one["id"]): one for one in _listed(client, url)}
    if model not in known:
        names = ", ".join(sorted(known)[:8]) or "none"
        raise InputError(f"the server {url} has no model {model!r}; it has {names}")
    return known[model]


def _listed(client: ServerClient, url: str) -> list[Mapping[str, Any]]:
    found = client.get("/models", of=url).get("data")
    return [one for one in found if isinstance(one, Mapping) and one.get("id")] if isinstance(found, list) else []


def _most(client: ServerClient, path: str, body: Callable[[int], Body], *, chat: bool) -> int:
    """The most next tokens that an endpoint gives, or 0 if it gives none."""
    for asked in MOST_LISTED:

        def read(reply: dict[str, Any], asked: int = asked) -> NextTokens:
            return next_tokens(reply, chat=chat, asked=asked)

        given = _able(lambda asked=asked, read=read: client.post(path, body(asked), read))  # type: ignore[misc]
        if given is None:
            continue
        if asked > 0:
            return asked
        if len(given.tokens) > max(MOST_LISTED):  # otherwise it read -1 as something else
            return asked
    return 0


def _echoes(client: ServerClient, model: str) -> EchoedText:
    text = f"{PROBE}{SAID}"
    found = client.post("/completions", echo_body(model, text), lambda r: echoed(r, text=PROBE, continuation=SAID))
    scored = found.log_p[1:]
    if any(value != value for value in scored) or (len(set(scored)) == 1 and len(scored) > 1):
        raise WrongReplyError("the server echoes a text without log-probabilities of its own")
    return found


def _version(client: ServerClient) -> str:
    """The server's version where it tells one: vLLM and Ollama do, beside the protocol."""
    parts = urlsplit(client.urls[0])
    for path in ("/version", "/api/version"):
        told = _able(lambda path=path: client.get(path, of=f"{parts.scheme}://{parts.netloc}"))  # type: ignore[misc]
        if told and isinstance(told.get("version"), str):
            return str(told["version"])[:40]
    return ""


def _able(ask: Callable[[], Found]) -> Found | None:
    """What was asked for, or None if the server does not do it; one that is gone raises."""
    try:
        return ask()
    except PassingError as error:
        if not error.alive:
            raise
    except (RefusedError, WrongReplyError):
        pass
    return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
