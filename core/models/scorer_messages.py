"""What a run and its scorers send each other (:mod:`core.models.scorer_process`). Loads no torch."""

from dataclasses import dataclass
from typing import Any, Literal

from core.records import OptionLogits


@dataclass(frozen=True, slots=True)
class ScorerBegin:
    """The run's way of scoring (:meth:`~core.models.engine.SharingEngine.setup`), and a packed batch with the scores
    that it must get."""

    setup: Any
    packed: Any
    scores: OptionLogits


@dataclass(frozen=True, slots=True)
class ScorerTask:
    """A batch to score, packed, under a number."""

    number: int
    packed: Any


@dataclass(frozen=True, slots=True)
class ScorerResult:
    """The scores of a task. They are several records if memory ran out and the batch was halved."""

    number: int
    scores: tuple[OptionLogits, ...]


@dataclass(frozen=True, slots=True)
class ScorerStatus:
    """The model is ``loaded``, the first batch had the same scores (``ready``), or the scorer leaves (``failed``) and
    says why."""

    stage: Literal["loaded", "ready", "failed"]
    message: str = ""
