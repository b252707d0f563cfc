"""Calibration figures in Python: those that the temperature slider computes in the browser, and a class-wise error."""

from dataclasses import dataclass

import numpy as np

from core.calibration.bins import ECE_BINS, edges, place, top_label
from core.calibration.errors import binned_error, class_columns, top_errors
from core.calibration.metrics import log_losses
from core.calibration.recalibration import tempered
from core.conformal.probabilities import log_softmax, softmax
from core.conformal.scores import score, true_scores
from core.conformal.threshold import exact
from core.records import FloatArray, IntArray
from core.reports.calibration.temperature import HUNDRED, check_hundredths
from core.reports.evaluation import Evaluation
from core.reports.report import DEFAULT_SCORES


@dataclass(frozen=True, slots=True)
class TemperedSets:
    """Conformal sets of one score at one temperature and alpha."""

    threshold: float
    coverage: float
    mean_set_size: float


@dataclass(frozen=True, slots=True)
class Tempered:
    """Figures of the test questions at a temperature.

    ``nll_infinite`` questions give the truth probability 0, which makes ``nll`` infinite; frequencies of picks have no
    NLL (NaN). ``counts``, ``confidence`` and ``accuracies`` are by bin (NaN if it is empty), ``sets`` by score.
    """

    temperature: float
    accuracy: float
    nll: float
    nll_infinite: int
    ece: float
    mce: float
    over: float
    under: float
    counts: IntArray
    confidence: FloatArray
    accuracies: FloatArray
    sets: dict[str, TemperedSets]


def at_temperature(
    run: Evaluation, temperature: int, alpha: int, *, bins: int = ECE_BINS, by: str = "width"
) -> Tempered:
    """The run at ``temperature`` hundredths and ``alpha`` thousandths."""
    logits = tempered(run.log_probabilities, check_hundredths(temperature) / HUNDRED)
    p = softmax(logits)
    tested, labels = p[run.test], run.labels[run.test]
    top = top_label(tested, labels)
    errors = top_errors(top, bins=bins, by=by)
    index = place(top.confidence, edges(top.confidence, bins=bins, by=by))
    counts = np.bincount(index, minlength=bins)
    filled = np.where(counts > 0, counts, np.nan)
    losses = log_losses(log_softmax(logits[run.test]), labels)
    if run.samples is not None:
        losses = np.full_like(losses, np.nan)
    sets = {}
    for name in DEFAULT_SCORES:
        values = score(name, run.lacking(p), seed=run.spec.seed)
        limit = exact(true_scores(values[run.calibration], run.labels[run.calibration]), alpha)
        members = values[run.test] <= limit
        held = members[np.arange(len(labels)), labels]
        sets[name] = TemperedSets(limit, float(held.mean()), float(members.sum(axis=1).mean()))
    return Tempered(
        temperature=temperature / HUNDRED,
        accuracy=float(top.correct.mean()),
        nll=float(losses.mean()),
        nll_infinite=int(np.isinf(losses).sum()),
        ece=errors.ece,
        mce=errors.mce,
        over=errors.over,
        under=errors.under,
        counts=counts,
        confidence=np.bincount(index, weights=top.confidence, minlength=bins) / filled,
        accuracies=np.bincount(index, weights=top.correct, minlength=bins) / filled,
        sets=sets,
    )


def classwise_error(probabilities: FloatArray, labels: IntArray, *, bins: int = ECE_BINS, by: str = "width") -> float:
    """The mean over the k options of each option's ECE. Raises :class:`InputError` for invalid bins.

    >>> classwise_error(np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([0, 1]))
    0.25
    """
    n, k = probabilities.shape
    index, gaps = class_columns(probabilities, labels, bins=bins, by=by)
    sums = np.bincount(index.ravel(), weights=gaps.ravel(), minlength=k * bins).astype(np.float64)
    return float(binned_error(sums, n) / k)
