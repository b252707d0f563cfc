"""Dawid & Skene (1979): the reliability of each juror, estimated from the verdicts alone, without the truth.

The model is fitted by EM with two classes. E-step: from the rates at which each juror says True of right and of wrong
answers, compute each answer's posterior probability of being right. M-step: from the posteriors, compute the rates
again. One imagined verdict of each kind (add-one smoothing) keeps the rates away from 0 and 1.

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
STEPS = 1000
CLOSE = 1e-8


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
        """Fit on verdicts (n, j) of all kinds of answers, ½ for a tie, from the share of jurors that say True."""
        # kinds (q, j): the different rows of verdicts. Equal rows have the same posterior, so each is computed once.
        kinds, counts = np.unique(verdicts, axis=0, return_counts=True)
        n = len(verdicts)
        patterns, tied = (kinds == 1).astype(np.float64), (kinds == 0.5).astype(np.float64)
        trues, ties = counts @ patterns, counts @ tied  # (j,): how often each juror says True, and neither
        right = kinds.mean(axis=1)  # (q,): posterior of each kind of row
        for _ in range(STEPS):
            # M-step: P(True | right) = (Σ r_i·v_ij + 1) / (Σ r_i + 2), the same with 1 − r_i for wrong; the prior is
            # (Σ r_i + 1) / (n + 2).
            weights = counts * right
            m, hits, none = weights.sum(), weights @ patterns, weights @ tied
            if_right, if_wrong = (
                (hits + 1) / (m - none + 2),
                (trues - hits + 1) / (n - m - (ties - none) + 2),
            )
            prior = (m + 1) / (n + 2)
            # E-step: each juror that says True adds log(if_right / if_wrong) to the prior's log-odds. Each that says
            # False adds log((1 − if_right) / (1 − if_wrong)).
            false = np.log((1 - if_right) / (1 - if_wrong))
            of_false = false.sum() - tied @ false
            new = expit(np.log(prior / (1 - prior)) + of_false + patterns @ (np.log(if_right / if_wrong) - false))
            moved = abs(new - right).max()
            right = new
            if moved < CLOSE:
                break
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
