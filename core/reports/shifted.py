"""Calibrated on one kind of questions, tested on another: what coverage becomes, and what weights repair.

A side is a subject of a run, or a run. Nothing of the test side calibrates, so all questions of both sides are used:
the split into calibration and test that a run came with does not matter here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.conformal.alpha import THOUSAND
from core.conformal.curve import alpha_curve
from core.conformal.scores import score, true_scores
from core.conformal.shift import exchangeability_p_value, looks, odds, weighted_curve
from core.conformal.threshold import exact
from core.errors import InputError
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation

FEWEST = 20
"""Questions that a side needs."""

MOST = 4000
"""Questions that are used of a side, drawn at random where there are more: the figures keep their second decimal."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side's option probabilities (n, k) and labels (n,), its scores (n, k) and those of the true options (n,)."""

    name: str
    probabilities: FloatArray
    labels: IntArray
    scores: FloatArray
    true: FloatArray


@dataclass(frozen=True, slots=True)
class Shifted:
    """Coverage and mean set size at each alpha from 1 to 999 thousandths, (999,) each, unweighted and weighted.

    ``n`` questions calibrate and ``m`` test. ``p_value``: how likely the two sides' scores differ so much where they
    are exchangeable. ``effective``: how many equally weighted questions the weights are worth, (Σw)²/Σw².
    """

    source: str
    target: str
    n: int
    m: int
    p_value: float
    effective: float
    coverage: FloatArray
    mean_set_size: FloatArray
    weighted_coverage: FloatArray
    weighted_mean_set_size: FloatArray


def side(run: Evaluation, group: str | None, *, by: str) -> Side:
    """The calibration and test questions of a run, or of one of its subjects, with their scores ``by``.

    Raises :class:`InputError` where there are fewer than 20.
    """
    rows = np.sort(np.concatenate([run.calibration, run.test]))
    if group is not None:
        rows = rows[run.groups[rows] == group]
    name = run.spec.task if group is None else group
    if len(rows) < FEWEST:
        raise InputError(f"{name!r} has {len(rows)} questions; comparing two sides needs at least {FEWEST} of each")
    if len(rows) > MOST:
        rows = np.sort(np.random.default_rng([run.spec.seed, 0x51DE]).permutation(rows)[:MOST])
    scores = score(by, run.option_probabilities, seed=run.spec.seed)[rows]
    labels = run.labels[rows]
    return Side(name, run.probabilities[rows], labels, scores, true_scores(scores, labels))


def shifted(source: Side, target: Side, *, seed: int = 0) -> Shifted:
    """Calibrate on ``source`` and test on ``target``.

    Raises :class:`InputError` where they have different numbers of options.
    """
    if source.scores.shape[1] != target.scores.shape[1]:
        raise InputError(
            f"{source.name!r} has {source.scores.shape[1]} options a question and {target.name!r} "
            f"{target.scores.shape[1]}; sets can be compared where they have as many"
        )
    plain = alpha_curve(source.true, target.scores, target.labels)
    weights, test_weights = odds(looks(source.probabilities), looks(target.probabilities))
    coverage, size = weighted_curve(source.true, weights, target.scores, test_weights, target.labels)
    return Shifted(
        source=source.name,
        target=target.name,
        n=len(source.labels),
        m=len(target.labels),
        p_value=exchangeability_p_value(source.true, target.true, rng=np.random.default_rng([seed, 0xE8])),
        effective=float(weights.sum() ** 2 / (weights**2).sum()),
        coverage=plain.coverage,
        mean_set_size=plain.mean_set_size,
        weighted_coverage=coverage,
        weighted_mean_set_size=size,
    )


def subjects(run: Evaluation) -> tuple[str, ...]:
    """The run's subjects with enough questions to be a side, by name."""
    rows = np.concatenate([run.calibration, run.test])
    names, counts = np.unique(run.groups[rows], return_counts=True)
    return tuple(str(name) for name, count in zip(names, counts, strict=True) if count >= FEWEST)


def widest_pair(sides: Sequence[Side], *, alpha: int = THOUSAND // 10) -> tuple[str, str] | None:
    """The pair of sides, calibrated and tested on, whose coverage falls shortest at alpha; None for fewer than two."""
    if len(sides) < 2:
        return None
    limits = [exact(one.true, alpha) for one in sides]
    pairs = [(i, j) for i in range(len(sides)) for j in range(len(sides)) if i != j]
    worst = min(pairs, key=lambda pair: float((sides[pair[1]].true <= limits[pair[0]]).mean()))
    return sides[worst[0]].name, sides[worst[1]].name
