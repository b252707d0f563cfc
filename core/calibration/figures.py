"""Calibration figures with 95% intervals.

Accuracy has the exact interval of Clopper and Pearson, as on every page. NLL and Brier score have one that allows for
skewness and for few wrong answers (:mod:`core.calibration.means`). The NLL has none if it is infinite, or could be: if
some option of some question has probability 0. Calibration errors are sums of absolute values, and noise raises them,
so they have special intervals: :mod:`core.calibration.binned`, :mod:`core.calibration.classwise` and
:mod:`core.calibration.smooth_interval`. The edges of bins of equal mass are treated as fixed.

Questions of a cluster (:mod:`core.conformal.clusters`) count as one unit in every interval. With fewer than 10
questions, or clusters, only accuracy and MCE have an interval.
"""

from dataclasses import replace

import numpy as np

from core.calibration.binned import binned_estimates
from core.calibration.bins import ECE_BINS, TopLabel, edges, place, top_label
from core.calibration.classwise import classwise_estimate
from core.calibration.consistency import calibrated_sums, uniforms
from core.calibration.errors import binned_error, class_columns
from core.calibration.estimate import CalibrationEstimate
from core.calibration.means import MeanInterval, loss_interval, seen_loss_interval
from core.calibration.metrics import brier_options
from core.calibration.smooth import error_at, fixed_points, on_grid
from core.calibration.smooth_interval import CELLS, smooth_estimate
from core.conformal.coverage import clustered_share_interval
from core.conformal.probabilities import log, top_options
from core.records import FloatArray, IntArray

LUCKY_DRAWS = 200
CHUNK = 50
"""The number of draws of a calibrated model that are computed at once."""
ROUGH = 12
"""The number of halvings for the width of a draw's smooth error; an error of 1/4096 is far below its spread."""


def estimates(
    probabilities: FloatArray,
    labels: IntArray,
    *,
    log_probabilities: FloatArray | None = None,
    bins: int = ECE_BINS,
    by: str = "width",
    seed: int = 0,
    clusters: IntArray | None = None,
) -> dict[str, CalibrationEstimate]:
    """``accuracy, nll, brier, ece, over, under, mce, l2, classwise_ece, smooth_ece`` of n questions.

    ``probabilities`` are (n, k) and ``labels`` (n,). NLL is computed from ``log_probabilities`` (n, k), or from log p
    without them; NaN marks an option that a question lacks. ``seed`` draws the calibrated models that give the bias of
    MCE, class-wise and smooth ECE. ``clusters`` (n,) are the questions that belong together.

    Raises :class:`InputError` for invalid probabilities, labels or bins.
    """
    top = top_label(probabilities, labels)
    logs = log(probabilities) if log_probabilities is None else log_probabilities
    losses = loss_estimates(probabilities, logs, labels, clusters)
    figures = _estimates(top, losses, bins=bins, by=by, seed=seed, clusters=clusters)
    index, _ = class_columns(probabilities, labels, bins=bins, by=by)
    chance = _classwise_chance(probabilities, index, bins, np.random.default_rng([seed, 3]), clusters)
    figures["classwise_ece"] = classwise_estimate(probabilities, labels, chance, bins=bins, by=by, clusters=clusters)
    order = ("accuracy", "nll", "brier", "ece", "over", "under", "mce", "l2", "classwise_ece", "smooth_ece")
    return {name: figures[name] for name in order}


def top_estimates(
    top: TopLabel,
    losses: FloatArray,
    *,
    bins: int = ECE_BINS,
    by: str = "width",
    seed: int = 0,
    clusters: IntArray | None = None,
) -> dict[str, CalibrationEstimate]:
    """As :func:`estimates`, but without the Brier score and class-wise ECE, which need every option's probability.

    ``losses`` (n,) are −log p of the true options, in nats. This is for tokens: vocabularies have tens of thousands of
    options, and only the top option and the loss are stored. With few wrong, or few right, answers NLL has no interval,
    because the losses of other options are not known.
    """
    nll = _loss_estimate(losses, seen_loss_interval(losses, top.correct, clusters))
    return _estimates(top, {"nll": nll}, bins=bins, by=by, seed=seed, clusters=clusters)


