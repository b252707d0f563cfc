"""Dawid & Skene (1979): the reliability of each juror, estimated from the verdicts alone, without the truth.

The model is fitted by EM with two classes, in jumps (:meth:`DawidSkene.fit`). E-step: from the rates at which each
juror says True of right and of wrong answers, compute each answer's posterior probability of being right. M-step: from
the posteriors, compute the rates again. One imagined verdict of each kind (add-one smoothing) keeps the rates away from
0 and 1.

The model assumes that, given the truth, jurors err independently. This cannot hold among disputed answers only, because
one juror's verdict then restricts the others', and a fit on disputed answers alone fails. So the model is fitted on all
answers. Its posterior is valid for disputed answers without correction, because the verdicts alone determine which
answers are disputed. The starting values decide which of the two classes is "right": the fit starts from the majority's
verdicts. A tie says nothing about the answer or the juror, so it counts for neither class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from core.records import BoolArray, FloatArray

FEWEST = 3
"""The fewest jurors. The verdicts of two have fewer degrees of freedom than the model has parameters, so they do not
determine it."""
PLAIN_STEPS = 10
"""Steps of EM before the first jump, so that a jump starts near the fixed point that EM from the majority finds."""
STEPS = 1000
CLOSE = 1e-10


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """A fitted model of j jurors.

    ``prior`` is the share of right answers. ``says_true`` (2, j) holds P(juror says True | answer wrong) in row 0 and
    P(juror says True | answer right) in row 1.
    """

    prior: float
    says_true: FloatArray

    @classmethod
    def fit(cls, verdicts: FloatArray | BoolArray) -> DawidSkene:
        """Fit on verdicts (n, j) of all kinds of answers, ½ for a tie, from the share of jurors that say True.

        EM creeps where jurors agree little. Two of its steps say where it is going, and SQUAREM (Varadhan & Roland
        2008, scheme S3) jumps there. A jump that leaves [0, 1] or has a smaller likelihood is not made, so the fit
        ends at a fixed point of EM.
        """
        em = _Steps(verdicts)
        right = em.kinds.mean(axis=1)  # (q,): posterior of each kind of row
        for _ in range(PLAIN_STEPS):
            right = em.step(right)
        for _ in range(STEPS):
            first = em.step(right)
            move = first - right
            if abs(move).max() < CLOSE:
                break
            second, reached = em.measured_step(first)
            turn = second - first - move
            length = max(1.0, float(np.sqrt((move @ move) / max(turn @ turn, np.finfo(np.float64).tiny))))
            jump = right + 2 * length * move + length**2 * turn
            right = second
            if length > 1 and np.isfinite(jump).all() and jump.min() >= 0 and jump.max() <= 1:
                landed, likelihood = em.measured_step(jump)
                right = landed if likelihood >= reached else second
        prior, if_wrong, if_right = em.rates(right)
        return cls(float(prior), np.stack([if_wrong, if_right]))

    def posterior(self, verdicts: FloatArray | BoolArray) -> FloatArray:
        """The probability that each answer is right, (n,)."""
        wrong, right = self.says_true
        true, false = np.log(right) - np.log(wrong), np.log(1 - right) - np.log(1 - wrong)
        odds = (
            np.log(self.prior)
            - np.log(1 - self.prior)
            + np.select([verdicts == 1, verdicts == 0], [true, false], 0.0).sum(axis=1)
        )
        return np.asarray(expit(odds), dtype=np.float64)


class _Steps:
    """EM on verdicts (n, j) of q different rows. Equal rows have the same posterior, so each is computed once."""

    def __init__(self, verdicts: FloatArray | BoolArray) -> None:
        self.kinds, self.counts = np.unique(verdicts, axis=0, return_counts=True)
        self.n = len(verdicts)
        self.patterns, self.tied = (self.kinds == 1).astype(np.float64), (self.kinds == 0.5).astype(np.float64)
        # (j,): how often each juror says True, and neither
        self.trues, self.ties = self.counts @ self.patterns, self.counts @ self.tied

    def rates(self, right: FloatArray) -> tuple[np.float64, FloatArray, FloatArray]:
        """M-step: from posteriors (q,) the prior, and P(True | wrong) and P(True | right) of each juror, (j,)."""
        # P(True | right) = (Σ r_i·v_ij + 1) / (Σ r_i + 2), the same with 1 − r_i for wrong; the prior is
        # (Σ r_i + 1) / (n + 2).
        weights = self.counts * right
        m, hits, none = weights.sum(), weights @ self.patterns, weights @ self.tied
        if_right = (hits + 1) / (m - none + 2)
        if_wrong = (self.trues - hits + 1) / (self.n - m - (self.ties - none) + 2)
        return (m + 1) / (self.n + 2), if_wrong, if_right

    def step(self, right: FloatArray) -> FloatArray:
        """From posteriors (q,) those of the model that they give."""
        of_right, of_wrong = self._joint(*self.rates(right))
        return np.asarray(expit(of_right - of_wrong), dtype=np.float64)

    def measured_step(self, right: FloatArray) -> tuple[FloatArray, float]:
        """The same, and the log-likelihood of the model with that of the smoothing."""
        rates = self.rates(right)
        of_right, of_wrong = self._joint(*rates)
        smoothing = sum(float(np.log(p * (1 - p)).sum()) for p in (rates[0], rates[2], rates[1]))
        likelihood = float(self.counts @ np.logaddexp(of_right, of_wrong)) + smoothing
        return np.asarray(expit(of_right - of_wrong), dtype=np.float64), likelihood

    def _joint(self, prior: np.float64, if_wrong: FloatArray, if_right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E-step: log P(row, right) and log P(row, wrong), (q,) each; the posterior is their logistic difference."""
        return (
            np.log(prior) + self._log_probability(if_right),
            np.log(1 - prior) + self._log_probability(if_wrong),
        )

    def _log_probability(self, says_true: FloatArray) -> FloatArray:
        """log P(row) from each juror's P(True), (j,): Σ log p for True, Σ log(1 − p) for False; a tie adds nothing."""
        true, false = np.log(says_true), np.log1p(-says_true)
        return np.asarray(self.patterns @ (true - false) + false.sum() - self.tied @ false, dtype=np.float64)
