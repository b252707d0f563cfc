"""The progress of a training, and its loss curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from pocket_world.recipes import Stage

PROGRESS = "progress.json"
"""The file of a work folder that holds the progress alone."""


class LossRow(TypedDict):
    """One line of the loss curve; accuracies from 0 to 1, seconds since training began, loss a mean since the last.

    ``seconds`` are those of one processor core or of a GPU. ``binding`` is that of binding questions, before the last
    stage that of lists; ``tasks`` that of the first questions of each task of the bank; ``perplexity`` a token of
    held-out prose.
    """

    stage: Stage
    step: int
    tokens: int
    seconds: float
    loss: float
    binding: float
    perplexity: float
    tasks: dict[str, float]


@dataclass(slots=True)
class StageProgress:
    """A stage, the steps done in it, and tokens and seconds over all stages.

    ``losses`` and ``counted`` are the sum and the number of the losses since the last check. ``seconds`` are those of
    what ``timed`` names; ``machine`` says where the last steps were done, in words.
    """

    stage: Stage = "matching"
    step: int = 0
    losses: float = 0.0
    counted: int = 0
    tokens: int = 0
    seconds: float = 0.0
    timed: str = "one processor core"
    machine: str = ""
    curve: list[LossRow] = field(default_factory=list)
