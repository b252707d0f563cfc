"""The interface of a scoring engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.records import OptionLogits, Prompt


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Fast scoring compared with slow scoring of the same prompts: the largest difference in log-probability.

    ``rung`` is the scoring path that passed and will be used. ``refused`` says why faster paths were not. ``kept`` is
    the day of the check if an earlier run made it (:mod:`core.inference.kept_checks`), else empty.
    """

    questions: int
    largest_difference: float
    tolerance: float
    rung: str = ""
    refused: tuple[str, ...] = ()
    kept: str = ""

    @property
    def passed(self) -> bool:
        """Whether the difference is finite and within the tolerance."""
        return self.largest_difference <= self.tolerance


class Engine(Protocol):
    """Scores the options that may follow a prompt."""

    @property
    def description(self) -> dict[str, Any]:
        """Model, parameters, dtype, device, letter tokens and versions, for ``run.json``."""
        ...

    @property
    def chunk(self) -> int:
        """How many questions to pass in at once. A run writes to disk in chunks of this size."""
        ...

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Look once at all prompts of a run and compute what they share. This saves time and changes no result."""
        ...

    def self_check(self, prompts: Sequence[Prompt]) -> SelfCheck:
        """Score a few prompts by every path and one by one, and choose the fastest path that agrees."""
        ...

    def score(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        """Score prompts in batches. Yields each batch as soon as it is computed, in any order of the prompts."""
        ...

    def joins(self, prompts: Sequence[Prompt]) -> bool:
        """Whether, for any prompt, a token spans the end of its text and what follows, such as a colon and a space."""
        ...

    def write(self, prompt: Prompt, *, repeats: int, seed: int) -> list[str]:
        """``repeats`` answers to one prompt in the model's own words, sampled from its probabilities."""
        ...


def cut_short(description: dict[str, Any]) -> str:
    """What an engine's description says about prompts that were too long for its model; empty if none was."""
    cut, dropped = description.get("truncated_prompts", 0), description.get("dropped_demonstrations", 0)
    if not cut:
        return ""
    return (
        f"prompts longer than the {description['context']:,} tokens that the model reads: {cut:,}, which lost "
        f"{dropped:,} demonstrations and the beginnings of their contexts; ask with fewer shots, or choose a model "
        "that reads more"
    )
