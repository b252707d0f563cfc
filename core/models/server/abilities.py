"""What a server can do, found out by asking: nothing is assumed from its kind or version."""

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from core.errors import AccessError, InputError, ServerError
from core.models.letter_mass import LetterMass
from core.models.server import list_checks, permission
from core.models.server.advice import hint, most_listed
from core.models.server.bodies import Body, chat_body, echo_body, id_body, letter_body
from core.models.server.client import (
    OF_ALL,
    MissingAnswerError,
    PassingError,
    RefusedError,
    ServerClient,
    UnreadableError,
    WrongReplyError,
)
from core.models.server.decision_probe import decision_of_probe
from core.models.server.decision_replies import Decided, Fault, log_bound
from core.models.server.list_checks import UNCHECKED, EchoedToken, Findings, ListCheck, ListFault
from core.models.server.provenance import version_and_quantisation
from core.models.server.replies import EchoedText, NextTokens, echoed, last_list, next_tokens
from core.models.server.reply_body import clean, count, mapping
from core.models.server_address import ServedWeights, addresses_near
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import FORMATS
from core.questions.prompting.reasoning import SWITCHES
from core.records import LETTERS

Found = TypeVar("Found")

MOST_LISTED = (-1, 20, 5, 1)
"""Numbers of next tokens to request, in this order: all of them (vLLM), then the numbers that the protocol allows."""
MOST_FOLLOWED = 1_000
"""The largest number of next tokens that a server can ask Hedge to request."""
MOST_MODELS = 5_000
PROBE = "Question: Which letter comes first?\nA. A\nB. B\nAnswer:"
NO_REASONING: Body = {"chat_template_kwargs": dict.fromkeys(SWITCHES, False)}
"""Switches reasoning off in the chat templates of vLLM, SGLang and llama.cpp; other servers refuse or ignore it."""
FAR_MORE = 10
"""Times the letter mass; a server that ignores the switch gives the same."""
PROBE_LETTERS = frozenset("AB")
BROAD, BROAD_CHAT = "Some words: the and of in to is was it a on. Some other words:", "Say a random word."
"""Texts that almost any token may follow. The first also holds likely ones, so that penalties show."""
SAID, OTHER_SAID = " A", " B"
ECHOED = 5
"""The most tokens that an echo has to list at each place."""
NO_ECHO = 2
"""Answers without an echo after which a server counts as one that gives none."""
FAILED = 500
NO_SUCH_PATH = (404, 405)
COMPLETIONS, CHAT, TEXTS = "completions", "chat answers", "the log-probabilities of a text"
"""What a server may fail on, in words."""
WAYS_OUT = {
    False: "start it so that it gives them, or use another server",
    True: "change what it names, or use another server",
}
"""What to do about a server without log-probabilities, by whether it says why."""
SPACES = re.compile("[\u0120\u2581]")
"""The characters with which tokenizers write a space."""


