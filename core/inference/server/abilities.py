"""What a server can do, found out by asking: nothing is assumed from its kind or version."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from core.errors import AccessError, InputError, ServerError
from core.inference.server import permission
from core.inference.server.address import ServedWeights, addresses_near
from core.inference.server.advice import hint, most_listed
from core.inference.server.bodies import Body, chat_body, echo_body, id_body, letter_body
from core.inference.server.client import (
    PassingError,
    RefusedError,
    ServerClient,
    UnreadableError,
    WrongReplyError,
)
from core.inference.server.provenance import mapping, told
from core.inference.server.replies import EchoedText, NextTokens, echoed, next_tokens
from core.inference.server.reply_body import clean, count
from core.letter_mass import LetterMass

Found = TypeVar("Found")

MOST_LISTED = (-1, 20, 5, 1)
"""Numbers of next tokens to request, in this order: all of them (vLLM), then the numbers that the protocol allows."""
MOST_FOLLOWED = 1_000
"""The largest number of next tokens that a server can ask Hedge to request."""
MOST_MODELS = 5_000
PROBE = "Question: Which letter comes first?\nA. A\nB. B\nAnswer:"
NO_REASONING: Body = {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}
"""Switches reasoning off in the chat templates of vLLM, SGLang and llama.cpp; other servers refuse or ignore it."""
FAR_MORE = 10
"""Times the letter mass; a server that ignores the switch gives the same."""
PROBE_LETTERS = frozenset("AB")
SAID = " A"
FAILED = 500
NO_SUCH_PATH = (404, 405)
OF_ALL = (401, 402)
"""The status codes of refusals that concern every request: a wrong key, no credit."""
COMPLETIONS, CHAT, TEXTS = "completions", "chat answers", "the log-probabilities of a text"
"""What a server may fail on, in words."""
SPACES = re.compile("[\u0120\u2581]")
"""The characters with which tokenizers write a space."""


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
    log-probability, and ``text_log_p`` the mean log-probability of the tokens of that text (0: no echo). ``failing`` is
    what the server failed on again and again while it did something simpler, as (:data:`COMPLETIONS`, :data:`CHAT` or
    :data:`TEXTS`, how it failed): it counts as not possible. ``refused`` are its words about what it refuses,
    by the same names. ``letters`` and ``chat_letters`` are the letter mass after :data:`PROBE` on the two endpoints.
    ``reasoning_off`` says that chats are asked with :data:`NO_REASONING`.
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
    text_log_p: float = 0.0
    failing: tuple[tuple[str, str], ...] = ()
    letters: LetterMass | None = None
    chat_letters: LetterMass | None = None
    reasoning_off: bool = False
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def weights(self) -> ServedWeights:
        """What distinguishes these weights from others that the server may hold under the same name at another time."""
        told = " · ".join(filter(None, (self.kind, self.root, self.quantisation)))
        return ServedWeights(told, round(self.probe[1], 2), round(self.text_log_p, 2))

    @property
    def does(self) -> tuple[int, int, bool, bool, bool]:
        """The values that must be equal if several servers share the work."""
        return self.listed, self.chat_listed, self.echo, self.by_id, self.reasoning_off


def models(client: ServerClient) -> list[str]:
    """The names of the models on the server. Raises :class:`~core.errors.ServerError` if it can't be asked."""
    return sorted({one["id"] for one in _listed(client, client.urls[0])[1]})[:MOST_MODELS]


def abilities(client: ServerClient, model: str, *, all_needed: bool = True) -> Abilities:
    """What the servers do for ``model``. Each is asked, and all must do the same.

    With ``all_needed`` off, a server that can't be reached is dropped if another can. Raises :class:`InputError` if one
    of them has no such model, gives no log-probabilities at all, or is unlike the first;
    :class:`~core.errors.ServerError` if one that is needed can't be reached, or fails on all that it is asked.
    """
    found: dict[str, Abilities] = {}
    for url in client.urls:
        try:
            found[client.corrected.get(url, url)] = _abilities(client, url, model)
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
        for url, able in ((first, one), (other, two)):
            for what, how in able.failing:
                raise PassingError(failure(url, what, how), status=FAILED)
        raise InputError(f"the servers {first} and {other} do not give the same log-probabilities; {way_out}")
    if one.probe[0] != two.probe[0] or abs(one.probe[1] - two.probe[1]) > ServedWeights.ALIKE:
        a, b = (f"{token!r} the log-probability {log_p:.3f}" for token, log_p in (one.probe, two.probe))
        raise InputError(
            f"after the same text the server {first} gives {a} and {other} gives {b}, so they do not hold the same "
            f"weights; {way_out}"
        )


