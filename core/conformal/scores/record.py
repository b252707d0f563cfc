"""What a score is: one record with everything that a page, a table, a recipe and a test need to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.errors import InputError
from core.records import FloatArray


@dataclass(frozen=True, slots=True)
class Parameters:
    """What some scores have to be told.

    ``weight`` λ ≥ 0 is what each further rank costs (RAPS, SAPS); ``free_ranks`` is how many ranks cost nothing
    (RAPS). Nobody recommends the defaults: the parameters are tuned on questions of their own
    (:mod:`core.conformal.tuning`), and a page says so where they are not.
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


@dataclass(frozen=True, slots=True)
class Score:
    """A nonconformity score and everything that is said of it. Each score stands in a file of its own.

    ``name`` is what links, files and the command line call it, ``title`` what pages call it. ``gloss`` are the few
    words beside its title, ``sentence`` says what its sets are like, ``source`` is the paper.

    ``range(k, parameters)`` gives two numbers between which every value lies for k options. ``numpy_lines(parameters)``
    gives lines of a script that compute ``scores`` (n, k) from ``p`` (n, k), for a person to run elsewhere
    (:mod:`core.reports.alpha_lab.numpy_recipe`). ``parameters`` names those of :class:`Parameters` that the score has,
    and ``grid`` holds the choices of them that tuning tries, in that order; both are empty for a score without any.
    ``randomised`` scores take one uniform number for each question. ``saturates`` says that the score is a cumulative
    probability, so that thresholds can crowd just below 1 (:mod:`core.reports.alpha_lab.saturation`).
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
    randomised: bool = False
    saturates: bool = False

    @property
    def tuned(self) -> bool:
        """Whether it has parameters to tune."""
        return bool(self.grid)
