"""The interface of a scoring engine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from core.errors import SelfCheckError
from core.records import OptionLogits, Prompt


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Fast scoring compared with slow scoring of the same prompts: the largest difference in log-probability.

    ``rung`` is the scoring path that passed and will be used. ``refused`` says why faster paths were not. ``kept`` is
    the day of the check if an earlier run made it (:mod:`core.models.kept_checks`), else empty.
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

    def confirm(self) -> None:
        """Raise :class:`~core.errors.SelfCheckError` if it did not pass."""
        if not self.passed:
            raise SelfCheckError(
                f"fast and one-by-one scoring of {self.questions} questions differ by {self.largest_difference:.3g} in "
                f"log-probability, more than {self.tolerance:g}; this model's scores can't be trusted here"
            )

    def lines(self) -> list[str]:
        """What the log of a run says of a check that passed."""
        by = f" by {self.rung}" if self.rung else ""
        kept_from = f", of {self.kept}, for the same model, precision, device and versions" if self.kept else ""
        passed = f"self-check passed{by}: {self.largest_difference:.2e} of {self.tolerance:g}{kept_from}"
        return [*(f"self-check refused {reason}" for reason in self.refused), passed]


class Engine(Protocol):
    """Scores the options that may follow a prompt."""

    @property
    def description(self) -> dict[str, Any]:
        """Model, parameters, dtype, device, letter tokens and versions, for ``run.json``."""
        ...

    @property
    def chunk(self) -> int:
        """The number of questions to pass at once. A run writes to disk in chunks of this size."""
        ...

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Read all prompts of a run once and compute what they share. This saves time and changes no result."""
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

    def write(
        self, prompts: Sequence[Prompt], *, repeats: int, seeds: Sequence[int]
    ) -> Iterator[tuple[int, list[str]]]:
        """The index of each prompt with ``repeats`` answers in the model's own words, in any order of the prompts.

        They are sampled from its probabilities, with one seed for each prompt.
        """
        ...


@runtime_checkable
class DatedEngine(Protocol):
    """An engine whose prompts may contain the date."""

    def take_date(self, earlier: Mapping[str, Any]) -> None:
        """Ask with the date of an earlier try, which has this description; any date if it names none."""
        ...


@runtime_checkable
class RepeatableEngine(Protocol):
    """An engine whose answers to identical requests may vary."""

    def variation(
        self, prompts: Sequence[Prompt], *, report: Callable[[int, int], object] = lambda done, total: None
    ) -> dict[str, Any]:
        """How much they vary for a few of these prompts; empty if none was answered twice. ``report`` hears how many of
        how many requests are answered."""
        ...


@runtime_checkable
class SharingEngine(Protocol):
    """An engine whose batches other engines of the same model may score, each in a process of its own.

    What :meth:`setup` and :meth:`packed` return can be pickled. Only an engine of the same class understands it.
    """

    def batches(self, prompts: Sequence[Prompt]) -> list[list[Prompt]]:
        """The batches in which :meth:`Engine.score` would score these prompts. Each one scored alone is scored as it
        would be among the others."""
        ...

    def setup(self) -> Any:
        """How this engine scores the prepared and checked run, for the other engines."""
        ...

    def take_setup(self, setup: Any) -> None:
        """Score from now on as the engine does that gave this :meth:`setup`."""
        ...

    def packed(self, prompts: Sequence[Prompt]) -> Any:
        """Prompts in a form that is small to send."""
        ...

    def score_packed(self, packed: Any) -> Iterator[OptionLogits]:
        """Score :meth:`packed` prompts as :meth:`Engine.score` does."""
        ...


CUT_COUNTS = ("truncated_prompts", "dropped_demonstrations", "shortened_prompts")
"""What an engine's description counts of prompts that are too long for its model. Older ones lack the last."""


def cut_short(description: Mapping[str, Any], *, prompts: int = 0) -> str:
    """What an engine's description says about prompts that were too long for its model; empty if none was. ``prompts``
    is the number of all prompts (0: not known)."""
    cut, dropped, shortened = (description.get(name, 0) for name in CUT_COUNTS)
    if not cut:
        return ""
    share = f"{cut:,} of {prompts:,}" if prompts else f"{cut:,}"
    longer = "prompt was" if (prompts or cut) == 1 else "prompts were"
    limit = f"the {description['context']:,} tokens that" if description.get("context") else "what"
    lost = [f"{dropped:,} demonstration{'s' if dropped != 1 else ''}"] * bool(dropped)
    lost += [f"the beginning of {shortened:,} contexts"] * bool(shortened) or ["their beginning"] * (not dropped)
    return f"{share} {longer} longer than {limit} the model reads, and lost {' and '.join(lost)}."
