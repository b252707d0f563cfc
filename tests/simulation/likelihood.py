"""Accuracy, NLL and Brier score on the Calibration page: do their intervals hold the model's own figures?

Each law is an overconfident model's: logits are normal, and the truth is drawn from their softmax at a higher
temperature, so that losses are skewed. The model of ``rare`` is sure, and seldom but then badly wrong. At the edges are
models that are nearly always right, logits with the tails of Student's t, and questions that are each asked five times.
A model's own figures are those of a million questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from core.calibration.bins import top_label
from core.calibration.figures import accuracy_estimate, loss_estimates
from core.calibration.means import loss_interval
from core.calibration.metrics import accuracy, brier, log_losses
from core.calibration.recalibration import tempered
from core.conformal.probabilities import log_softmax, softmax, top_options
from core.estimates import Estimate
from core.records import FloatArray, IntArray
from tests.simulation.case import INTERVAL, Case


def _losses(logits: FloatArray, labels: IntArray, clusters: IntArray | None) -> dict[str, Estimate]:
    return dict(loss_estimates(softmax(logits), log_softmax(logits), labels, clusters))


ESTIMATES: dict[str, Callable[[FloatArray, IntArray, IntArray | None], Estimate]] = {
    "accuracy": lambda logits, labels, clusters: accuracy_estimate(top_label(softmax(logits), labels), clusters),
    "nll": lambda logits, labels, clusters: _losses(logits, labels, clusters)["nll"],
    "brier": lambda logits, labels, clusters: _losses(logits, labels, clusters)["brier"],
}
"""From a figure to its estimate from logits (n, k), labels (n,) and clusters (n,)."""
SIZES = (200, 1000, 5000)
EDGE_SIZES = (60, 200, 1000)
LARGE = 1_000_000
REPEATS = 5
FEW_SAYS = "with few wrong answers the interval is wide, and holds in at least 93 of 100 samples"


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


@dataclass(frozen=True, slots=True)
class NearlyPerfect:
    """Confidences from .99 to .9995; the model errs ``errors`` times as often as they say."""

    errors: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        confidence = rng.uniform(0.99, 0.9995, n)
        p = np.column_stack([confidence, (1 - confidence)[:, None] * rng.dirichlet(np.ones(3), n)])
        wrong = rng.random(n) < self.errors * (1 - confidence)
        others = (p[:, 1:].cumsum(axis=1) < rng.random((n, 1)) * p[:, 1:].sum(axis=1, keepdims=True)).sum(axis=1)
        return np.log(p), np.where(wrong, 1 + others.clip(0, 2), 0)


@dataclass(frozen=True, slots=True)
class HeavyTails:
    """Logits with the tails of Student's t with two degrees of freedom."""

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        logits = 3 * rng.standard_t(2, (n, 4))
        cumulative = softmax(logits / 2).cumsum(axis=1)
        return logits, (cumulative < rng.random((n, 1))).sum(axis=1).clip(0, 3)


LAWS = {"overconfident": Law(3.0, 2.5), "cloze": Law(6.0, 6.0), "rare": Law(5.0, 1.3)}
EDGES = {
    "near-perfect": NearlyPerfect(1.0),
    "near-perfect, overconfident": NearlyPerfect(3.0),
    "heavy tails": HeavyTails(),
    "repeated": Law(3.0, 2.5),
}
WARM = 1.7
"""The temperature whose change of NLL is bracketed."""


def change(logits: FloatArray) -> FloatArray:
    """What the temperature changes of each question's loss if each option is true, (n, k)."""
    plain = log_softmax(logits)
    return np.asarray(plain - log_softmax(tempered(plain, WARM)))


def draw(name: str, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray, IntArray | None]:
    """Logits (n, 4), labels (n,) and clusters (n,) of a law."""
    if name != "repeated":
        return *(LAWS | EDGES)[name].draw(n, rng), None
    logits, labels = EDGES[name].draw(n // REPEATS, rng)
    questions = np.repeat(np.arange(n // REPEATS), REPEATS)
    return logits[questions], labels[questions], questions


@cache
def truth(name: str) -> dict[str, float]:
    """The model's own figures."""
    logits, labels = (LAWS | EDGES)[name].draw(LARGE, np.random.default_rng([7, len(name)]))
    p, logs = softmax(logits), log_softmax(logits)
    return {
        "accuracy": accuracy(p, labels),
        "nll": float(log_losses(logs, labels).mean()),
        "brier": brier(p, labels),
        "change": float(change(logits)[np.arange(LARGE), labels].mean()),
    }


def held(name: str, figure: str, n: int, seed: int) -> bool:
    """Whether the page's interval of a figure of n questions holds the model's own.

    The three estimates are those of :func:`core.calibration.figures.estimates`
    (``tests/core/calibration/test_luck.py``), whose calibration errors would take 99% of the time here.
    """
    found = ESTIMATES[figure](*draw(name, n, np.random.default_rng([seed, n])))
    return found.low <= truth(name)[figure] <= found.high


def change_held(name: str, n: int, seed: int) -> bool:
    """The same of a change of NLL, which the table of recalibrations brackets."""
    logits, labels, clusters = draw(name, n, np.random.default_rng([seed, n]))
    p = softmax(logits)
    found = loss_interval(change(logits), labels, top_options(p), p, clusters=clusters)
    return found.low <= truth(name)["change"] <= found.high


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
    *(
        Case(
            f"likelihood: {'change of NLL' if figure == 'change' else figure} of {n} questions, {name}",
            partial(change_held, name, n) if figure == "change" else partial(held, name, figure, n),
            (0.93, 1.0),
            20,
            1000,
            FEW_SAYS,
        )
        for name in EDGES
        for figure in (*ESTIMATES, "change")
        for n in EDGE_SIZES
    ),
)
