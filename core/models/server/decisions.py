"""A model on a server that answers typed decisions: a probability for every option of a question, without text.

Questions with the same context go into one request, up to the format's limit, if a sample of them gets the same answers
together as one by one. An answer that is not right is asked for once more, alone, and then the question is left out.
A probability of 0 is one that the server has rounded: only half a unit of its last decimal is known as an upper bound,
and :attr:`~core.records.OptionLogits.bounded` marks it.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from core.errors import InputError, ServerError
from core.models.engine import SelfCheck
from core.models.letter_mass import check_first, letter_mass
from core.models.server.abilities import Abilities
from core.models.server.advice import most_listed
from core.models.server.client import PassingError, ServerClient, TokenRequest
from core.models.server.decision_probe import decision_of_probe
from core.models.server.decision_replies import Decided, Fault, decided, log_bound
from core.models.server.engine import CHECKED_QUESTIONS, ServerEngine
from core.models.server.left_out import UNANSWERED, LeftOut, NoAnswer
from core.models.server.reply_body import clean, count, entries_of
from core.models.server_address import ServedWeights, without_secrets
from core.questions.prompting.decision import MOST_TOGETHER, joined_request, shared_part
from core.records import LETTERS, OptionLogits, Prompt, joined

SAME = 0.01
"""The largest difference of a probability between asking a question alone and with others: servers compute in half
precision, in batches that change."""
RESTARTED = 0.1
"""A larger difference of the probe's probability between the beginning and the end of a run means other weights, beside
what varies between identical requests."""
REPEATED, REPEATS = 20, 3
"""How many questions are asked how often with the very same request, to see how much the answers vary."""
TIME_TO_SPARE = 4
"""A request with many questions should take at most this part of the time that an answer may take."""
FAILED_PARTS = 8
"""Into how many parts a request is divided on which the server fails: each part that fails is sent several times. One
that is refused is halved."""
NAMES_KEPT = 5

Reply = list[Decided | Fault]


def beside(questions: int, servers: int = 1) -> int:
    """How many times questions are asked, at most, beside once each in a run with this number of them: in the
    self-check, alone and together (that on each of the ``servers``), and again at the end.

    >>> beside(400), beside(400, servers=2), beside(6)
    (72, 76, 28)
    """
    return (
        min(questions, 2 * CHECKED_QUESTIONS)
        + servers * min(questions, CHECKED_QUESTIONS)
        + REPEATS * min(questions, REPEATED)
    )


class DecisionEngine(ServerEngine):
    """Scores questions by the probabilities that a server gives their options, asked in the format ``decisions``."""

    lists_needed = False
    figures = "probabilities"

    def __init__(self, client: ServerClient, model: str, able: Abilities) -> None:
        super().__init__(client, model, able)
        self.together = 1
        self.decimals = 0
        self.varies = 0.0
        """How much a probability was seen to vary between identical requests."""
        self.in_run: dict[str, tuple[float, ...]] = {}
        """The probabilities of a few questions in the run, to compare with those that they get alone."""
        self.contradictions = 0
        """How many answers of the run contradict themselves."""
        self.answered_as: dict[str, None] = {}
        """The names that the server gave the model in its replies."""

    @staticmethod
    def asking(form: str) -> type[DecisionEngine]:
        """The engine that asks in this one of the :data:`~core.questions.prompting.decision.DECISION_FORMATS`."""
        return type("DecisionEngine", (DecisionEngine,), {"decisions": form})

    @property
    def description(self) -> dict[str, Any]:
        return {
            **super().description,
            "questions_together": self.together,
            **self.counted,
        }

    @property
    def counted(self) -> dict[str, Any]:
        return {
            "contradictions": self.contradictions,
            "answered_as": [without_secrets(name, self.client.key_variable) for name in [*self.answered_as]],
        }

    def take_counted(self, earlier: Mapping[str, Any]) -> None:
        self.contradictions = count(earlier.get("contradictions"))
        names = map(clean, entries_of(earlier.get("answered_as")))
        self.answered_as = dict.fromkeys([*filter(None, names)][:NAMES_KEPT])

    def _weights_now(self, before: ServedWeights) -> ServedWeights:
        """If the probe's probability is another one than ``before``, it may vary between identical requests by more."""
        now = self.able.weights
        if before.alike(now):
            return now
        probes = [
            decision_of_probe(self.client, self.client.urls[0], self.model, self.decisions) for _ in range(REPEATED)
        ]
        highest = [max(answer.probabilities) for answer in probes if isinstance(answer, Decided)]
        return now.moved(before, max((abs(p - now.log_p) for p in highest), default=0.0))

    def check_same_weights(self) -> None:
        """As :meth:`ServerEngine.check_same_weights`, by the answer to a question."""
        letter, log_p = self.able.probe
        before = math.exp(log_p)
        for url in self.client.urls:
            try:
                answer = decision_of_probe(self.client, url, self.model, self.decisions)
            except ServerError:
                continue
            if not isinstance(answer, Decided):
                continue
            now = answer.probabilities[LETTERS.index(letter)]
            if abs(now - before) > RESTARTED + self.varies:
                raise InputError(
                    f"the server {url} gave option {letter} of a test question the probability {before:.2f} when this "
                    f"run began, and gives it {now:.2f} now, so it was restarted with other weights, and the answers "
                    "of this try are not kept; resume the run when the server stays as it is"
                )

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Begin a run of these prompts."""
        self.endpoint = self.decisions
        self.lettered = False
        self.bounded, self.together, self.decimals = 0, 1, 0
        self.left_out = LeftOut(len(prompts))
        self.in_run = {prompt.question_id: () for prompt in _sample(prompts, REPEATED)}

    def self_check(self, prompts: Sequence[Prompt]) -> SelfCheck:
        """Ask a few questions one by one, and those with the same context together, and compare: if no answer changes,
        questions are asked together from now on.

        Raises :class:`~core.errors.SelfCheckError` if all options are equally probable in all of them, or if the labels
        have almost none of the next token's probability.
        """
        left_out, self.left_out = self.left_out, LeftOut()
        group = _sample(max(_by_context(prompts).values(), key=len))
        names = {prompt.question_id for prompt in group}
        rows = [*group, *(prompt for prompt in _sample(prompts) if prompt.question_id not in names)]
        chosen, alone = self._first_answers(rows, self._alone_answers)
        self.decimals = max(answer.decimals for answer in alone.values())
        scored = [self._scored_answer(prompt, alone[prompt.question_id]) for prompt in chosen]
        self._refuse_equal(scored)
        ids = [prompt.question_id for prompt in chosen]
        check_first(letter_mass(joined(scored, ids, k=max(prompt.k for prompt in chosen))), chat=True, decides=True)
        compared = [prompt for prompt in chosen if prompt.question_id in names]
        difference, refused = self._compare_together(compared, alone)
        self.left_out, self.bounded = left_out, 0
        rung = f"up to {self.together} questions in a request" if self.together > 1 else "one question in a request"
        return SelfCheck(len(chosen), difference, SAME, rung=rung, refused=refused)

    def _compare_together(
        self, prompts: Sequence[Prompt], alone: Mapping[str, Decided]
    ) -> tuple[float, tuple[str, ...]]:
        """Set how many questions go together; returns how much that changes a probability, and why they do not."""
        if len(prompts) < 2:
            return 0.0, ()
        begin = time.monotonic()
        urls = self.client.urls  # each server joins questions in its own way
        both = [answer for url in urls for answer in self._answers_of(url, prompts)]
        each_s = (time.monotonic() - begin) / len(prompts) / len(urls)
        if len(both) < len(prompts) * len(urls):
            return 0.0, ("several questions in a request: one of them is not answered then",)
        difference = max(
            abs(a - b)
            for prompt, answer in both
            for a, b in zip(answer.probabilities, alone[prompt.question_id].probabilities, strict=True)
        )
        if difference > SAME:
            return 0.0, (f"several questions in a request: a probability differs by {difference:.3g}",)
        in_time = round(self.client.patience.answer_s / TIME_TO_SPARE / max(each_s, 1e-9))
        self.together = max(len(prompts), min(MOST_TOGETHER[self.decisions], in_time))
        return difference, ()

    def score(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        """Score prompts, as :meth:`ServerEngine.score`; those in one request come together."""
        answered = 0
        for prompt, answer in self._answers(self._groups(prompts)):
            answered += 1
            self.contradictions += answer.contradiction
            if prompt.question_id in self.in_run:
                self.in_run[prompt.question_id] = answer.probabilities
            yield self._scored_answer(prompt, answer)
        self.left_out.confirm(answered or len(prompts) < self.left_out.total)

    def variation(
        self, prompts: Sequence[Prompt], *, report: Callable[[int, int], object] = lambda done, total: None
    ) -> dict[str, Any]:
        """How much the answers to the very same request vary: the ``largest`` and the ``mean`` difference between an
        option's least and largest probability, over :data:`REPEATED` questions that are asked :data:`REPEATS` times,
        and for how many of them the most probable option ``changed``. If questions went ``together`` in the run and got
        other answers than alone, it says how many in a request, and ``apart`` is the largest difference from the mean
        of what they get alone. ``report`` hears how many of how many requests are answered. Empty, and no error, if
        the server no longer answers: the run needs no more answers."""
        left_out, self.left_out = self.left_out, LeftOut()
        seen = [prompt for prompt in prompts if self.in_run.get(prompt.question_id)]
        sample = seen if 2 * len(seen) >= min(REPEATED, len(prompts)) else _sample(prompts, REPEATED)
        answers: dict[str, list[tuple[float, ...]]] = {}
        requests = [[prompt] for prompt in sample for _ in range(REPEATS)]
        with suppress(ServerError):
            for done, (prompt, answer) in enumerate(self._answers(requests), start=1):
                answers.setdefault(prompt.question_id, []).append(answer.probabilities)
                report(done, len(requests))
        self.left_out = left_out
        repeated = [np.array(rows) for rows in answers.values() if len(rows) == REPEATS]
        if not repeated:
            return {}
        ranges = np.concatenate([np.ptp(rows, axis=0) for rows in repeated])
        self.varies = float(ranges.max())
        changed = sum(len(set(rows.argmax(axis=1).tolist())) > 1 for rows in repeated)
        apart = max(
            (
                float(np.abs(np.mean(rows, axis=0) - self.in_run[name]).max())
                for name, rows in answers.items()
                if self.in_run.get(name)
            ),
            default=0.0,
        )
        others = self.together > 1 and apart > SAME + self.varies
        return {
            "questions": len(repeated),
            "requests": REPEATS,
            "largest": self.varies,
            "mean": float(ranges.mean()),
            "changed": changed,
            **({"together": self.together, "apart": apart} if others else {}),
        }

    def _alone_answers(self, prompts: Sequence[Prompt]) -> dict[str, Decided]:
        answers = self._answers([[prompt] for prompt in prompts])
        return {prompt.question_id: answer for prompt, answer in answers}

    def _groups(self, prompts: Sequence[Prompt]) -> list[list[Prompt]]:
        """The prompts that go into one request each."""
        if self.together == 1:
            return [[prompt] for prompt in prompts]
        groups = _by_context(prompts).values()
        return [group[i : i + self.together] for group in groups for i in range(0, len(group), self.together)]

    def _request(self, prompts: Sequence[Prompt], place: tuple[int, ...] = ()) -> TokenRequest[Reply]:
        """The one request for these prompts, which have the same context."""

        def read(reply: dict[str, Any]) -> Reply:
            name = clean(reply.get("model"))
            if name and len(self.answered_as) < NAMES_KEPT:
                self.answered_as[name] = None
            return decided(reply, [prompt.k for prompt in prompts], types=[question["type"] for question in questions])

        body = joined_request(prompts)
        questions = body["questions"].values() if isinstance(body["questions"], dict) else body["questions"]
        return TokenRequest(
            f"/{self.decisions}", {"model": self.model, **body}, read, place, divisible=len(prompts) > 1
        )

    def _answers_of(self, url: str, prompts: Sequence[Prompt]) -> Iterator[tuple[Prompt, Decided]]:
        """The prompts with the answers that the server ``url`` gives to one request for all of them, if it does."""
        request = self._request(prompts)
        try:
            reply = self.client.post(request.path, request.body, request.read, url=url)
        except ServerError:
            return
        yield from ((p, answer) for p, answer in zip(prompts, reply, strict=True) if isinstance(answer, Decided))

    def _answers(self, groups: Sequence[Sequence[Prompt]]) -> Iterator[tuple[Prompt, Decided]]:
        """Each prompt with its answer, in any order. A request that the server refuses or fails on is divided, by the
        number that it names or into a few parts, and a question without a right answer is asked again alone, once."""
        prompts = [prompt for group in groups for prompt in group]
        waiting: deque[TokenRequest[Reply]] = deque()

        def ask(places: Sequence[int], *, again: int = 0) -> TokenRequest[Reply]:
            return self._request([prompts[i] for i in places], (again, *places))

        def leave_out(place: tuple[int, ...], missing: NoAnswer) -> None:
            _, *places = place
            if len(places) > 1:
                named = most_listed(getattr(missing.error, "words", ""))  # "at most 64 for this model"
                parts = FAILED_PARTS if isinstance(missing.error, PassingError) else 2
                size = named if 0 < named < len(places) else -(-len(places) // parts)
                waiting.extendleft(ask(places[i : i + size]) for i in range(0, len(places), size))
            else:
                self.left_out.add(prompts[places[0]].question_id, missing)

        start = 0
        for group in groups:
            waiting.append(ask(range(start, start + len(group))))
            start += len(group)
        for request, reply in self.client.stream(waiting, leave_out=leave_out):
            again, *places = request.place
            for i, answer in zip(places, reply, strict=True):
                if isinstance(answer, Decided):
                    yield prompts[i], answer
                elif answer.kind == UNANSWERED and not again:
                    waiting.appendleft(ask([i], again=1))
                else:
                    reason = without_secrets(answer.reason, self.client.key_variable)
                    error = ServerError(f"the server {self.client.urls[0]} gives a question no answer: {reason}")
                    self.left_out.add(prompts[i].question_id, NoAnswer(answer.kind, reason, error))

    def _scored_answer(self, prompt: Prompt, answer: Decided) -> OptionLogits:
        probabilities = np.array([answer.probabilities])
        bounded = probabilities == 0
        self.bounded += bool(bounded.any())
        return OptionLogits(
            ids=(prompt.question_id,),
            logits=np.array([log_bound(answer, decimals=self.decimals)]),
            letter_mass=np.array([answer.label_mass], dtype=np.float32),
            bounded=bounded,
            probabilities=probabilities,
        )


def _by_context(prompts: Sequence[Prompt]) -> dict[str, list[Prompt]]:
    groups: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        groups.setdefault(shared_part(prompt), []).append(prompt)
    return groups


def _sample(prompts: Sequence[Prompt], most: int = CHECKED_QUESTIONS) -> list[Prompt]:
    """A few of the prompts, spread over all."""
    places = sorted({round(i) for i in np.linspace(0, len(prompts) - 1, min(most, len(prompts)))})
    return [prompts[i] for i in places]
