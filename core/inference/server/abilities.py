"""What a server can do, found out by asking: nothing is assumed from its kind or version."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from core.errors import InputError, ServerError
from core.inference.server.client import Body, PassingError, RefusedError, ServerClient, WrongReplyError
from core.inference.server.replies import EchoedText, NextTokens, echoed, next_tokens

Found = TypeVar("Found")

MOST_LISTED = (-1, 20, 5, 1)
"""Numbers of next tokens to ask for, in this order: all of them (vLLM), then what the protocol allows."""
PROBE = "Question: Which letter comes first?\nA. A\nB. B\nAnswer:"
SAID = " A"
ALIKE = 0.1
"""Servers that share the work may differ by so much in a log-probability, because they compute in half precision."""
SPACES = re.compile("[\u0120\u2581]")
"""The signs that tokenizers have for a space."""
TOLD = 60
"""The most characters of a version."""
QUANTISED = re.compile(
    r"(?<![a-z0-9])(I?Q\d_[a-z0-9_]+|AWQ|GPTQ|(?:NV|MX)?FP[48]|INT[48]|W\d+A\d+|BF16|F16|F32)(?![a-z0-9])",
    re.IGNORECASE,
)
"""How quantised weights are named in names of models and files."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one server does for one model.

    ``kind`` is who the server says owns the model, such as ``vllm``, ``version`` its version, ``root`` the weights
    behind the model's name and ``quantisation`` how they are stored; all are empty where the server does not tell.
    ``context`` is the most tokens that the model reads (0: not told). ``listed`` and ``chat_listed`` are the most next
    tokens with log-probabilities that the server gives on its completions and its chat endpoint: -1 for all, 0 if there
    is no such endpoint or it gives none. ``echo`` says whether it gives the log-probabilities of a text that it was
    sent (``echo_wrong``: it does, but they are wrong, so they are not used), and ``by_id`` whether it gives those of
    tokens that are named by their ids (vLLM). ``probe`` is the most probable token after :data:`PROBE`, with its
    log-probability.
    """

    kind: str
    version: str
    context: int
    listed: int
    chat_listed: int
    echo: bool
    root: str = ""
    quantisation: str = ""
    by_id: bool = False
    echo_wrong: bool = False
    probe: tuple[str, float] = ("", 0.0)

    @property
    def does(self) -> tuple[int, int, bool, bool]:
        """What must be alike where several servers share the work."""
        return self.listed, self.chat_listed, self.echo, self.by_id


def models(client: ServerClient) -> list[str]:
    """The names of the models on the server. Raises :class:`~core.errors.ServerError` if it can't be asked."""
    return sorted({str(one["id"]) for one in _listed(client, client.urls[0])})


def abilities(client: ServerClient, model: str, *, all_needed: bool = True) -> Abilities:
    """What the servers do for ``model``. Each is asked, and all must do the same.

    With ``all_needed`` off, a server that can't be reached is dropped if another can. Raises :class:`InputError` if one
    of them has no such model, gives no log-probabilities at all, or is unlike the first;
    :class:`~core.errors.ServerError` if one that is needed can't be reached.
    """
    found: dict[str, Abilities] = {}
    for url in client.urls:
        try:
            found[url] = _abilities(client, url, model)
        except PassingError:
            if all_needed or len(client.hosts) == 1:
                raise
            client.drop(url)
    first, *others = found
    for other in others:
        _check_alike(first, found[first], other, found[other])
    return found[first]


def _check_alike(first: str, one: Abilities, other: str, two: Abilities) -> None:
    """Raise :class:`InputError` if two servers can't share the work of one model."""
    way_out = "only servers of the same model and kind share the work, so give each a run of its own"
    for what, a, b in (("are of the kind", one.kind, two.kind), ("hold the weights", one.root, two.root)):
        if a != b:
            raise InputError(
                f"the servers {first} and {other} {what} {a or 'unknown'!r} and {b or 'unknown'!r}; {way_out}"
            )
    if one.does != two.does:
        raise InputError(f"the servers {first} and {other} do not give the same log-probabilities; {way_out}")
    if one.probe[0] != two.probe[0] or abs(one.probe[1] - two.probe[1]) > ALIKE:
        a, b = (f"{token!r} the log-probability {log_p:.3f}" for token, log_p in (one.probe, two.probe))
        raise InputError(
            f"after the same text the server {first} gives {a} and {other} gives {b}, so they do not hold the same "
            f"weights; {way_out}"
        )


