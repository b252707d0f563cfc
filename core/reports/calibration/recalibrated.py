"""A run before and after recalibration: calibration of its probabilities, and its conformal sets.

The calibration questions are split into two seeded halves; repeats of a question stay in the same half. A map is fitted
on one half, the conformal threshold on the other, and everything is measured on the test questions. Then the halves
change places, and figures are means of the two (cross-fitting). "Before" takes its thresholds from the same halves, so
that both have equally few questions for the threshold.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.calibration.means import loss_interval
from core.calibration.metrics import brier, correct, expected_calibration_error, log_losses
from core.calibration.recalibration import METHODS, Recalibration, fit
from core.conformal.clusters import within
from core.conformal.draws import FITTING, first_part
from core.conformal.probabilities import log_softmax, softmax, top_options
from core.conformal.scores import score, true_scores
from core.conformal.threshold import exact
from core.errors import InputError
from core.records import FloatArray, IntArray
from core.reports.alpha_lab.view import clustered
from core.reports.evaluation import Evaluation
from core.reports.report import DEFAULT_SCORES

BEFORE = "none"
OF_FREQUENCIES = ("isotonic",)
"""The methods that take no logarithms of probabilities."""
NO_LOGARITHM = "temperature, vector and Platt scaling need logarithms, and a frequency of 0 has none"
NEEDED = 40
"""The fewest calibration questions that can be halved."""


@dataclass(frozen=True, slots=True)
class Recalibrated:
    """A run's test figures under one map, as means of two fits.

    ``method`` is ``none`` for the run as it is. ``coverage`` and ``mean_set_size`` are by score at alpha.
    ``nll_infinite`` counts the test questions for which one of the fits gives the truth probability 0, which makes
    ``nll`` infinite. ``nll_change`` is the mean change of a question's NLL against ``none`` with its 95% interval over
    test questions for these two fits (:mod:`core.calibration.means`). It is NaN for ``none`` itself, infinite and
    without an interval if the map makes some loss infinite, and NaN if losses are infinite before and after. The NLL
    and its change are NaN for frequencies of picks (:data:`core.reports.caveats.NO_NLL`).
    ``nll_change_reason`` says why a change has no interval. ``parameters`` holds each fit's parameters that have names,
    and ``notes`` says which of them the questions of the fit do not determine.
    """

    method: str
    n_fit: int
    n_calibration: int
    n_test: int
    accuracy: float
    nll: float
    nll_infinite: int
    brier: float
    ece: float
    coverage: dict[str, float]
    mean_set_size: dict[str, float]
    nll_change: tuple[float, float, float]
    parameters: tuple[dict[str, float], ...]
    nll_change_reason: str = ""
    notes: tuple[str, ...] = ()


def halves(run: Evaluation) -> tuple[IntArray, IntArray]:
    """The calibration rows in two seeded halves; questions of a cluster are in the same half.

    Raises :class:`InputError` if there are too few rows.
    """
    if len(run.calibration) < NEEDED:
        raise InputError(
            f"recalibration needs at least {NEEDED} calibration questions, half of them to fit and half for "
            f"thresholds; {run.run_id} has {len(run.calibration)}"
        )
    if run.clusters is None:
        rows, clusters = clustered(run)
        own = clusters[np.searchsorted(rows, np.sort(run.calibration))]
    else:
        own = run.clusters[np.sort(run.calibration)]
    first = first_part(own, len(own) // 2, seed=run.spec.seed, purpose=FITTING)
    if first.all():
        raise InputError(f"run {run.run_id} has too few different calibration questions to split them in half")
    ordered = np.sort(run.calibration)
    return ordered[first], ordered[~first]


def recalibrated(run: Evaluation, alpha: int, *, methods: Sequence[str] = ()) -> list[Recalibrated]:
    """The run as it is, and then under the maps of these methods, at alpha (thousandths); without names, of all that
    the run allows. Raises :class:`InputError` for one that it does not allow."""
    allowed = tuple(METHODS) if run.samples is None else OF_FREQUENCIES
    if run.samples is not None and set(methods) - set(allowed):
        raise InputError(f"{run.run_id} has frequencies of picks: {NO_LOGARITHM}; {', '.join(allowed)} can be fitted")
    first, second = halves(run)
    if len(run.test) == 0:
        raise InputError(f"run {run.run_id} has no test questions; figures need at least one")
    sides = ((first, second), (second, first))
    plain = [_measure(run, run.log_probabilities, own, alpha) for _, own in sides]
    rows = [_mean(BEFORE, run, sides, plain, plain, ())]
    for method in methods or allowed:
        maps = [fit(method, run.log_probabilities[fitted], run.labels[fitted]) for fitted, _ in sides]
        measured = [
            _measure(run, scale.logits(run.log_probabilities), own, alpha)
            for scale, (_, own) in zip(maps, sides, strict=True)
        ]
        rows.append(_mean(method, run, sides, measured, plain, maps))
    return rows


@dataclass(frozen=True, slots=True)
class _Measured:
    logs: FloatArray
    losses: FloatArray
    accuracy: float
    brier: float
    ece: float
    coverage: dict[str, float]
    size: dict[str, float]


def _measure(run: Evaluation, logits: FloatArray, own: IntArray, alpha: int) -> _Measured:
    probabilities = softmax(logits)
    test, labels = probabilities[run.test], run.labels[run.test]
    coverage, size = {}, {}
    for name in DEFAULT_SCORES:
        scores = score(name, run.lacking(probabilities), seed=run.spec.seed)
        limit = exact(true_scores(scores[own], run.labels[own]), alpha)
        members = (scores[run.test] <= limit) & run.real[run.test]
        coverage[name] = float(members[np.arange(len(labels)), labels].mean())
        size[name] = float(members.sum(axis=1).mean())
    logs = log_softmax(logits[run.test])
    return _Measured(
        logs=logs,
        losses=log_losses(logs, labels),
        accuracy=float(correct(test, labels).mean()),
        brier=brier(test, labels),
        ece=expected_calibration_error(test, labels),
        coverage=coverage,
        size=size,
    )


def _mean(
    method: str,
    run: Evaluation,
    sides: tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]],
    measured: list[_Measured],
    plain: list[_Measured],
    maps: Sequence[Recalibration],
) -> Recalibrated:
    a, b = measured
    losses = (a.losses + b.losses) / 2
    if run.samples is not None:  # frequencies have no NLL
        losses = np.full_like(losses, math.nan)
    no_change = method == BEFORE or run.samples is not None
    change, reason = ((math.nan,) * 3, "") if no_change else _change(run, measured, plain[0])
    return Recalibrated(
        method=method,
        n_fit=len(sides[0][0]),
        n_calibration=len(sides[0][1]),
        n_test=len(losses),
        accuracy=(a.accuracy + b.accuracy) / 2,
        nll=float(losses.mean()),
        nll_infinite=int(np.isinf(losses).sum()),
        brier=(a.brier + b.brier) / 2,
        ece=(a.ece + b.ece) / 2,
        coverage={name: (a.coverage[name] + b.coverage[name]) / 2 for name in a.coverage},
        mean_set_size={name: (a.size[name] + b.size[name]) / 2 for name in a.size},
        nll_change=change,
        nll_change_reason=reason,
        parameters=tuple(fitted.words() for fitted in maps) or ({}, {}),
        notes=tuple(dict.fromkeys(note for fitted in maps for note in fitted.notes())),
    )


def _change(run: Evaluation, after: list[_Measured], before: _Measured) -> tuple[tuple[float, float, float], str]:
    """The mean change of a question's NLL with its interval, and why there is none."""
    labels, rows = run.labels[run.test], np.arange(len(run.test))
    seen = sum(half.losses for half in after) / len(after)
    with np.errstate(invalid="ignore"):  # infinite before and after
        change = seen - before.losses
        losses = before.logs - sum(half.logs for half in after) / len(after)
    # An option that has probability 0 before and after would make both losses infinite if it were true.
    losses = np.where(np.isnan(losses), np.inf, losses)
    losses[rows, labels] = change
    losses = np.where(run.real[run.test], losses, np.nan)
    p = run.probabilities[run.test]
    interval = loss_interval(losses, labels, top_options(p), p, clusters=within(run.clusters, run.test))
    mean = float(np.mean(change))
    if math.isfinite(mean):
        return (mean, interval.low, interval.high), interval.reason
    return (mean, math.nan, math.nan), "the loss is infinite"
