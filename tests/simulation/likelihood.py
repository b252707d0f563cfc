"""Accuracy, NLL and Brier score on the Calibration page: do their intervals hold the model's own figures?

Each law is an overconfident model's: logits are normal, and the truth is drawn from their softmax at a higher
temperature, so that losses are skewed. The model of ``rare`` is sure, and seldom but then badly wrong. A model's own
figures are those of a million questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from core.calibration.bins import top_label
from core.calibration.figures import accuracy_estimate, loss_estimate
from core.calibration.means import skewed_mean_interval
from core.calibration.metrics import accuracy, brier, brier_terms, log_losses
from core.calibration.recalibration import tempered
from core.conformal.probabilities import log_softmax, softmax
from core.estimates import Estimate
from core.records import FloatArray, IntArray
from tests.simulation.case import INTERVAL, Case

ESTIMATES: dict[str, Callable[[FloatArray, IntArray], Estimate]] = {
    "accuracy": lambda logits, labels: accuracy_estimate(top_label(softmax(logits), labels)),
    "nll": lambda logits, labels: loss_estimate(log_losses(log_softmax(logits), labels)),
    "brier": lambda logits, labels: loss_estimate(brier_terms(softmax(logits), labels)),
}
"""From a figure to its estimate from logits (n, k) and labels (n,)."""
SIZES = (200, 1000, 5000)
LARGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Law:
    """Four options with normal logits of this spread; the truth is drawn from softmax(logits / ``temperature``)."""

    spread: float
    temperature: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Logits (n, 4) and labels (n,)."""
        logits = rng.normal(0, self.spread, (n, 4))
        cumulative = softmax(logits / self.temperature).cumsum(axis=1)
        return logits, (cumulative < rng.random((n, 1))).sum(axis=1).clip(0, 3)


LAWS = {"overconfident": Law(3.0, 2.5), "cloze": Law(6.0, 6.0), "rare": Law(5.0, 1.3)}
WARM = 1.7
"""The temperature whose change of NLL is bracketed."""


def change(logits: FloatArray, labels: IntArray) -> FloatArray:
    """What the temperature changes of each question's loss, (n,)."""
    warm = log_softmax(tempered(log_softmax(logits), WARM))
    return log_losses(warm, labels) - log_losses(log_softmax(logits), labels)


@cache
def truth(name: str) -> dict[str, float]:
    """The model's own figures."""
    logits, labels = LAWS[name].draw(LARGE, np.random.default_rng([7, len(name)]))
    p, logs = softmax(logits), log_softmax(logits)
    return {
        "accuracy": accuracy(p, labels),
        "nll": float(log_losses(logs, labels).mean()),
        "brier": brier(p, labels),
        "change": float(change(logits, labels).mean()),
    }


def held(name: str, figure: str, n: int, seed: int) -> bool:
    """Whether the page's interval of a figure of n questions holds the model's own.

    The three estimates are those of :func:`core.calibration.figures.estimates`
    (``tests/core/calibration/test_luck.py``), whose calibration errors would take 99% of the time here.
    """
    logits, labels = LAWS[name].draw(n, np.random.default_rng([seed, n]))
    found = ESTIMATES[figure](logits, labels)
    return found.low <= truth(name)[figure] <= found.high


def change_held(name: str, n: int, seed: int) -> bool:
    """The same of a change of NLL, which the table of recalibrations brackets."""
    _, low, high = skewed_mean_interval(change(*LAWS[name].draw(n, np.random.default_rng([seed, n]))))
    return low <= truth(name)["change"] <= high


CASES: tuple[Case, ...] = (
    *(
        Case(f"likelihood: {figure} of {n} questions, {name}", partial(held, name, figure, n), INTERVAL, 40, 2000)
        for name in LAWS
        for figure in ESTIMATES
        for n in SIZES
    ),
    *(
        Case(f"likelihood: change of NLL of {n} questions, {name}", partial(change_held, name, n), INTERVAL, 40, 2000)
        for name in LAWS
        for n in SIZES
    ),
)