class NoListsError(InputError):
    """A server gives no log-probabilities, so it can only be asked for picks (:mod:`core.models.server.picks`)."""


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
    log-probability, and ``text_log_p`` the mean log-probability of the tokens of that text (0: no echo). ``lists`` and
    ``chat_lists`` say whether the tokens that the two endpoints list have the model's probabilities. ``failing`` is
    what the server failed on again and again while it did something simpler, as (:data:`COMPLETIONS`, :data:`CHAT` or
    :data:`TEXTS`, how it failed): it counts as not possible. ``refused`` are its words about what it refuses,
    by the same names. ``letters`` and ``chat_letters`` are the letter mass after :data:`PROBE` on the two endpoints
    (None: the list can't be believed). ``reasoning_off`` says that chats are asked with :data:`NO_REASONING`.
    ``decisions`` are the :data:`~core.questions.prompting.decision.DECISION_FORMATS` that the server answers.
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
    lists: ListCheck = UNCHECKED
    chat_lists: ListCheck = UNCHECKED
    failing: tuple[tuple[str, str], ...] = ()
    letters: LetterMass | None = None
    chat_letters: LetterMass | None = None
    reasoning_off: bool = False
    refused: tuple[tuple[str, str], ...] = ()
    decisions: tuple[str, ...] = ()

    @property
    def weights(self) -> ServedWeights:
        """What distinguishes these weights from others that the server may hold under the same name at another time. Of
        a server that is asked for decisions alone it is a probability, because these vary and may be rounded."""
        text = " · ".join(filter(None, (self.kind, self.root, self.quantisation)))
        probe = self.probe[1] if self.listed or self.chat_listed or not self.probe[0] else math.exp(self.probe[1])
        return ServedWeights(text, round(probe, 2), round(self.text_log_p, 2))

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats in which a run can ask for every option's probability."""
        able = {
            "plain": self.listed and not self.letters_fault(chat=False),
            "chat": self.chat_listed and not self.letters_fault(chat=True),
        }
        return (*(name for name in FORMATS if able[name]), *self.decisions)

    def letters_fault(self, *, chat: bool) -> ListFault | None:
        """What is wrong with the lists of an endpoint, unless letters are available without them: from an echo, or by
        their tokens' ids if only spellings are affected."""
        fault = (self.chat_lists if chat else self.lists).fault
        otherwise = not chat and (self.echo or (self.by_id and fault is not None and fault.by_spelling))
        return None if otherwise else fault

    @property
    def does(self) -> tuple[object, ...]:
        """The values that must be equal if several servers share the work."""
        lists = [(check.fault is None, check.temperature) for check in (self.lists, self.chat_lists)]
        return self.listed, self.chat_listed, self.echo, self.by_id, self.reasoning_off, self.decisions, *lists


def models(client: ServerClient) -> list[str]:
    """The names of the models on the server. Raises :class:`~core.errors.ServerError` if it can't be asked."""
    return sorted({entry["id"] for entry in _listed(client, client.urls[0])[1]})[:MOST_MODELS]


def abilities(
    client: ServerClient,
    model: str,
    *,
    all_needed: bool = True,
    lists_needed: bool = True,
    decisions: str = "",
    all_formats: bool = False,
) -> Abilities:
    """What the servers do for ``model``. Each is asked, and all must do the same.

    With ``all_needed`` off, a server that can't be reached is dropped if another can; with ``lists_needed`` off, one
    that gives no log-probabilities will do. With ``decisions``, only this format of requests is tried, and needed;
    with ``all_formats``, both formats of decisions are tried beside the rest. Raises :class:`InputError` if one of them
    has no such model, does not do what is needed, or is unlike the first;
    :class:`~core.errors.ServerError` if one that is needed can't be reached, or fails on all that it is asked.
    """
    by_url: dict[str, Abilities] = {}
    for url in client.urls:
        try:
            able = (
                _decides(client, url, model, decisions)
                if decisions
                else _abilities(client, url, model, lists_needed, all_formats)
            )
            by_url[client.corrected.get(url, url)] = able
        except PassingError:
            if all_needed or len(client.hosts) == 1:
                raise
            client.drop(url)
    first, *others = by_url
    for other in others:
        _check_alike(first, by_url[first], other, by_url[other])
    return by_url[first]


def _check_alike(first: str, abilities: Abilities, other: str, other_abilities: Abilities) -> None:
    """Raise :class:`InputError` if two servers can't share the work of one model."""
    way_out = "only servers of the same model and kind share the work, so give each a run of its own"
    for what, a, b in (
        ("are of the kind", abilities.kind, other_abilities.kind),
        ("hold the weights", abilities.root, other_abilities.root),
    ):
        if a != b:
            raise InputError(
                f"the servers {first} and {other} {what} {a or 'unknown'!r} and {b or 'unknown'!r}; {way_out}"
            )
    if abilities.does != other_abilities.does:
        for url, able in ((first, abilities), (other, other_abilities)):
            for what, how in able.failing:
                raise PassingError(failure(url, what, how), status=FAILED)
        raise InputError(f"the servers {first} and {other} do not give the same log-probabilities; {way_out}")
    lists = bool(abilities.listed or abilities.chat_listed)  # the first of two options of decisions may change
    if (lists and abilities.probe[0] != other_abilities.probe[0]) or abs(
        abilities.weights.log_p - other_abilities.weights.log_p
    ) > ServedWeights.ALIKE:
        a, b = (
            f"{token!r} the log-probability {log_p:.3f}" for token, log_p in (abilities.probe, other_abilities.probe)
        )
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


def _abilities(client: ServerClient, url: str, model: str, lists_needed: bool, all_formats: bool) -> Abilities:
    url, entry = _entry(client, url, model)
    failing: dict[str, PassingError | UnreadableError] = {}
    refused: dict[str, str] = {}
    endpoint, chat_endpoint = (kind(client, url, model, failing, refused) for kind in (_Endpoint, _ChatEndpoint))
    plain = endpoint.findings()
    trusted = plain.check if plain and plain.check.compared and not plain.check.fault else None
    chat = chat_endpoint.findings(temperature=trusted.temperature if trusted else None)
    first = plain or chat
    context = count(entry.get("max_model_len")) or count(mapping(entry.get("meta")).get("n_ctx_train"))
    version, quantisation = version_and_quantisation(client, url, model, entry)
    able = Abilities(
        kind=clean(entry.get("owned_by")),
        version=version,
        context=context,
        listed=0,
        chat_listed=0,
        echo=False,
        root=clean(entry.get("root")),
        quantisation=quantisation,
    )
    formats = DECISION_FORMATS if all_formats or first is None else ()
    answered = []
    for form in formats:
        with suppress(RefusedError) if first else nullcontext():  # a key may be for other endpoints alone
            answered += [form] * isinstance(decision_of_probe(client, url, model, form), Decided)
    able = replace(able, decisions=tuple(answered))
    if first is None:
        if not answered:
            for error in failing.values():
                raise error
        if not lists_needed:
            return able
        decides = f"; it answers decisions, so ask in that format (--format {answered[0]})" if answered else ""
        raise NoListsError(
            f"the server {url} gives no log-probabilities of next tokens, neither on its completions nor on its chat "
            f"endpoint{quoted(refused.items(), COMPLETIONS, CHAT)}"
            f"{decides or '; ' + (hint(' '.join(refused.values())) or WAYS_OUT[any(refused.values())])}"
        )
    lists, chat_lists = (each.check if each else UNCHECKED for each in (plain, chat))
    if lists.fault and lists.compared and not lists.fault.by_spelling:  # one sampler writes for both endpoints
        chat_lists = replace(chat_lists, fault=chat_lists.fault or lists.fault)
    return replace(
        able,
        listed=plain.most if plain else 0,
        chat_listed=chat.most if chat else 0,
        echo=bool(plain and plain.echo_right),
        echo_wrong=bool(plain and plain.echo_right is False),
        by_id=plain is not None and plain.most > 0 and _gives_by_id(client, url, model),
        probe=first.first.tokens[0],
        text_log_p=plain.text_log_p if plain and plain.echo_right else 0.0,
        lists=lists,
        chat_lists=chat_lists,
        failing=tuple((what, _how(error)) for what, error in failing.items()),
        refused=tuple(refused.items()),
        letters=_letters(plain.first) if plain and not lists.fault else None,
        chat_letters=_letters(chat.first) if chat and not chat_lists.fault else None,
        reasoning_off=bool(chat_endpoint.options),
    )


def _decides(client: ServerClient, url: str, model: str, form: str) -> Abilities:
    """What a server does that is asked for decisions alone; it may not list its models.

    Raises :class:`InputError` if it does not answer requests of this format.
    """
    try:
        url, entry = _entry(client, url, model)
    except (RefusedError, UnreadableError) as error:
        if isinstance(error, RefusedError) and error.status not in NO_SUCH_PATH:
            raise
        entry = {}
    reply = decision_of_probe(client, url, model, form)
    if isinstance(reply, Fault):
        raise InputError(
            f"the server {url} answers POST {url}/{form} for {model}, and not with a probability for every option "
            f"({reply.reason}); ask another model, or ask in another format (--format)"
        )
    if not isinstance(reply, Decided):
        raise InputError(
            f"the server {url} does not answer POST {url}/{form} for {model} ({reply}); check the address, the "
            "model and the key, or ask in another format (--format)"
        )
    version, quantisation = version_and_quantisation(client, url, model, entry)
    return Abilities(
        kind=clean(entry.get("owned_by")),
        version=version,
        context=count(entry.get("max_model_len")),
        listed=0,
        chat_listed=0,
        echo=False,
        root=clean(entry.get("root")),
        quantisation=quantisation,
        probe=max(zip(LETTERS, log_bound(reply), strict=False), key=lambda pair: pair[1]),
        decisions=(form,),
    )


def _letters(reply: NextTokens) -> LetterMass | None:
    """The letter mass after :data:`PROBE`, with each letter that is not listed at its upper bound."""
    listed = [(SPACES.sub(" ", token).strip(), log_p) for token, log_p in reply.tokens]
    missing = len(PROBE_LETTERS - {text for text, _ in listed})
    mass = sum(math.exp(log_p) for text, log_p in listed if text in PROBE_LETTERS) + missing * math.exp(reply.floor)
    return LetterMass.of_one(min(1.0, mass), is_bound=missing > 0, first=reply.tokens[0][0])


def quoted(refused: Iterable[tuple[str, str]], *what: str) -> str:
    """What the server says when it refuses these, to stand in a sentence; empty if it says nothing.

    >>> quoted([(COMPLETIONS, "No"), (CHAT, "No")], COMPLETIONS, CHAT)
    ', and says "No"'
    """
    sentences = dict.fromkeys(f'"{words}"' for name, words in refused if name in what and words)
    return f", and says {' and '.join(sentences)}" if sentences else ""


def _how(error: ServerError) -> str:
    status = error.status if isinstance(error, PassingError) else 0
    return f"HTTP status {status}" if status else "with an answer that can't be read"


def token_ids(client: ServerClient, url: str, model: str, text: str, tokens: Sequence[str]) -> dict[str, int]:
    """The ids of those of ``tokens`` that are single tokens after ``text``, as the server's ``/tokenize`` says."""
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    ids_by_token: dict[str, int] = {}
    for token in tokens:
        body = {"model": model, "prompt": text + token, "add_special_tokens": False, "return_token_strs": True}
        reply = _able(lambda body=body: client.post("/tokenize", body, dict, url=base, paid=False))  # type: ignore[misc]
        ids, spelled = (mapping(reply).get(name) for name in ("tokens", "token_strs"))
        if not (isinstance(ids, list) and isinstance(spelled, list) and ids and len(ids) == len(spelled)):
            return {}
        if isinstance(ids[-1], int) and SPACES.sub(" ", str(spelled[-1])) == token:
            ids_by_token[token] = ids[-1]
    return ids_by_token


def _entry(client: ServerClient, url: str, model: str) -> tuple[str, Mapping[str, Any]]:
    url, listed = _listed(client, url)
    known = {entry["id"]: entry for entry in listed}
    if model not in known:
        names = ", ".join(sorted(known)[:8]) or "none"
        raise InputError(f"the server {url} has no model {model!r}; it has {names}")
    return url, known[model]


def _reply_about_models(client: ServerClient, url: str) -> tuple[str, dict[str, Any]]:
    """The address at which the server lists its models, and its reply: the given address, or the API's own near it, on
    the same host and port. One that is not below the given address needs the same permission as any other."""
    try:
        return url, client.get("/models", url=url)
    except (RefusedError, UnreadableError) as error:
        if isinstance(error, RefusedError) and error.status not in NO_SUCH_PATH:
            raise
        for other in addresses_near(url):
            try:
                if not other.startswith(f"{url}/"):
                    permission.check([other], client.key_variable)
                reply = client.look("/models", url=other)
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
    named = [{**entry, "id": next(filter(None, map(entry.get, ("id", "name", "model"))), "")} for entry in listed]
    return url, [entry for entry in named if clean(entry["id"]) == entry["id"] != ""]


class _Endpoint:
    """The completions endpoint of one server, as :mod:`core.models.server.list_checks` asks it. ``first`` is its
    list after :data:`PROBE`. Features that fail although a simpler request is answered are in ``failing``, and its
    words about what it refuses into ``refused``."""

    path, what = "/completions", COMPLETIONS
    text, broad = PROBE, BROAD
    letters: tuple[str, ...] = (SAID, OTHER_SAID)
    switch: Body = MappingProxyType({})
    """Switches reasoning off, where there is a chat template."""

    def __init__(
        self,
        client: ServerClient,
        url: str,
        model: str,
        failing: dict[str, PassingError | UnreadableError],
        refused: dict[str, str],
    ) -> None:
        self.client = client
        self.url = url
        self.model = model
        self.failing = failing
        self.refused = refused
        self.first: NextTokens | None = None
        self.options: Body = {}
        """What each request says besides: the ``switch`` if letters are no answer without it."""
        self.without_echo = 0

    def body(self, text: str, most: int, temperature: int) -> Body:
        return letter_body(self.model, text, listed=most, temperature=temperature)

    def findings(self, *, temperature: int | None = None) -> Findings | None:
        """How far the endpoint's lists can be believed (:func:`~core.models.server.list_checks.checked`); None if
        it lists nothing."""
        most = self._most()
        self._switch_reasoning_off(most)
        return list_checks.checked(self, self.first, requested=most, temperature=temperature) if self.first else None

    def _most(self) -> int:
        body = self.body(self.text, 1, 0)
        plainly = {name: value for name, value in body.items() if name not in ("logprobs", "top_logprobs")}

        def simpler() -> object:
            return self.client.post(self.path, plainly, dict, url=self.url)

        words: list[str] = []
        numbers, tried = deque(MOST_LISTED), set[int]()
        while numbers:
            number = numbers.popleft()
            if number in tried:
                continue
            tried.add(number)
            try:
                reply = _able(
                    lambda number=number: self._listed(self.text, number),  # type: ignore[misc]
                    simpler=simpler,
                    on_refusal=words.append,
                )
            except RefusedError as error:  # the simpler request
                if error.status in OF_ALL:
                    raise
                self.refused[self.what] = error.words
                return 0
            except (PassingError, UnreadableError) as error:
                if isinstance(error, PassingError) and not error.alive:
                    raise
                self.failing[self.what] = error
                return 0
            if reply is None:
                most = most_listed(words[-1]) if words else 0
                if 0 < most < (number if number > 0 else MOST_FOLLOWED):
                    numbers.appendleft(most)
                continue
            if number > 0 or len(reply.tokens) > max(MOST_LISTED):  # otherwise it understood -1 in another way
                self.first = reply
                return number
        if words:
            self.refused[self.what] = words[-1]
        return 0

    def _switch_reasoning_off(self, most: int) -> None:
        """Keep the ``switch`` in all further requests if letters are no answer without it and far more with it."""
        before = _letters(self.first) if self.first and self.switch else None
        if before is None or not before.is_no_answer:
            return
        self.options = self.switch
        quiet = _able(lambda: self._listed(self.text, most))
        after = _letters(quiet) if quiet else None
        if after is not None and after.mean > FAR_MORE * before.mean:
            self.first = quiet
        else:
            self.options = {}

    def listed(self, text: str, most: int, *, temperature: int = 0) -> NextTokens | None:
        return _able(lambda: self._listed(text, most, temperature), simpler=lambda: self._listed(self.text, 1))

    def _listed(self, text: str, most: int, temperature: int = 0) -> NextTokens:
        read = partial(next_tokens, chat=self.path.startswith("/chat"), requested=most)
        return self.client.post(self.path, self.body(text, most, temperature), read, url=self.url)

    def continued(self, text: str, most: int) -> tuple[str, NextTokens | None] | None:
        def read(reply: dict[str, Any]) -> tuple[str, NextTokens | None]:
            first = next_tokens(reply, chat=False, requested=most).chosen
            try:
                second = next_tokens(reply, chat=False, requested=most, place=1)
            except MissingAnswerError:  # it ended after the first token
                second = None
            if first is None:
                raise WrongReplyError("the server does not say which token it wrote")
            return SPACES.sub(" ", first[0]), second

        body = {**self.body(text, most, 1), "max_tokens": 2}
        return _able(lambda: self.client.post(self.path, body, read, url=self.url))

    def echoed(self, text: str, token: str) -> EchoedToken | None:
        """See :class:`~core.models.server.list_checks.Asker`. A server that fails on an echo, or twice gives none,
        is asked for no other."""
        if TEXTS in self.failing or self.without_echo >= NO_ECHO:
            return None

        def read(reply: dict[str, Any]) -> tuple[EchoedText, dict[str, float]]:
            text_and_token = echoed(reply, text=text, continuation=token)
            return text_and_token, last_list(reply, text_and_token)

        def ask() -> tuple[EchoedText, dict[str, float]]:
            body = echo_body(self.model, text + token, listed=min(ECHOED, len(self.first.tokens) if self.first else 1))
            return self.client.post(self.path, body, read, url=self.url)

        reply = _able(
            ask,
            simpler=lambda: self._listed(self.text, 1),
            on_failure=lambda error: self.failing.setdefault(TEXTS, error),
            on_refusal=lambda words: self.refused.setdefault(TEXTS, words),
        )
        if reply is None:
            self.without_echo += 1
            return None
        echo, listed = reply
        before, behind = echo.log_p[1 : echo.context], echo.log_p[echo.context :]
        if len(behind) != 1 or echo.joined or any(math.isnan(value) for value in (*before, *behind)):
            return None
        return EchoedToken(token, behind[0], listed, sum(before) / max(len(before), 1))


class _ChatEndpoint(_Endpoint):
    """The chat endpoint, which echoes nothing."""

    path, what = "/chat/completions", CHAT
    broad = BROAD_CHAT
    letters: tuple[str, ...] = ()
    switch = NO_REASONING

    def body(self, text: str, most: int, temperature: int) -> Body:
        messages = [{"role": "user", "content": text}]
        return {**chat_body(self.model, messages, listed=most, temperature=temperature), **self.options}

    def echoed(self, text: str, token: str) -> EchoedToken | None:
        return None

    def continued(self, text: str, most: int) -> tuple[str, NextTokens | None] | None:
        return None


def _gives_by_id(client: ServerClient, url: str, model: str) -> bool:
    ids = token_ids(client, url, model, PROBE, (SAID, OTHER_SAID))
    if len(ids) < 2:
        return False

    def post(body: Body) -> NextTokens:
        return client.post("/completions", body, partial(next_tokens, chat=False, requested=1), url=url)

    listed = _able(
        lambda: post(id_body(model, PROBE, list(ids.values()))),
        simpler=lambda: post(letter_body(model, PROBE, listed=1)),
    )
    return listed is not None and all(listed.log_p(token) is not None for token in ids)


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
    words of a refusal, which may be empty. One of :data:`OF_ALL` raises.
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
            on_refusal(error.words)
            return None
        if not again:
            simpler()
    return None