def _estimates(
    top: TopLabel, losses: dict[str, CalibrationEstimate], *, bins: int, by: str, seed: int, clusters: IntArray | None
) -> dict[str, CalibrationEstimate]:
    errors = binned_estimates(top, bins=bins, by=by, clusters=clusters)
    index = place(top.confidence, edges(top.confidence, bins=bins, by=by))
    gap, smooth = _top_luck(top, index, bins, np.random.default_rng([seed, 2]), clusters)
    return {
        "accuracy": accuracy_estimate(top, clusters),
        **losses,
        **errors,
        "mce": replace(errors["mce"], bias=float(gap.mean())),
        "smooth_ece": smooth_estimate(top, smooth, clusters),
    }


def accuracy_estimate(top: TopLabel, clusters: IntArray | None = None) -> CalibrationEstimate:
    """The share of questions whose top option is true, with its exact interval."""
    interval = clustered_share_interval(top.correct, clusters)
    return CalibrationEstimate(float(top.correct.mean()), *interval, len(top))


def loss_estimates(
    probabilities: FloatArray, log_probabilities: FloatArray, labels: IntArray, clusters: IntArray | None = None
) -> dict[str, CalibrationEstimate]:
    """``nll`` and ``brier`` with their intervals (:mod:`core.calibration.means`), as :func:`estimates` has them."""
    top, lacking = top_options(probabilities), np.isnan(log_probabilities)
    options = {"nll": -log_probabilities, "brier": np.where(lacking, np.nan, brier_options(probabilities, labels))}
    return {
        name: _loss_estimate(
            losses[np.arange(len(labels)), labels],
            loss_interval(losses, labels, top, probabilities, clusters=clusters),
            most=2.0 if name == "brier" else np.inf,
        )
        for name, losses in options.items()
    }


def _loss_estimate(seen: FloatArray, interval: MeanInterval, *, most: float = np.inf) -> CalibrationEstimate:
    infinite = int(np.isinf(seen).sum())
    low, high = np.clip([interval.low, interval.high], 0.0, most).tolist()
    return CalibrationEstimate(
        interval.mean, low, high, len(seen), infinite=infinite, reason="" if infinite else interval.reason
    )


def _smooth_errors(top: TopLabel, gaps: FloatArray) -> FloatArray:
    """The smooth error of each row of gaps (r, n) at the confidences of ``top``, (r,)."""
    sums = np.stack([on_grid(top.confidence, row, cells=CELLS) for row in gaps])
    return error_at(sums, len(top), fixed_points(sums, len(top), halvings=ROUGH))


def _top_luck(
    top: TopLabel, index: IntArray, bins: int, rng: np.random.Generator, clusters: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Largest gaps and smooth errors of a calibrated model with these confidences, one value per draw, (200,) each."""
    sums = calibrated_sums(top, index, bins=bins, draws=LUCKY_DRAWS, rng=rng, clusters=clusters)
    counts, n = np.bincount(index, minlength=bins), len(top)
    smooth = [
        _smooth_errors(top, (uniforms(rng, CHUNK, n, clusters) < top.confidence) - top.confidence)
        for _ in range(LUCKY_DRAWS // CHUNK)
    ]
    return (np.abs(sums) / np.maximum(counts, 1)).max(axis=1), np.concatenate(smooth)


def _classwise_chance(
    probabilities: FloatArray, index: IntArray, bins: int, rng: np.random.Generator, clusters: IntArray | None
) -> FloatArray:
    """Class-wise errors of a model that is calibrated for every option, one value per draw, (200,)."""
    n, k = probabilities.shape
    cumulative = np.cumsum(probabilities, axis=1)
    promised = np.bincount(index.ravel(), weights=probabilities.ravel(), minlength=k * bins)
    values = np.empty(LUCKY_DRAWS)
    for draw in range(LUCKY_DRAWS):
        # Each label is drawn from its row of probabilities: the first option whose cumulative sum reaches u.
        labels = (cumulative < uniforms(rng, 1, n, clusters).T).sum(axis=1).clip(0, k - 1)
        hits = np.bincount(index[np.arange(n), labels], minlength=k * bins)
        values[draw] = binned_error(np.asarray(hits - promised, dtype=np.float64), n) / k
    return values