def failure(url: str, what: str, how: str) -> str:
    """The message to a person if something is needed on which the server fails."""
    return (
        f"the server {url} fails ({how}) when it is asked for {what}, though it answers simpler requests; if its log "
        "shows a fault that has passed, try again, and otherwise it can't do this"
    )


def _abilities(client: ServerClient, url: str, model: str) -> Abilities:
    url, entry = _entry(client, url, model)
    failing: dict[str, PassingError | UnreadableError] = {}
    refused: dict[str, str] = {}
    messages = [{"role": "user", "content": PROBE}]
    listed, probe = _most(client, url, "/completions", lambda n: letter_body(model, PROBE, listed=n), failing, refused)
    chat_listed, said = _most(
        client, url, "/chat/completions", lambda n: chat_body(model, messages, listed=n), failing, refused
    )
    quiet = _without_reasoning(client, url, model, said, chat_listed)
    if not listed and not chat_listed:
        for error in failing.values():
            raise error
        raise InputError(
            f"the server {url} gives no log-probabilities of next tokens, neither on its completions nor on its chat "
            f"endpoint{quoted(refused.items(), COMPLETIONS, CHAT)}; "
            f"{hint(' '.join(refused.values())) or 'start it so that it gives them, or use another server'}"
        )
    echo, text_log_p = _echoes(client, url, model, listed, failing, refused) if listed else (False, 0.0)
    context = count(entry.get("max_model_len")) or count(mapping(entry.get("meta")).get("n_ctx_train"))
    version, quantisation = told(client, url, model, entry)
    return Abilities(
        kind=clean(entry.get("owned_by")),
        version=version,
        context=context,
        listed=listed,
        chat_listed=chat_listed,
        echo=bool(echo),
        echo_wrong=echo is None,
        root=clean(entry.get("root")),
        quantisation=quantisation,
        by_id=listed > 0 and _gives_by_id(client, url, model),
        probe=next((given.tokens[0] for given in (probe, said) if given), ("", 0.0)),
        text_log_p=text_log_p,
        failing=tuple((what, _how(error)) for what, error in failing.items()),
        refused=tuple(refused.items()),
        letters=_letters(probe),
        chat_letters=_letters(quiet or said),
        reasoning_off=quiet is not None,
    )


def _without_reasoning(
    client: ServerClient, url: str, model: str, said: NextTokens | None, listed: int
) -> NextTokens | None:
    """What the chat endpoint says after :data:`PROBE` with :data:`NO_REASONING`, if letters are no answer without it
    and have far more probability with it; else None."""
    before = _letters(said)
    if before is None or not before.is_no_answer:
        return None

    def ask() -> NextTokens:
        body = {**chat_body(model, [{"role": "user", "content": PROBE}], listed=listed), **NO_REASONING}
        return client.post("/chat/completions", body, lambda reply: next_tokens(reply, chat=True, asked=listed), of=url)

    found = _able(ask)
    after = _letters(found)
    return found if after is not None and after.mean > FAR_MORE * before.mean else None


def _letters(given: NextTokens | None) -> LetterMass | None:
    """The letter mass after :data:`PROBE`, with each letter that is not listed at its upper bound."""
    if given is None:
        return None
    listed = [(SPACES.sub(" ", token).strip(), log_p) for token, log_p in given.tokens]
    missing = len(PROBE_LETTERS - {text for text, _ in listed})
    mass = sum(math.exp(log_p) for text, log_p in listed if text in PROBE_LETTERS) + missing * math.exp(given.floor)
    return LetterMass.of_one(min(1.0, mass), is_bound=missing > 0, first=given.tokens[0][0])


def quoted(refused: Iterable[tuple[str, str]], *what: str) -> str:
    """What the server says when it refuses these, to stand in a sentence; empty if it says nothing.

    >>> quoted([(COMPLETIONS, "No"), (CHAT, "No")], COMPLETIONS, CHAT)
    ', and says "No"'
    """
    said = dict.fromkeys(f'"{words}"' for name, words in refused if name in what and words)
    return f", and says {' and '.join(said)}" if said else ""


