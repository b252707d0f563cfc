"""Selective prediction: how often a model is right if it may abstain.

There are two rules. One answers if the prediction set holds a single option. The other answers the most confident share
of questions by top probability; its error against that share is the risk–coverage curve (El-Yaniv & Wiener 2010;
Geifman & El-Yaniv 2017, arXiv 1705.08500).
"""

from dataclasses import dataclass

import numpy as np

from core.calibration.metrics import correct
from core.conformal.alpha import ALPHAS
from core.conformal.curve import thresholds
from core.conformal.probabilities import on_grid
from core.conformal.scores import score, true_scores
from core.conformal.tuning import tune
from core.errors import InputError
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class Abstention:
    """Answering only if the set holds a single option, at each alpha from 1 to 999 thousandths, (999,) each.

    ``answered`` is the share of test questions that are answered, ``accuracy`` the share of those that are right (NaN
    if none is), ``wrong`` the share of all questions that are answered wrongly.
    """

    alphas: IntArray
    answered: FloatArray
    accuracy: FloatArray
    wrong: FloatArray

    def cost(self, abstaining: float) -> FloatArray:
        """The mean cost of a question at each alpha. A wrong answer costs 1 and no answer costs ``abstaining``, in [0,
        1].

        Raises :class:`InputError` for another price.
        """
        if not 0 <= abstaining <= 1:
            raise InputError(
                f"the cost of abstaining must lie in [0, 1], where a wrong answer costs 1; got {abstaining}"
            )
        return self.wrong + abstaining * (1 - self.answered)


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """The i most confident of m test questions, i = 1 … m: the ``share`` that is answered, and its ``risk``, the share
    of these that is wrong, (m,) each. Of equally confident ones, it is the mean over their orders."""

    share: FloatArray
    risk: FloatArray


def abstention(run: Evaluation, name: str = "lac") -> Abstention:
    """Answer where the set by the score ``name`` holds one option, at each alpha."""
    tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    scores = score(name, run.option_probabilities, seed=run.spec.seed, parameters=tuned.parameters)
    q = thresholds(true_scores(scores[tuned.calibration], run.labels[tuned.calibration]))
    lowest = np.sort(scores[run.test], axis=1)[:, :2]
    right = np.nanargmin(scores[run.test], axis=1) == run.labels[run.test]
    m = len(run.test)

    def single(rows: FloatArray) -> IntArray:
        """How many of the rows (·, 2) have their lowest score within each threshold and the next one beyond it."""
        first, second = np.sort(rows[:, 0]), np.sort(rows[:, 1])
        return np.searchsorted(first, q, side="right") - np.searchsorted(second, q, side="right")

    answered, hits = single(lowest), single(lowest[right])
    with np.errstate(invalid="ignore"):
        accuracy = np.where(answered > 0, hits / np.maximum(answered, 1), np.nan)
    return Abstention(ALPHAS, answered / m, accuracy, (answered - hits) / m)


def risk_coverage(run: Evaluation) -> RiskCoverage:
    """The risk–coverage curve by top probability."""
    p, labels = run.probabilities[run.test], run.labels[run.test]
    return surest_first(p.max(axis=1), 1 - correct(p, labels))


def surest_first(confidence: FloatArray, wrong: FloatArray) -> RiskCoverage:
    """The curve of m answers with their confidence and whether they are ``wrong`` (1 or 0), (m,) each.

    The order of equal confidences says nothing, so the risk is its mean over all orders of them: after j of g equally
    confident answers with w wrong ones, j·w/g of these are wrong on average. The file's order never counts.

    >>> surest_first(np.array([0.8, 0.8, 0.6]), np.array([0.0, 1.0, 0.0])).risk.round(3).tolist()
    [0.5, 0.5, 0.333]
    """
    _, group, sizes = np.unique(-on_grid(confidence), return_inverse=True, return_counts=True)
    share_wrong = np.bincount(group, weights=wrong) / sizes
    places = np.arange(1, len(wrong) + 1)
    return RiskCoverage(places / len(wrong), np.cumsum(np.repeat(share_wrong, sizes)) / places)
