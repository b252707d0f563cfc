"""Scoring with a model on a server, by the same protocol as the transformers engine.

**Letters.** One token is written after each prompt, and the server lists the most probable ones. A letter is the token
that follows ``Answer:`` as the transformers engine takes it, in the one spelling (with or without its space) that has
most of the probability in the self-check's questions. A letter that is not listed is asked for again: in a list of all
tokens, or by the log-probability of the prompt with the letter behind it, where the server gives one of these. Where it
gives neither, only an upper bound is known, and :attr:`OptionLogits.bounded` marks it. Where the list does not hold the
model's probabilities (:mod:`core.models.server.list_checks`), the letters are asked for in another way, or refused.

**Texts.** The server echoes prompt and option with their log-probabilities; an option's score is the sum over its
tokens, which begin where the transformers engine's do.

Plain prompts go to the completions endpoint, prompts in chat format to the chat endpoint, in the server's own template.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from core.errors import InputError, SelfCheckError, ServerError
from core.models.engine import SelfCheck
from core.models.letter_mass import check_first, letter_mass, spelled, way_out
from core.models.rows import common_prefix
from core.models.server.abilities import (
    CHAT,
    COMPLETIONS,
    FAILED,
    NO_REASONING,
    PROBE,
    TEXTS,
    Abilities,
    abilities,
    failure,
    quoted,
    token_ids,
)
from core.models.server.bodies import Body, chat_body, echo_body, greedy_body, id_body, letter_body, sampled_body
from core.models.server.client import (
    MissingAnswerError,
    PassingError,
    Patience,
    RefusedError,
    ServerClient,
    TokenRequest,
    WrongReplyError,
)
from core.models.server.left_out import LeftOut, NoAnswer
from core.models.server.list_checks import UNCHECKED, alike, contradiction, fault_of, shared_letter
from core.models.server.replies import EchoedText, NextTokens, echoed, echoed_rows, next_tokens, written
from core.models.server.spending import Spending
from core.models.server_address import ServedWeights
from core.questions.prompting.written import answer_line
from core.records import LETTERS, OptionLogits, Prompt, joined

Answer = TypeVar("Answer")

CHUNK = 128
"""Questions per chunk, few enough that a killed worker loses little; chunks do not wait for one another."""
BY_ID = -1
"""The place of a request that names the tokens' ids."""
WAITING = math.inf
"""Stands for a log-probability that has been requested."""
PROBED = 5
"""The tokens among which that of the beginning is looked for at the end of a run."""
CHECKED_QUESTIONS = 4
CHECK_ROUNDS = 3
"""How often questions that the server does not answer are replaced in the self-check."""
TOLERANCE = 0.1
"""The largest allowed difference in the log-probability of a letter between asking one prompt and asking several at the
same time: servers compute in half precision, in batches that change. For a text it grows with the square root of its
tokens."""
USUAL = 20
"""The number of next tokens to request at first, even if the server can list its whole vocabulary."""
WRITTEN = 24
"""The most tokens of a written answer, as in the transformers engine."""
SPELLINGS = (" {}", "{}", "▁{}", "Ġ{}")
"""How servers spell a letter's token: with its space, without, or with their tokenizer's sign for the space."""


