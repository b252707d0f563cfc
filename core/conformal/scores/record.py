"""The record of a score: everything that a page, a table, a recipe and a test need to know about it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray

Bounds = tuple[FloatArray, FloatArray]
"""The least and the largest value of a score, both (n, k)."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of some scores.

    ``weight`` λ ≥ 0 is the cost of each further rank (RAPS, SAPS). ``free_ranks`` is the number of ranks that cost
    nothing (RAPS). The defaults are not recommended values: parameters are tuned on separate questions
    (:mod:`core.conformal.tuning`), and a page says so if they are not tuned. Raises :class:`InputError` if a value is
    negative or the weight is not finite.
    """

    weight: float = 0.1
    free_ranks: int = 1

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise InputError(f"the weight of a rank must be a number from 0 up, got {self.weight}")
        if self.free_ranks < 0:
            raise InputError(f"the number of free ranks must be 0 or more, got {self.free_ranks}")


UNTUNED = Parameters()

WEIGHTS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)
"""The values of ``weight`` that tuning tries."""


class ScoreFunction(Protocol):
    """Scores of all options, (n, k), from their probabilities (n, k).

    A randomised score also takes ``u`` (n,), one uniform number for each question. A tuned one takes ``parameters``.
    """

    def __call__(
        self, probabilities: FloatArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
    ) -> FloatArray: ...


class BoundsFunction(Protocol):
    """The bounds of all options' scores, from weights (n, k); the ``bounded`` ones are upper bounds."""

    def __call__(
        self, weights: FloatArray, bounded: BoolArray, *, u: FloatArray | None = None, parameters: Parameters = UNTUNED
    ) -> Bounds: ...


@dataclass(frozen=True, slots=True)
class Score:
    """A nonconformity score and everything about it. Each score has its own file.

    ``name`` is used in links, in files and on the command line, ``title`` on pages. ``gloss`` is the short description
    beside the title, ``sentence`` says what the score's sets are like, and ``source`` is the paper.

    ``range(k, parameters)`` gives a lower and an upper bound of all scores for k options. ``numpy_lines(parameters)``
    gives lines of a script that compute ``scores`` (n, k) from ``p`` (n, k), for a person to run elsewhere
    (:mod:`core.reports.alpha_lab.numpy_recipe`). ``parameters`` names the fields of :class:`Parameters` that the score
    uses, and ``grid`` holds the values that tuning tries, in that order; both are empty for a score without parameters.
    ``parts(p)`` are then the score without cost, and the ranks, to which :func:`~core.conformal.scores.ranking.costed`
    adds the cost of any parameters. ``bounds`` (:mod:`core.conformal.scores.bounds`) narrows the scores of a model on a
    server that lists only its most probable letters; without it, they lie within the ``range``.
    ``randomised`` scores take one uniform number for each question. ``saturates`` says that the score is a cumulative
    probability, so thresholds can crowd just below 1 (:mod:`core.reports.alpha_lab.saturation`). ``ordered`` scores are
    only for questions whose options are ordered levels (:attr:`core.records.Question.ordered`).
    """

    name: str
    title: str
    formula: str
    gloss: str
    sentence: str
    source: str
    function: ScoreFunction
    range: Callable[[int, Parameters], tuple[float, float]]
    numpy_lines: Callable[[Parameters], tuple[str, ...]]
    parameters: tuple[str, ...] = ()
    grid: tuple[Parameters, ...] = ()
    parts: Callable[[FloatArray], tuple[FloatArray, IntArray]] | None = None
    bounds: BoundsFunction | None = None
    randomised: bool = False
    saturates: bool = False
    ordered: bool = False

    @property
    def tuned(self) -> bool:
        """Whether the score has parameters to tune."""
        return bool(self.grid)
