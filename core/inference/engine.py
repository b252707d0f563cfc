"""What a scoring engine is, whoever computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.records import OptionLogits, Prompt


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Fast against slow scoring of the same prompts (rule 12): the largest difference in log-probability.

    ``rung`` is the way of scoring that passed and will be used, ``refused`` says what was wrong with faster ones.
    """

    questions: int
    largest_difference: float
    tolerance: float
    rung: str = ""
    refused: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the difference is a number within the tolerance."""
        return self.largest_difference <= self.tolerance


class Engine(Protocol):
    """Scores the options that may follow a prompt."""

    @property
    def description(self) -> dict[str, Any]:
        """What computes: model, parameters, dtype, device, letter tokens, versions; goes into ``run.json``."""
        ...

    @property
    def chunk(self) -> int:
        """Questions that are worth handing over at once; a run writes to disk in chunks of this size."""
        ...

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Look once at all prompts of a run, to find what they share; scoring is right without it."""
        ...

    def self_check(self, prompts: Sequence[Prompt]) -> SelfCheck:
        """Score a few prompts fast and one by one, and choose the fastest way that agrees."""
        ...

    def score(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        """Score prompts batch by batch, each batch as soon as it is done, in any order of the prompts."""
        ...

    def joins(self, prompts: Sequence[Prompt]) -> bool:
        """Whether a token reaches from any prompt's text into what follows it, as a colon that takes a space in."""
        ...

    def write(self, prompt: Prompt, *, repeats: int, seed: int) -> list[str]:
        """So many answers to one prompt in the model's own words, sampled from its own probabilities."""
        ...