class ServerEngine:
    """One model on one or several servers."""

    lists_needed = True
    """Whether the server has to give log-probabilities."""
    figures = "log-probabilities"
    """What the server gives, as sentences name it."""
    decisions = ""
    """The format of requests for decisions that is asked, if it is one."""

    def __init__(self, client: ServerClient, model: str, able: Abilities) -> None:
        self.client = client
        self.model = model
        self.able = able
        self.spelling = ""
        self.ids: dict[str, int] = {}
        self.bounded = 0
        self.endpoint = ""
        self.lists = UNCHECKED
        self.lettered = False
        self.left_out = LeftOut()
        self.options: Mapping[str, Sequence[str]] = {}
        """The texts of each question's options, by its id, for reading answers in writing."""

    @classmethod
    def load(
        cls,
        model: str,
        *,
        servers: Sequence[str],
        key_variable: str = "",
        spending: Spending | None = None,
        patience: Patience | None = None,
        timeout_s: float | None = None,
        all_needed: bool = True,
        on_wait: Callable[[str], None] = lambda reason: None,
    ) -> ServerEngine:
        """Find out what the servers can do for ``model``; see :func:`~core.models.server.abilities.abilities`.

        ``spending`` is what may be spent and counts it, ``timeout_s`` is how long one answer may take, and ``on_wait``
        is told why while nothing arrives.
        Raises :class:`~core.errors.InputError` if a server has no such model or gives no log-probabilities, and
        :class:`~core.errors.ServerError` if one can't be reached.
        """
        client = ServerClient(
            servers,
            key_variable=key_variable,
            spending=spending,
            patience=patience,
            timeout_s=timeout_s,
            on_wait=on_wait,
        )
        try:
            able = abilities(
                client, model, all_needed=all_needed, lists_needed=cls.lists_needed, decisions=cls.decisions
            )
            return cls(client, model, able)
        except BaseException:
            client.close()
            raise

    @property
    def chunk(self) -> int:
        return CHUNK

    @property
    def description(self) -> dict[str, Any]:
        """The servers, model and versions that compute, for ``run.json``. It contains no key."""
        able, spending = self.able, self.client.spending
        return {
            "model": self.model,
            "servers": list(self.client.urls),
            "device": f"server {', '.join(self.client.urls)}",
            "server_kind": able.kind,
            "server_version": able.version,
            "server_model": able.root,
            "quantisation": able.quantisation,
            "endpoint": self.endpoint,
            "template": "the server's own" if self.endpoint == "chat" else "",
            **({"reasoning_off": True} if self.endpoint == "chat" and able.reasoning_off else {}),
            "context": able.context,
            "listed_tokens": able.chat_listed if self.endpoint == "chat" else able.listed,
            "echo": able.echo,
            "echo_wrong": able.echo_wrong,
            "lists": self.lists.line if self.lettered else "",
            "lists_unchecked": self.lettered and not self.lists.compared,
            "letters_by_id": bool(self.ids),
            "letter_spelling": self.spelling,
            "weights": asdict(able.weights),
            "bounded_questions": self.bounded,
            "in_flight": self.client.flight.best,
            "changed_requests": list(self.client.changes),
            "tokens_read": spending.read,
            "tokens_written": spending.written,
            "cost": spending.cost,
            "sampling_unstated": ", ".join(self.client.unstated),
        }

    @property
    def counted(self) -> dict[str, Any]:
        """The part of :attr:`description` that is counted over all tries of a run, for its caveats."""
        return {}

    def take_counted(self, earlier: Mapping[str, Any]) -> None:
        """Continue :attr:`counted` from the description of an ``earlier`` try, whose answers are kept."""

    def check_weights(self, earlier: Mapping[str, Any], *, what: str = "run") -> None:
        """Raise :class:`~core.errors.InputError` if the run, or ``what`` else is made, already has answers of other
        weights, according to the description ``earlier`` of its engine. They must not be mixed."""
        before = ServedWeights.from_json(earlier.get("weights"))
        if before:
            before.check_still(
                self._weights_now(before),
                model=self.model,
                url=self.client.urls[0],
                since=f"this {what} began",
                way_out="serve those again and resume it, or repeat it",
            )

    def _weights_now(self, before: ServedWeights) -> ServedWeights:
        """What identifies the server's weights now, to compare with ``before``."""
        return self.able.weights

    def check_same_weights(self) -> None:
        """Raise :class:`~core.errors.InputError` if a server answers :data:`PROBE` otherwise than at the beginning of
        the run: it was restarted with other weights meanwhile. A server that does not answer is not checked."""
        chat = not self.able.listed
        lists, most = (self.able.chat_lists, self.able.chat_listed) if chat else (self.able.lists, self.able.listed)
        most = min(PROBED, most) if most > 0 else PROBED
        probe = Prompt("", PROBE, 2, chat=chat)
        body = self._list_body(probe, most, lists.temperature)
        token, before = self.able.probe

        read = partial(next_tokens, chat=chat, requested=most)
        for url in self.client.urls:
            try:
                listed = self.client.post(_path(chat), body, read, url=url)
            except ServerError:
                continue
            now = max((log_p for name, log_p in listed.tokens if name == token), default=listed.floor)
            if abs(now - before) > ServedWeights.ALIKE:
                raise InputError(
                    f"the server {url} gave {token!r} the log-probability {before:.2f} after a text when this run "
                    f"began, and gives it {now:.2f} now, so it was restarted with other weights, and the answers of "
                    "this try are not kept; resume the run when the server stays as it is"
                )

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Check whether the server can answer such prompts.

        Raises :class:`~core.errors.InputError` if it can't, and :class:`PassingError` if it failed when it was asked.
        """
        chat, texts = prompts[0].chat, bool(prompts[0].continuations)
        where = f"the server {self.client.urls[0]}"
        if texts and chat:
            raise InputError(
                "a server does not say how likely a text is in its chat format; score texts in the plain format "
                "(--format plain), or ask for letters"
            )
        if texts:
            self._need_echo()
        if any(not prompt.text for prompt in prompts):
            raise InputError("a server does not say how likely the first token of a text is")
        if not (self.able.chat_listed if chat else self.able.listed):
            self._say_failure(CHAT if chat else COMPLETIONS)
            other = "plain" if chat else "chat"
            raise InputError(
                f"{where} gives no log-probabilities on its {'chat' if chat else 'completions'} endpoint"
                f"{quoted(self.able.refused, CHAT if chat else COMPLETIONS)}; ask in the {other} format "
                f"(--format {other})"
            )
        if not texts and (fault := self.able.letters_fault(chat=chat)):
            raise InputError(fault.sentence(self.client.urls[0]))
        self.endpoint = "chat" if chat else "completions"
        self.lettered = not texts
        self.lists = self.able.chat_lists if chat else self.able.lists
        self.spelling, self.ids = "", {}
        self.bounded = 0
        self.left_out = LeftOut(len(prompts))
        if chat and prompts[0].system:
            self._need_system(prompts[0].system)

    def self_check(self, prompts: Sequence[Prompt]) -> SelfCheck:
        """Ask a few prompts one after the other and then all at once, and compare.

        Prompts that the server does not answer are replaced by others. Raises :class:`~core.errors.SelfCheckError` if
        every option scores the same, or no letter is ever listed, and :class:`~core.errors.ServerError` if no prompt is
        answered.
        """
        bounded, left_out = self.bounded, self.left_out
        self.left_out = LeftOut()
        rows = sorted(prompts, key=lambda prompt: len(prompt.text))
        if rows[0].continuations:
            chosen, alone = self._first_answers(rows, self._alone)
        else:
            chosen, heard = self._first_answers(rows, self._heard)
            self.spelling = SPELLINGS[0]
            if not self.lists.fault:
                self.spelling = self._spelling([(prompt, heard[prompt.question_id]) for prompt in chosen])
                self._compare_with_echo(chosen[0], heard[chosen[0].question_id])
            if self.able.by_id and not chosen[0].chat:
                tokens = [self.spelling.format(letter) for letter in LETTERS[: max(prompt.k for prompt in prompts)]]
                self.ids = token_ids(self.client, self.client.urls[0], self.model, PROBE, tokens)
            alone = self._alone(chosen)
        together = {scored.ids[0]: scored for scored in self._scores(chosen)}
        compared = [prompt for prompt in chosen if prompt.question_id in alone.keys() & together.keys()]
        self.left_out.confirm(len(compared))
        self.bounded, self.left_out = bounded, left_out
        self._refuse_equal([alone[prompt.question_id] for prompt in compared])
        first = joined(
            [alone[p.question_id] for p in compared],
            [p.question_id for p in compared],
            k=max(prompt.k for prompt in compared),
        )
        check_first(letter_mass(first), chat=compared[0].chat)
        difference = max(_difference(alone[p.question_id], together[p.question_id]) for p in compared)
        by_echo = self.lists.fault and self.able.echo and not chosen[0].continuations
        refused = (f"the list of next tokens: {self.lists.line}",) if by_echo else ()
        way = "the echo" if by_echo else self.endpoint
        return SelfCheck(len(compared), difference, TOLERANCE, rung=f"{way} of the server", refused=refused)

    def _first_answers(
        self, rows: Sequence[Prompt], ask: Callable[[Sequence[Prompt]], dict[str, Answer]]
    ) -> tuple[list[Prompt], dict[str, Answer]]:
        """A few of the prompts, spread over all, with the answers to them by their ids. ``ask`` leaves out those that
        the server does not answer, and others take their places."""
        left, chosen = list(rows), list[Prompt]()
        answers: dict[str, Answer] = {}
        for _ in range(CHECK_ROUNDS):
            wanted = min(CHECKED_QUESTIONS - len(chosen), len(left))
            if wanted <= 0:
                break
            places = sorted({round(i) for i in np.linspace(0, len(left) - 1, wanted)})
            picked = [left[i] for i in places]
            answers |= ask(picked)
            chosen += [prompt for prompt in picked if prompt.question_id in answers]
            left = [prompt for i, prompt in enumerate(left) if i not in places]
        self.left_out.confirm(len(chosen))
        return chosen, answers

    def _alone(self, prompts: Sequence[Prompt]) -> dict[str, OptionLogits]:
        return {scored.ids[0]: scored for prompt in prompts for scored in self._scores([prompt])}

    def _heard(self, prompts: Sequence[Prompt]) -> dict[str, NextTokens]:
        """The most probable tokens after prompts, by their ids."""
        requests = deque(self._list_request(prompt, i, self._usual(prompt.chat)) for i, prompt in enumerate(prompts))

        def leave_out(place: tuple[int, ...], missing: NoAnswer) -> None:
            self.left_out.add(prompts[place[0]].question_id, missing)

        heard = {request.place[0]: tokens for request, tokens in self.client.stream(requests, leave_out=leave_out)}
        return {prompts[i].question_id: tokens for i, tokens in heard.items() if isinstance(tokens, NextTokens)}

    def score(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        """Score prompts, and yield each as soon as it is answered. Those that the server does not answer are
        :attr:`left_out`. Raises :class:`~core.errors.ServerError` if these are too many, or all."""
        answered = 0
        for scored in self._scores(prompts):
            answered += 1
            yield scored
        self.left_out.confirm(answered or len(prompts) < self.left_out.total)

    def _scores(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        if not prompts:
            return
        yield from self._texts(prompts) if prompts[0].continuations else self._letters(prompts)

    def joins(self, prompts: Sequence[Prompt]) -> bool:
        """Whether a token reaches from any prompt's text into what follows it. Raises as :meth:`echo`."""
        texts = [(prompt.text, continuation) for prompt in prompts for continuation in prompt.continuations]
        return any(echo.joined for _, echo in self.echo(texts))

    def write(
        self, prompts: Sequence[Prompt], *, repeats: int, seeds: Sequence[int], most: int = WRITTEN
    ) -> Iterator[tuple[int, list[str]]]:
        """The index of each prompt with ``repeats`` answers of at most this many tokens, sampled at temperature 1
        from the whole distribution. All prompts are asked at the same time."""
        if not prompts:
            return
        chat = prompts[0].chat
        bodies: list[Body] = [
            sampled_body(self.model, self._asked(prompt), most=most, seed=seed * repeats + i)
            for prompt, seed in zip(prompts, seeds, strict=True)
            for i in range(repeats)
        ]
        texts_by_prompt: dict[int, dict[int, str]] = {}

        def leave_out(place: int, missing: NoAnswer) -> None:
            self.left_out.add(prompts[place // repeats].question_id, missing)

        answers = self.client.ask(_path(chat), bodies, lambda _, reply: written(reply, chat=chat), leave_out=leave_out)
        for place, text in answers:
            i, repeat = divmod(place, repeats)
            texts_by_prompt.setdefault(i, {})[repeat] = text
            if len(texts_by_prompt[i]) == repeats:
                texts = texts_by_prompt.pop(i)
                yield i, [texts[repeat] for repeat in range(repeats)]

    @property
    def _chat_options(self) -> Body:
        return NO_REASONING if self.able.reasoning_off else {}

    def _asked(self, prompt: Prompt) -> Body:
        return {"messages": _messages(prompt), **self._chat_options} if prompt.chat else {"prompt": prompt.text}

    def answers(
        self, prompts: Sequence[str], *, leave_out: Callable[[int, NoAnswer], object] = lambda i, missing: None
    ) -> Iterator[tuple[int, str]]:
        """The index of each prompt with the model's greedy answer, in any order; the same as
        :meth:`core.models.generation.Generator.answers`. ``leave_out`` hears of prompts that are not answered."""
        chat = not self.able.listed  # without a completions endpoint, the prompt is sent as a user's message
        if not chat:
            self._need_text()
        options = self._chat_options
        prompt_bodies: list[Body] = [
            {"messages": [{"role": "user", "content": text}], **options} if chat else {"prompt": text}
            for text in prompts
        ]
        bodies = [greedy_body(self.model, body, most=WRITTEN) for body in prompt_bodies]
        self.left_out = LeftOut(len(prompts))

        def leave(place: int, missing: NoAnswer) -> None:
            self.left_out.add(str(place), missing)
            leave_out(place, missing)

        answers = self.client.ask(_path(chat), bodies, lambda _, reply: written(reply, chat=chat), leave_out=leave)
        for i, text in answers:
            yield i, answer_line(text)

    def echo(
        self,
        texts: Sequence[tuple[str, str]],
        *,
        leave_out: Callable[[int, NoAnswer], object] = lambda i, missing: None,
    ) -> Iterator[tuple[int, EchoedText]]:
        """The number of each (text, continuation) with its tokens, in any order. ``leave_out`` hears of those that the
        server does not answer.

        Raises :class:`~core.errors.InputError` if the server does not give the log-probabilities of a text.
        """
        self._need_echo()
        return self._echoes(texts, leave_out=leave_out)

    def echo_rows(self, text: str, *, listed: int) -> list[dict[str, Any]]:
        """A text token by token (:func:`~core.models.server.replies.echoed_rows`), with what was expected instead.

        Raises :class:`~core.errors.InputError` if the server does not give the log-probabilities of a text.
        """
        self._need_echo()
        most = listed if self.able.listed < 0 else min(listed, self.able.listed)
        body = echo_body(self.model, text, listed=most)
        return self.client.post("/completions", body, partial(echoed_rows, text=text, most=most))

    def _say_failure(self, *needed: str) -> None:
        """Raise :class:`PassingError` if the server failed on one of these when it was asked what it can do."""
        for what, how in self.able.failing:
            if what in needed:
                raise PassingError(failure(self.client.urls[0], what, how), status=FAILED)

    def _need_system(self, system: str) -> None:
        """Raise :class:`~core.errors.InputError` if the server refuses a prompt, or fails on it, only because of its
        system prompt."""
        user = {"role": "user", "content": PROBE}

        def ask(*messages: dict[str, str]) -> None:
            self.client.post("/chat/completions", chat_body(self.model, list(messages), listed=1), dict)

        try:
            ask({"role": "system", "content": system}, user)
        except (RefusedError, PassingError, WrongReplyError) as error:
            if isinstance(error, PassingError) and not error.alive:
                raise
            ask(user)  # raises if the system prompt is not the reason
            says = f' (it says "{error.words}")' if error.words else ""
            raise InputError(
                f"the template of {self.model} on the server {self.client.urls[0]} takes no system prompt{says}; leave "
                "out --system, or put its text into the questions"
            ) from error

    def _need_text(self) -> None:
        """Raise :class:`~core.errors.InputError` if the server does not continue plain texts as they are."""
        if (fault := self.able.lists.fault) and fault.by_text:
            raise InputError(fault.sentence(self.client.urls[0]))

    def _need_echo(self) -> None:
        if self.able.echo:
            return
        self._say_failure(COMPLETIONS, TEXTS)
        self._need_text()
        does = (
            "gives wrong log-probabilities of a text that it was sent: a token's is not the one that it lists for it"
            if self.able.echo_wrong
            else "does not give the log-probabilities of a text that it was sent"
        )
        raise InputError(
            f"the server {self.client.urls[0]} {does}{quoted(self.able.refused, TEXTS)}, so texts can't be scored; "
            "ask for letters, or use a server that gives them, such as vLLM"
        )

    def close(self) -> None:
        self.client.close()

    # ---------------------------------------------------------------- letters

    def _letters(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        """The letters of a question that are not listed are requested again at once, so that the question is finished
        soon."""
        chat = prompts[0].chat
        able = self.able.chat_listed if chat else self.able.listed
        by_echo = self._by_echo(prompts[0])
        waiting = deque(self._first_request(prompt, i) for i, prompt in enumerate(prompts))
        heard: dict[int, NextTokens] = {}
        known: dict[int, dict[int, float]] = {}

        def leave_out(place: tuple[int, ...], missing: NoAnswer) -> None:
            gone.add(place[0])
            self.left_out.add(prompts[place[0]].question_id, missing)

        gone = set[int]()
        for request, reply in self.client.stream(waiting, leave_out=leave_out):
            i, *stage = request.place
            if i in gone:
                continue
            prompt = prompts[i]
            tokens = self._tokens(prompt)
            if isinstance(reply, EchoedText):
                known[i][stage[0]] = _echoed_letter(reply, heard[i].floor)
            else:
                heard[i] = reply
                missing = [j for j, token in enumerate(tokens) if reply.log_p(token) is None]
                if missing and stage == [BY_ID]:
                    waiting.appendleft(self._letter_request(prompt, i, self._usual(chat)))
                    continue
                if missing and able < 0 and not stage and reply.believed:
                    waiting.appendleft(self._letter_request(prompt, i, able, 0))
                    continue
                if missing and by_echo:
                    known[i] = dict.fromkeys(missing, WAITING)
                    waiting.extendleft(self._echo_request(prompt.text, tokens[j], (i, j)) for j in missing)
            if WAITING not in known.get(i, {}).values():
                yield self._scored(prompt, heard.pop(i), known=known.pop(i, {}))

    def _first_request(self, prompt: Prompt, i: int) -> TokenRequest[NextTokens | EchoedText]:
        """Request the letters by their tokens' ids if the server accepts ids, so that one request returns all of
        them."""
        tokens = self._tokens(prompt)
        if prompt.chat or not all(token in self.ids for token in tokens) or (self.lists.fault and self.able.echo):
            return self._letter_request(prompt, i, self._usual(prompt.chat))
        ids = [self.ids[token] for token in tokens]
        read = partial(next_tokens, chat=False, requested=1)
        return TokenRequest("/completions", id_body(self.model, prompt.text, ids), read, (i, BY_ID))

    def _letter_request(
        self, prompt: Prompt, i: int, listed: int, *again: int
    ) -> TokenRequest[NextTokens | EchoedText]:
        """A list with a fault is not believed where the echo replaces it; elsewhere it is asked for again, and is no
        answer if it stays so."""
        tokens, by_echo = self._tokens(prompt), self._by_echo(prompt)

        def read(reply: dict[str, Any]) -> NextTokens:
            tokens_read = next_tokens(reply, chat=prompt.chat, requested=listed)
            fault = self.lists.fault or fault_of(tokens_read, requested=listed) or shared_letter(tokens_read, tokens)
            if fault is None:
                return tokens_read
            if not by_echo:
                raise MissingAnswerError(fault.sentence(self.client.urls[0]))
            return replace(tokens_read, floor=0.0, believed=False)

        return replace(self._list_request(prompt, i, listed, *again), read=read)

    def _list_request(self, prompt: Prompt, i: int, listed: int, *again: int) -> TokenRequest[NextTokens | EchoedText]:
        read = partial(next_tokens, chat=prompt.chat, requested=listed)
        body = self._list_body(prompt, listed, self.lists.temperature)
        return TokenRequest(_path(prompt.chat), body, read, (i, *again))

    def _list_body(self, prompt: Prompt, listed: int, temperature: int) -> Body:
        if not prompt.chat:
            return letter_body(self.model, prompt.text, listed=listed, temperature=temperature)
        body = chat_body(self.model, _messages(prompt), listed=listed, temperature=temperature)
        return {**body, **self._chat_options}

    def _echo_request(
        self, text: str, continuation: str, place: tuple[int, ...]
    ) -> TokenRequest[NextTokens | EchoedText]:
        read = partial(echoed, text=text, continuation=continuation)
        return TokenRequest("/completions", echo_body(self.model, text + continuation), read, place)

    def _usual(self, chat: bool) -> int:
        able = self.able.chat_listed if chat else self.able.listed
        return min(USUAL, able) if able > 0 else USUAL

    def _scored(self, prompt: Prompt, listed: NextTokens, *, known: Mapping[int, float]) -> OptionLogits:
        logits = np.empty((1, prompt.k), dtype=np.float32)
        bounded = np.zeros((1, prompt.k), dtype=np.bool_)
        for j, token in enumerate(self._tokens(prompt)):
            log_p = listed.log_p(token)
            if log_p is None and not math.isnan(known.get(j, math.nan)):
                log_p = known[j]
            bounded[0, j] = log_p is None
            # The bound is rounded up, so that it stays one in 32 bits.
            logits[0, j] = np.nextafter(np.float32(listed.floor), np.float32(np.inf)) if log_p is None else log_p
        self.bounded += bool(bounded.any())
        return OptionLogits(
            ids=(prompt.question_id,),
            logits=logits,
            letter_mass=np.array([min(1.0, np.exp(logits[~bounded].astype(np.float64)).sum())], dtype=np.float32),
            top_tokens=(listed.tokens[0][0],),
            bounded=bounded,
        )

    def _tokens(self, prompt: Prompt) -> list[str]:
        return [self._spelling_of(prompt).format(letter) for letter in LETTERS[: prompt.k]]

    def _spelling_of(self, prompt: Prompt) -> str:
        return self.spelling or SPELLINGS[1 if prompt.chat else 0]

    def _compare_with_echo(self, prompt: Prompt, listed: NextTokens) -> None:
        """Compare the most and the least probable letter that were listed after a prompt of the run with their echoes,
        because penalties change only tokens that a prompt holds. A list that differs is no longer believed."""
        if not self._by_echo(prompt):
            return
        values = sorted((log_p, token) for token in self._tokens(prompt) if (log_p := listed.log_p(token)) is not None)
        ends = dict.fromkeys(values[:1] + values[-1:])
        requests = deque(self._echo_request(prompt.text, token, (i,)) for i, (_, token) in enumerate(ends))
        for request, echo in self.client.stream(requests, leave_out=lambda place, missing: None):
            log_p, token = list(ends)[request.place[0]]
            echoed_p = _echoed_letter(echo, 0.0) if isinstance(echo, EchoedText) else math.nan
            if not math.isnan(echoed_p) and not alike(log_p, echoed_p):
                self.lists = replace(self.lists, fault=contradiction(token, log_p, echoed_p))

    def _by_echo(self, prompt: Prompt) -> bool:
        """Whether the echo gives the letters that are not listed."""
        return self.able.echo and not prompt.chat and self._spelling_of(prompt) == SPELLINGS[0]

    def _spelling(self, answers: Sequence[tuple[Prompt, NextTokens]]) -> str:
        """The spelling with the largest share of the letters' probability."""
        if all(len(listed.tokens) > 1 and listed.tokens[0][1] == listed.tokens[-1][1] for _, listed in answers):
            raise SelfCheckError(self._equal("every token", len(answers)))
        mass = {
            spelling: sum(
                math.exp(log_p)
                for prompt, listed in answers
                for letter in LETTERS[: prompt.k]
                if (log_p := listed.log_p(spelling.format(letter))) is not None
            )
            for spelling in SPELLINGS
        }
        best = max(mass, key=lambda spelling: mass[spelling])
        if not mass[best]:
            first = Counter(listed.tokens[0][0] for _, listed in answers).most_common(1)[0][0]
            raise SelfCheckError(
                f"the server lists none of the answer letters among its most probable tokens after {len(answers)} "
                f"questions, so nothing is known of them; the most probable token is mostly {spelled(first)}, and "
                f"{way_out(first, chat=answers[0][0].chat)}, or with demonstrations (--shots)"
            )
        return best

    # ---------------------------------------------------------------- texts

    def _texts(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        starts = list(itertools.accumulate((prompt.k for prompt in prompts), initial=0))
        owner = [i for i, prompt in enumerate(prompts) for _ in range(prompt.k)]
        echoes: dict[int, dict[int, EchoedText]] = {}

        def leave_out(place: int, missing: NoAnswer) -> None:
            self.left_out.add(prompts[owner[place]].question_id, missing)

        pairs = [(prompt.text, answer) for prompt in prompts for answer in prompt.continuations]
        for place, text in self._echoes(pairs, leave_out=leave_out):
            i = owner[place]
            echoes.setdefault(i, {})[place - starts[i]] = text
            if len(echoes[i]) == prompts[i].k:
                texts = echoes.pop(i)
                yield _text_logits(prompts[i], [texts[j] for j in range(prompts[i].k)])

    def _echoes(
        self, texts: Sequence[tuple[str, str]], *, leave_out: Callable[[int, NoAnswer], object]
    ) -> Iterator[tuple[int, EchoedText]]:
        """Each text with its continuation as the server's tokens; those of one text stay together."""
        bodies: list[Body] = [echo_body(self.model, text + continuation) for text, continuation in texts]
        yield from self.client.ask(
            "/completions",
            bodies,
            lambda i, reply: echoed(reply, text=texts[i][0], continuation=texts[i][1]),
            leave_out=leave_out,
        )

    def _refuse_equal(self, scored: Sequence[OptionLogits]) -> None:
        rows = [scores.logits[0] for scores in scored if scores.logits.shape[1] > 1]
        each = [scores.logits[0] / scores.option_tokens[0] for scores in scored if scores.option_tokens is not None]
        for values in (rows, each):
            if len(rows) > 1 and len(values) == len(rows) and all(np.ptp(row) == 0 for row in values):
                raise SelfCheckError(self._equal("every option", len(rows)))

    def _equal(self, what: str, questions: int) -> str:
        return (
            f"the server {self.client.urls[0]} gives {what} the same score in {questions} of {questions} questions, so "
            f"its {self.figures} are not those of the model; use another server, or another version of it"
        )


def _echoed_letter(text: EchoedText, floor: float) -> float:
    """The log-probability of the letter behind a text; NaN if it is not one token of its own, so that only the bound
    is known."""
    values = text.log_p[text.context :]
    return values[0] if len(values) == 1 and not text.joined and values[0] <= floor + TOLERANCE else math.nan


def _text_logits(prompt: Prompt, texts: Sequence[EchoedText]) -> OptionLogits:
    """Sums over each option's tokens, which are those that the options do not share; they begin at the prompt's end at
    the latest, as :func:`core.models.rows.split_options` divides them."""
    numbers: dict[str, int] = {}
    wholes = [tuple(numbers.setdefault(token, len(numbers)) for token in text.tokens) for text in texts]
    shared = min(common_prefix(wholes), min(text.context for text in texts))
    sums = [math.fsum(text.log_p[shared:]) for text in texts]
    if any(math.isnan(value) for value in sums):
        raise InputError("the server gives no log-probabilities for some tokens of the options")
    return OptionLogits(
        ids=(prompt.question_id,),
        logits=np.array([sums], dtype=np.float32),
        letter_mass=np.full(1, np.nan, dtype=np.float32),
        option_tokens=np.array([[len(text.tokens) - shared for text in texts]], dtype=np.int32),
    )


def _difference(alone: OptionLogits, together: OptionLogits) -> float:
    """The largest difference in a log-probability that both have exactly, for texts by the root of their tokens."""
    exact = np.isfinite(alone.logits)
    for scored in (alone, together):
        exact &= True if scored.bounded is None else ~scored.bounded
    differences = np.abs(alone.logits - together.logits)
    if alone.option_tokens is not None:
        differences = differences / np.sqrt(np.maximum(alone.option_tokens, 1))
    return float(differences[exact].max(initial=0.0))


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    system = [{"role": "system", "content": prompt.system}] * bool(prompt.system)
    return [*system, {"role": "user", "content": prompt.text}]


def _path(chat: bool) -> str:
    return "/chat/completions" if chat else "/completions"
