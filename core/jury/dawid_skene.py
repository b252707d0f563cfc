"""Dawid & Skene (1979): how reliable each juror is, learnt from their verdicts alone, without the truth.

EM over two classes: given how often each juror says True of true and of false answers, each answer has a posterior;
given the posteriors, the rates are counted anew. One imagined verdict of each kind keeps the rates off 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from core.records import BoolArray, FloatArray

STEPS = 1000
CLOSE = 1e-10


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """``prior`` share of right answers; ``says_true`` (2, j): P(juror says True | wrong), P(… | right)."""

    prior: float
    says_true: FloatArray

    @classmethod
    def fit(cls, verdicts: BoolArray) -> DawidSkene:
        """Fit on verdicts (n, j), starting from the share of jurors that say True."""
        right = verdicts.mean(axis=1)
        for _ in range(STEPS):
            weights = np.stack([1 - right, right])
            rates = (weights @ verdicts + 1) / (weights.sum(axis=1, keepdims=True) + 2)
            found = cls(float((right.sum() + 1) / (len(right) + 2)), rates)
            new = found.posterior(verdicts)
            moved = float(abs(new - right).max())
            right = new
            if moved < CLOSE:
                break
        return found

    def posterior(self, verdicts: BoolArray) -> FloatArray:
        """The probability that each answer is right, (n,)."""
        wrong, right = self.says_true
        true, false = np.log(right) - np.log(wrong), np.log(1 - right) - np.log(1 - wrong)
        odds = np.log(self.prior) - np.log(1 - self.prior) + np.where(verdicts, true, false).sum(axis=1)
        return np.asarray(expit(odds), dtype=np.float64)