def _how(error: ServerError) -> str:
    status = error.status if isinstance(error, PassingError) else 0
    return f"HTTP status {status}" if status else "with an answer that can't be read"


def token_ids(client: ServerClient, url: str, model: str, text: str, said: Sequence[str]) -> dict[str, int]:
    """The id of each of ``said`` that is one token of its own behind ``text``, as the server's ``/tokenize`` tells."""
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    found: dict[str, int] = {}
    for one in said:
        body = {"model": model, "prompt": text + one, "add_special_tokens": False, "return_token_strs": True}
        reply = _able(lambda body=body: client.post("/tokenize", body, dict, of=base, paid=False))  # type: ignore[misc]
        ids, spelled = (mapping(reply).get(name) for name in ("tokens", "token_strs"))
        if not (isinstance(ids, list) and isinstance(spelled, list) and ids and len(ids) == len(spelled)):
            return {}
        if isinstance(ids[-1], int) and SPACES.sub(" ", str(spelled[-1])) == one:
            found[one] = ids[-1]
    return found


def _entry(client: ServerClient, url: str, model: str) -> tuple[str, Mapping[str, Any]]:
    url, listed = _listed(client, url)
    known = {one["id"]: one for one in listed}
    if model not in known:
        names = ", ".join(sorted(known)[:8]) or "none"
        raise InputError(f"the server {url} has no model {model!r}; it has {names}")
    return url, known[model]


def _reply_about_models(client: ServerClient, url: str) -> tuple[str, dict[str, Any]]:
    """The address at which the server lists its models, and its reply: the given address, or the API's own near it, on
    the same host and port. One that is not below the given address needs the same permission as any other."""
    try:
        return url, client.get("/models", of=url)
    except (RefusedError, UnreadableError) as error:
        if isinstance(error, RefusedError) and error.status not in NO_SUCH_PATH:
            raise
        for other in addresses_near(url):
            try:
                if not other.startswith(f"{url}/"):
                    permission.check([other], client.key_variable)
                reply = client.look("/models", of=other)
            except (ServerError, AccessError):
                continue
            if _models_in(reply):
                client.correct(url, other)
                return other, reply
        raise


def _models_in(reply: Mapping[str, Any]) -> list[Any]:
    return next((reply[key] for key in ("data", "models") if isinstance(reply.get(key), list)), [])


def _listed(client: ServerClient, url: str) -> tuple[str, list[Mapping[str, Any]]]:
    """The address that is used, and the models on the server, without those whose names nobody could read: too long, or
    with control characters.

    The list is ``data``, ``models``, or the whole reply, and a name is an ``id``, a ``name`` or a ``model``.
    """
    url, reply = _reply_about_models(client, url)
    listed = map(mapping, _models_in(reply))
    named = [{**one, "id": next(filter(None, map(one.get, ("id", "name", "model"))), "")} for one in listed]
    return url, [one for one in named if clean(one["id"]) == one["id"] != ""]


def _most(
    client: ServerClient,
    url: str,
    path: str,
    body: Callable[[int], Body],
    failing: dict[str, PassingError | UnreadableError],
    refused: dict[str, str],
) -> tuple[int, NextTokens | None]:
    """The most next tokens that an endpoint gives, or 0 if it gives none, and the tokens after :data:`PROBE`.

    An endpoint that fails even on a request without log-probabilities is put into ``failing``. If it refuses them all,
    its words are put into ``refused``.
    """
    chat = path.startswith("/chat")
    what = CHAT if chat else COMPLETIONS
    words: list[str] = []
    plainly = {name: value for name, value in body(1).items() if name not in ("logprobs", "top_logprobs")}

    def simpler() -> object:
        return client.post(path, plainly, dict, of=url)

    numbers, tried = deque(MOST_LISTED), set[int]()
    while numbers:
        asked = numbers.popleft()
        if asked in tried:
            continue
        tried.add(asked)

        def read(reply: dict[str, Any], asked: int = asked) -> NextTokens:
            return next_tokens(reply, chat=chat, asked=asked)

        def ask(asked: int = asked, read: Callable[[dict[str, Any]], NextTokens] = read) -> NextTokens:
            return client.post(path, body(asked), read, of=url)

        try:
            given = _able(ask, simpler=simpler, on_refusal=words.append)
        except RefusedError as error:  # the simpler request
            if error.status in OF_ALL:
                raise
            refused[what] = error.words
            return 0, None
        except (PassingError, UnreadableError) as error:
            if isinstance(error, PassingError) and not error.alive:
                raise
            failing[what] = error
            return 0, None
        if given is None:
            most = most_listed(words[-1]) if words else 0
            if 0 < most < (asked if asked > 0 else MOST_FOLLOWED):
                numbers.appendleft(most)
            continue
        if asked > 0 or len(given.tokens) > max(MOST_LISTED):  # otherwise the server understood -1 in another way
            return asked, given
    if words:
        refused[what] = words[-1]
    return 0, None


