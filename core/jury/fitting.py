"""Fits of a probability to outcomes: a logistic regression by Newton's method, Platt's sigmoid and an isotonic step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from core.records import BoolArray, FloatArray

SMALLEST = 1e-8
"""Probabilities are kept this far from 0 and 1 before logarithms are taken."""
STEPS = 100


def log_odds(p_true: FloatArray, p_false: FloatArray) -> FloatArray:
    """``log p_true − log p_false``, of the same shape, each at least 1e-8."""
    return np.asarray(np.log(np.maximum(p_true, SMALLEST)) - np.log(np.maximum(p_false, SMALLEST)), dtype=np.float64)


def logistic(features: FloatArray, targets: FloatArray, *, penalty: float = 0.0) -> FloatArray:
    """Weights (d + 1,), the intercept last, of P = σ(x·w + b) that minimise Σ loss + penalty/2 · |w|².

    ``features`` (n, d), ``targets`` (n,) from 0 to 1. The intercept is not penalised; a penalty of 1 is
    scikit-learn's C = 1. Newton's method, each step halved until the loss falls.
    """
    x = np.column_stack([features, np.ones(len(features))])
    ridge = np.diag([penalty] * features.shape[1] + [0.0])
    w = np.zeros(x.shape[1])
    loss = _loss(x, targets, w, ridge)
    for _ in range(STEPS):
        p = expit(x @ w)
        gradient = x.T @ (p - targets) + ridge @ w
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge + 1e-12 * np.eye(len(w))
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while (new := _loss(x, targets, w - size * step, ridge)) > loss and size > 1e-10:
            size /= 2
        w = w - size * step
        done = loss - new <= 1e-14 * (1 + abs(loss))
        loss = new
        if done:
            break
    return w


def _loss(x: FloatArray, targets: FloatArray, w: FloatArray, ridge: FloatArray) -> float:
    z = x @ w
    return float((np.logaddexp(0, z) - targets * z).sum() + 0.5 * w @ ridge @ w)


@dataclass(frozen=True, slots=True)
class Platt:
    """``σ(slope · log-odds + intercept)`` (Platt 1999, with his targets off 0 and 1 by one row)."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, odds: FloatArray, labels: BoolArray) -> Platt:
        """Fit on log-odds (n,) and what was true (n,)."""
        right, wrong = int(labels.sum()), int((~labels).sum())
        targets = np.where(labels, (right + 1) / (right + 2), 1 / (wrong + 2))
        slope, intercept = logistic(odds[:, None], targets)
        return cls(float(slope), float(intercept))

    def __call__(self, odds: FloatArray) -> FloatArray:
        """The probability of True at log-odds (n,)."""
        return np.asarray(expit(self.slope * odds + self.intercept), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A probability that never falls as p grows: ``heights`` at ``places``, straight between, level beyond them."""

    places: FloatArray
    heights: FloatArray

    @classmethod
    def fit(cls, p: FloatArray, labels: BoolArray) -> Isotonic:
        """Fit on probabilities (n,) and what was true (n,); rows of equal p count together."""
        places, group = np.unique(p, return_inverse=True)
        counts = np.bincount(group).astype(np.float64)
        means = np.bincount(group, weights=labels) / counts
        return cls(places, _never_falling(means, counts))

    def __call__(self, p: FloatArray) -> FloatArray:
        """The probability of True at p (n,)."""
        return np.asarray(np.interp(p, self.places, self.heights), dtype=np.float64)


def _never_falling(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The nearest values, by weighted squares, that never fall: neighbours that do are pooled (Ayer et al. 1955)."""
    blocks: list[list[float]] = []  # mean, weight, how many values
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, more, count = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * more) / (last[1] + more)
            last[1] += more
            last[2] += count
    return np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])