def _abilities(client: ServerClient, url: str, model: str) -> Abilities:
    entry = _entry(client, url, model)
    listed, probe = _most(client, url, "/completions", lambda n: letter_body(model, PROBE, listed=n), chat=False)
    messages = [{"role": "user", "content": PROBE}]
    chat_listed, said = _most(
        client, url, "/chat/completions", lambda n: chat_body(model, messages, listed=n), chat=True
    )
    if not listed and not chat_listed:
        raise InputError(
            f"the server {url} gives no log-probabilities of next tokens, neither on its completions nor on its chat "
            "endpoint; start it so that it gives them, or use another server"
        )
    echo = _echoes(client, url, model, listed) if listed else False
    context = entry.get("max_model_len") or _mapping(entry.get("meta")).get("n_ctx_train") or 0
    version, quantisation = told(client, url, model, entry)
    return Abilities(
        kind=str(entry.get("owned_by") or ""),
        version=version,
        context=int(context) if isinstance(context, int) else 0,
        listed=listed,
        chat_listed=chat_listed,
        echo=bool(echo),
        echo_wrong=echo is None,
        root=str(entry.get("root") or ""),
        quantisation=quantisation,
        by_id=listed > 0 and _gives_by_id(client, url, model),
        probe=probe or said or ("", 0.0),
    )