def _gives_by_id(client: ServerClient, url: str, model: str) -> bool:
    ids = token_ids(client, url, model, PROBE, (SAID, " B"))
    if len(ids) < 2:
        return False

    def read(reply: dict[str, Any]) -> NextTokens:
        return next_tokens(reply, chat=False, asked=1)

    def ask() -> NextTokens:
        return client.post("/completions", id_body(model, PROBE, list(ids.values())), read, of=url)

    found = _able(ask, simpler=lambda: client.post("/completions", letter_body(model, PROBE, listed=1), read, of=url))
    return found is not None and all(found.log_p(token) is not None for token in ids)


def _echoes(
    client: ServerClient,
    url: str,
    model: str,
    listed: int,
    failing: dict[str, PassingError | UnreadableError],
    refused: dict[str, str],
) -> tuple[bool | None, float]:
    """Whether the server echoes a text with its log-probabilities (None: it does, but with wrong ones), and their mean.

    Some servers give each token the log-probability that it has a place further on (llama-cpp-python 0.3), or all the
    same. So what a token has behind a text must be what is listed for it after the text. If the server fails on the
    first echo while it lists tokens, that is put into ``failing``; its words are put into ``refused``.
    """

    def read_next(reply: dict[str, Any]) -> NextTokens:
        return next_tokens(reply, chat=False, asked=listed)

    def most_likely() -> NextTokens:
        return client.post("/completions", letter_body(model, PROBE, listed=min(listed, 5)), read_next, of=url)

    for token, log_p in most_likely().tokens[:5]:

        def read(reply: dict[str, Any], token: str = token) -> EchoedText:
            return echoed(reply, text=PROBE, continuation=token)

        def ask(token: str = token, read: Callable[[dict[str, Any]], EchoedText] = read) -> EchoedText:
            return client.post("/completions", echo_body(model, PROBE + token), read, of=url)

        if not token.strip() or not token.isascii():
            continue
        found = _able(
            ask,
            simpler=most_likely,
            on_failure=lambda error: failing.setdefault(TEXTS, error),
            on_refusal=lambda words: refused.setdefault(TEXTS, words),
        )
        if TEXTS in failing:
            break
        if found is None:
            continue
        scored, said = found.log_p[1 : found.context], found.log_p[found.context :]
        if any(value != value for value in (*scored, *said)):
            break
        if len(said) == 1 and not found.joined:
            is_right = abs(said[0] - log_p) <= ServedWeights.ALIKE
            return (True, sum(scored) / max(len(scored), 1)) if is_right else (None, 0.0)
    return False, 0.0


def _able(
    ask: Callable[[], Found],
    *,
    simpler: Callable[[], object] = lambda: None,
    on_failure: Callable[[PassingError | UnreadableError], object] = lambda error: None,
    on_refusal: Callable[[str], object] = lambda words: None,
) -> Found | None:
    """The answer to a request, or None if the server can't do it; a server that is gone raises.

    A server fails (HTTP status 500, half an answer) because of a fault that passes, or because it can't do what it was
    asked. So it is asked once more after it did something ``simpler``, which raises if the server fails on that as
    well; only if it fails again does it count as not able, and ``on_failure`` hears of it. ``on_refusal`` hears the
    words of a refusal. One of :data:`OF_ALL` raises.
    """
    for again in (False, True):
        try:
            return ask()
        except (PassingError, UnreadableError) as error:
            if isinstance(error, PassingError) and not error.alive:
                raise
            if again:
                on_failure(error)
        except (RefusedError, WrongReplyError) as error:
            if isinstance(error, RefusedError) and error.status in OF_ALL:
                raise
            if error.words:
                on_refusal(error.words)
            return None
        if not again:
            simpler()
    return None
