"""A model on a server that gives no log-probabilities: it is asked each question several times, and the shares of its
picks stand for probabilities (Yang and Liu 2025, arXiv 2508.05544).

Each answer is sampled at temperature 1 from the whole distribution, in a request of its own, so a run makes questions ×
picks requests. A chat may reason before it answers: :data:`REASONED` tokens are allowed. The option that an answer
names is read by :mod:`core.questions.prompting.written`. A question of whose answers none names an option is left out.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from core.conformal.probabilities import frequencies
from core.errors import SelfCheckError, ServerError
from core.models.engine import SelfCheck
from core.models.server.engine import WRITTEN, ServerEngine
from core.models.server.left_out import UNANSWERED, LeftOut, NoAnswer
from core.questions.prompting.written import NOT_FOUND, answer_line, find_answer, read_pick
from core.records import OptionLogits, Prompt

REASONED = 4096
"""The most tokens of an answer in a chat, with what a model thinks before it."""
CHECKED = 4
"""The questions of the self-check, each asked once."""
SHOWN = 80


def most_tokens(*, chat: bool, context: int = 0) -> int:
    """The most tokens of an answer; with the prompt they must fit the ``context`` (0: not known)."""
    if not chat:
        return WRITTEN
    return max(WRITTEN, min(REASONED, context // 2)) if context else REASONED


class PickEngine(ServerEngine):
    """Scores questions by the frequencies of ``picks`` answers."""

    lists_needed = False
    picks = 0

    @staticmethod
    def asking(picks: int) -> type[PickEngine]:
        """The engine that asks each question this many times."""
        return type("PickEngine", (PickEngine,), {"picks": picks})

    def check_same_weights(self) -> None:
        """As :meth:`ServerEngine.check_same_weights`; without log-probabilities, nothing tells weights apart."""
        if self.able.probe[0]:
            super().check_same_weights()

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Take the endpoint of these prompts, and check that it takes their system prompt."""
        self.endpoint = "chat" if prompts[0].chat else "completions"
        self.lettered = False
        self.left_out = LeftOut(len(prompts))
        if prompts[0].chat and prompts[0].system:
            self._need_system(prompts[0].system)

    def self_check(self, prompts: Sequence[Prompt]) -> SelfCheck:
        """Ask a few questions once. Raises :class:`~core.errors.SelfCheckError` if no answer names an option."""
        left_out, self.left_out = self.left_out, LeftOut()
        places = sorted({round(i) for i in np.linspace(0, len(prompts) - 1, min(CHECKED, len(prompts)))})
        chosen = [prompts[i] for i in places]
        texts = {i: written[0] for i, written in self._written(chosen, repeats=1)}
        self.left_out.confirm(len(texts))
        self.left_out = left_out
        if all(self._place(chosen[i], text) == NOT_FOUND for i, text in texts.items()):
            raise SelfCheckError(
                f"none of {len(texts)} answers names an option; the first begins with "
                f"{answer_line(texts[min(texts)])[:SHOWN]!r}; ask in the chat format (--format chat), or give a "
                "system prompt that asks for the letter alone"
            )
        return SelfCheck(len(texts), 0.0, 0.0, rung=f"the answers of the server, at temperature 1, on {self.endpoint}")

    def score(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        """The frequencies of each question's picks, as soon as all of them are there."""
        answered = 0
        for i, texts in self._written(prompts, repeats=self.picks):
            prompt = prompts[i]
            places = [self._place(prompt, text) for text in texts]
            counts = np.array([[places.count(option) for option in range(prompt.k)]])
            if not counts.sum():
                reason = f"none of its {self.picks} answers names an option"
                self.left_out.add(prompt.question_id, NoAnswer(UNANSWERED, reason, ServerError(reason)))
                continue
            shares, samples = frequencies(counts)
            with np.errstate(divide="ignore"):
                logits = np.log(shares).astype(np.float32)
            answered += 1
            yield OptionLogits(
                (prompt.question_id,),
                logits,
                np.full(1, np.nan, dtype=np.float32),
                probabilities=shares,
                samples=samples,
            )
        self.left_out.confirm(answered or len(prompts) < self.left_out.total)

    def _written(self, prompts: Sequence[Prompt], *, repeats: int) -> Iterator[tuple[int, list[str]]]:
        """The answers to each prompt. Its seed is that of its question, whatever is asked beside it."""
        most = most_tokens(chat=self.endpoint == "chat", context=self.able.context)
        seeds = [zlib.crc32(prompt.question_id.encode()) % 2**20 for prompt in prompts]
        return self.write(prompts, repeats=repeats, seeds=seeds, most=most)

    def _place(self, prompt: Prompt, text: str) -> int:
        read = read_pick if prompt.chat else find_answer  # a plain text may continue with questions of its own
        return read(text, self.options.get(prompt.question_id, ("",) * prompt.k))