def letter_body(model: str, text: str, *, listed: int) -> Body:
    """A request for the most probable tokens after ``text``."""
    return {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": listed}


def chat_body(model: str, messages: list[dict[str, str]], *, listed: int) -> Body:
    """A request for the most probable first tokens of what the assistant says."""
    asked = {"logprobs": True, "top_logprobs": listed}
    return {"model": model, "messages": messages, "max_tokens": 1, "temperature": 0, **asked}


def id_body(model: str, text: str, ids: Sequence[int]) -> Body:
    """A request for the log-probabilities after ``text`` of the tokens with these ids, and of the most probable one."""
    return {**letter_body(model, text, listed=1), "logprob_token_ids": list(ids)}


def token_ids(client: ServerClient, url: str, model: str, text: str, said: Sequence[str]) -> dict[str, int]:
    """The id of each of ``said`` that is one token of its own behind ``text``, as the server's ``/tokenize`` tells."""
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    found: dict[str, int] = {}
    for one in said:
        body = {"model": model, "prompt": text + one, "add_special_tokens": False, "return_token_strs": True}
        reply = _able(lambda body=body: client.post("/tokenize", body, dict, of=base, paid=False))  # type: ignore[misc]
        ids, spelled = (_mapping(reply).get(name) for name in ("tokens", "token_strs"))
        if not (isinstance(ids, list) and isinstance(spelled, list) and ids and len(ids) == len(spelled)):
            return {}
        if isinstance(ids[-1], int) and SPACES.sub(" ", str(spelled[-1])) == one:
            found[one] = ids[-1]
    return found


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


def _most(
    client: ServerClient, url: str, path: str, body: Callable[[int], Body], *, chat: bool
) -> tuple[int, tuple[str, float] | None]:
    """The most next tokens that an endpoint gives, or 0 if it gives none, and the most probable of them."""
    for asked in MOST_LISTED:

        def read(reply: dict[str, Any], asked: int = asked) -> NextTokens:
            return next_tokens(reply, chat=chat, asked=asked)

        given = _able(lambda asked=asked, read=read: client.post(path, body(asked), read, of=url))  # type: ignore[misc]
        if given is None:
            continue
        if asked > 0 or len(given.tokens) > max(MOST_LISTED):  # otherwise it read -1 as something else
            return asked, given.tokens[0]
    return 0, None


def _gives_by_id(client: ServerClient, url: str, model: str) -> bool:
    ids = token_ids(client, url, model, PROBE, (SAID, " B"))
    if len(ids) < 2:
        return False

    def read(reply: dict[str, Any]) -> NextTokens:
        return next_tokens(reply, chat=False, asked=1)

    found = _able(lambda: client.post("/completions", id_body(model, PROBE, list(ids.values())), read, of=url))
    return found is not None and all(found.log_p(token) is not None for token in ids)


def _echoes(client: ServerClient, url: str, model: str, listed: int) -> bool | None:
    """Whether the server echoes a text with its log-probabilities; None if it does, but with wrong ones.

    Some servers give each token the log-probability that it has a place further on (llama-cpp-python 0.3), or all the
    same. So what a token has behind a text must be what is listed for it after the text.
    """

    def read_next(reply: dict[str, Any]) -> NextTokens:
        return next_tokens(reply, chat=False, asked=listed)

    likely = client.post("/completions", letter_body(model, PROBE, listed=min(listed, 5)), read_next, of=url)
    for token, log_p in likely.tokens[:5]:

        def read(reply: dict[str, Any], token: str = token) -> EchoedText:
            return echoed(reply, text=PROBE, continuation=token)

        if not token.strip() or not token.isascii():
            continue
        body = echo_body(model, PROBE + token)
        found = _able(lambda body=body, read=read: client.post("/completions", body, read, of=url))  # type: ignore[misc]
        if found is None:
            continue
        scored, said = found.log_p[1:], found.log_p[found.context :]
        if any(value != value for value in scored):
            return False
        if len(said) == 1 and not found.joined:
            return True if abs(said[0] - log_p) <= ALIKE else None
    return False


def told(client: ServerClient, url: str, model: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    """The server's version and how the weights are stored, where it tells. Each kind tells it beside the protocol:

    - vLLM: ``/version``; Ollama: ``/api/version`` and ``/api/show``; llama.cpp: ``/props``; SGLang: ``/server_info``;
      LM Studio: ``/api/v0/models``.
    - llama.cpp also gives the size and the number of the weights with the model's name.

    Else the quantisation is what the model's name, or its file's, says, such as ``Q4_K_M`` or ``AWQ``.
    """
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"

    def ask(path: str, body: Body | None = None) -> Mapping[str, Any]:
        try:
            return client.get(path, of=base) if body is None else client.post(path, body, dict, of=base, paid=False)
        except ServerError:  # whatever it is, the server does not tell
            return {}

    def first(*values: Any) -> str:
        return next((str(value)[:TOLD] for value in values if isinstance(value, (str, int, float)) and value), "")

    version = first(ask("/version").get("version"))
    props: Mapping[str, Any] = {}
    said = ""
    if not version:
        props = ask("/props")
        version = first(props.get("build_info"))
    if not version:
        version = first(ask("/api/version").get("version"))
        said = (
            first(_mapping(ask("/api/show", {"model": model}).get("details")).get("quantization_level"))
            if version
            else ""
        )
    if not version:
        info = ask("/server_info")
        version, said = first(info.get("version")), first(info.get("quantization"))
    if not version:
        listed = ask("/api/v0/models").get("data")
        mine = [_mapping(one) for one in listed if _mapping(one).get("id") == model] if isinstance(listed, list) else []
        said = first(*(one.get("quantization") for one in mine))
    meta = _mapping(entry.get("meta"))
    size, weights = meta.get("size"), meta.get("n_params")
    bits = (
        f"{8 * size / weights:.1f} bits a weight"
        if isinstance(size, int) and isinstance(weights, int) and weights
        else ""
    )
    named = QUANTISED.search(" ".join(str(one) for one in (props.get("model_path"), entry.get("root"), model) if one))
    return version, said or ", ".join(filter(None, (named[0] if named else "", bits)))


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
