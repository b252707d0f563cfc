"""How much jurors agree beyond chance, and how far their errors are correlated.

The chance-corrected coefficients take verdicts (n, j): 1, 0, or ½ for a tie, which counts half for each side. They are
1 for full agreement and 0 for the agreement expected by chance. They are NaN if all verdicts are the same, because
chance then explains all agreement. Sources: Cohen 1960; Fleiss 1971; Krippendorff 2011, for nominal values. Agreement
does not show that verdicts are right: jurors that err on the same answers count as fewer votes
(:func:`effective_votes`).

Accurate jurors err rarely, and together more rarely still, so no interval of these coefficients can be formed from a
variance alone: it would be a point where no error is shared. Each coefficient of two jurors is a rising function of one
share: how often both have a verdict (or both err), among the answers on which at least one of them does. This share has
a Clopper–Pearson interval with an effective number of answers (:func:`_interval`), and the coefficient that of its
ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.calibration.jackknife import effective_numbers
from core.conformal.clusters import count, sums, within
from core.conformal.coverage import clustered_share_interval, share_interval
from core.estimates import Estimate
from core.jury.judgements import Judgements
from core.records import FloatArray, IntArray

STEP = 1e-5
"""The step of a slope that is computed from two values."""
BISECTIONS = 50
TINY = 1e-12
FEW_SHARED, TIMES = 30, 1.5


@dataclass(frozen=True, slots=True)
class Pairwise:
    """A pair of jurors: the share of equal verdicts, Cohen's kappa, and the correlation of their errors."""

    first: str
    second: str
    agreement: Estimate
    kappa: Estimate
    error_correlation: Estimate


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a jury on n answers.

    ``pairs`` has one entry per pair of jurors; ``fleiss`` and ``krippendorff`` are coefficients of the whole jury.
    ``effective_votes`` is the number of independent votes that the jury is worth. ``unanimous`` is the share of answers
    on which all jurors agree (``n_unanimous`` of them), and ``unanimous_wrong`` is the share of these that all get
    wrong. ``n_questions`` is the number of questions, each a unit of the intervals.
    """

    pairs: tuple[Pairwise, ...]
    fleiss: Estimate
    krippendorff: Estimate
    effective_votes: Estimate
    n: int
    n_questions: int
    n_unanimous: int
    unanimous: Estimate
    unanimous_wrong: Estimate


def cohen_kappa(first: FloatArray, second: FloatArray) -> float:
    """``(p_o − p_e) / (1 − p_e)`` of two jurors' verdicts (n,).

    p_o is the share of equal verdicts. p_e is the share expected by chance, from each juror's own share of True.

    >>> cohen_kappa(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    0.5
    """
    return float(_kappa(first.mean(), second.mean(), (first * second).mean()))


def fleiss_kappa(verdicts: FloatArray) -> float:
    """``(p_o − p_e) / (1 − p_e)`` of the verdicts (n, j) of j jurors.

    p_o is the mean share of agreeing pairs per answer. p_e comes from the share of True among all verdicts.
    """
    return float(_of_jury(_Moments.of(verdicts)))


def krippendorff_alpha(verdicts: FloatArray) -> float:
    """``1 − D_o / D_e`` of verdicts (n, j), for nominal values.

    D_o is the share of disagreeing pairs within answers, and D_e the share among all n·j verdicts. So 1 − alpha is
    (n·j − 1) / (n·j) times 1 − Fleiss' kappa.
    """
    return _alpha(fleiss_kappa(verdicts), verdicts.size)


def _alpha(fleiss: float, size: int) -> float:
    return 1 - (1 - fleiss) * (size - 1) / size


def error_correlation(first: FloatArray, second: FloatArray) -> float:
    """Pearson's correlation of two jurors' errors (n,); NaN if one of them always or never errs."""
    return float(_correlation(first.mean(), second.mean(), (first * second).mean()))


def effective_votes(wrong: FloatArray) -> float:
    """``j / (1 + (j − 1) ρ)``, where ρ is the mean correlation of errors over pairs of jurors.

    This many independent jurors would have a mean error with the same variance. ``wrong`` is (n, j). The result is 1 if
    all jurors err on the same answers and j if their errors are uncorrelated. It is larger, at most 2j, if the
    correlations are negative. It is NaN if no pair's correlation is defined.
    """
    return _votes(float(_mean_correlation(_Moments.of(wrong))), wrong.shape[1])


def _votes(correlation: float, j: int) -> float:
    return float(j / max(1 + (j - 1) * correlation, 0.5)) if correlation == correlation else float("nan")


def agreement(judgements: Judgements) -> Agreement:
    """All agreement coefficients of a jury, with 95% intervals over questions.

    The intervals of shares are Clopper and Pearson's, and those of coefficients follow from shares
    (:func:`_interval`). The answers of one question count as one unit.
    """
    verdicts, n, clusters = judgements.verdicts, len(judgements), judgements.clusters
    wrong = 1 - judgements.right
    pairs = []
    for a in range(len(judgements.jurors)):
        for b in range(a + 1, len(judgements.jurors)):
            two = [a, b]
            pairs.append(
                Pairwise(
                    judgements.jurors[a],
                    judgements.jurors[b],
                    _share(_same(verdicts[:, a], verdicts[:, b]), clusters),
                    _of_two(_rarer(verdicts[:, two]), clusters, _kappa),
                    _of_two(_rarer(wrong[:, two]), clusters, _correlation),
                )
            )
    unanimous = ~judgements.disagreed
    fleiss = _interval(_rarer(verdicts), clusters, _of_jury, _of_equals)
    # A juror that never errs, or always, has no correlation with others
    varied = wrong[:, wrong.var(axis=0) > 0]
    nothing = Estimate(*[float("nan")] * 3)
    correlation = _interval(_rarer(varied), clusters, _mean_correlation, _of_equals) if varied.shape[1] > 1 else nothing
    j = verdicts.shape[1]
    return Agreement(
        pairs=tuple(pairs),
        fleiss=fleiss,
        krippendorff=Estimate(*(max(_alpha(x, verdicts.size), -1.0) for x in (fleiss.value, *fleiss.ends))),
        effective_votes=Estimate(*(_votes(x, j) for x in (correlation.value, correlation.high, correlation.low))),
        n=n,
        n_questions=count(clusters, n),
        n_unanimous=int(unanimous.sum()),
        unanimous=_share(unanimous.astype(np.float64), clusters),
        unanimous_wrong=_share(wrong[unanimous, 0], within(clusters, np.flatnonzero(unanimous))),
    )


def _share(hits: FloatArray, clusters: IntArray | None) -> Estimate:
    if not len(hits):
        return Estimate(*[float("nan")] * 3)
    return Estimate(float(hits.sum()) / len(hits), *clustered_share_interval(hits, clusters))


def _same(first: FloatArray, second: FloatArray) -> FloatArray:
    """Whether two verdicts are equal, (n,): 1 or 0, and ½ if one of them is a tie."""
    return np.asarray(first * second + (1 - first) * (1 - second), dtype=np.float64)


def _rarer(values: FloatArray) -> FloatArray:
    """The values (n, j), or 1 minus them, whichever are smaller on average. No coefficient changes by this."""
    return values if values.mean() <= 0.5 else 1 - values


@dataclass(frozen=True, slots=True)
class _Moments:
    """The means of verdicts or errors, (…, j), and of the products of two jurors' ones for each pair, (…, pairs)."""

    single: FloatArray
    joint: FloatArray
    first: IntArray
    second: IntArray

    @classmethod
    def of(cls, values: FloatArray) -> _Moments:
        """Of values (n, j)."""
        first, second = np.triu_indices(values.shape[1], 1)
        return cls(values.mean(axis=0), (values[:, first] * values[:, second]).mean(axis=0), first, second)

    @classmethod
    def left_out(cls, values: FloatArray, clusters: IntArray | None) -> _Moments:
        """Of values (n, j) without each cluster in turn: (g, j) and (g, pairs)."""
        first, second = np.triu_indices(values.shape[1], 1)
        products = values[:, first] * values[:, second]
        sizes = sums(np.ones(len(values)), clusters)[:, None]
        single, joint = (
            (part.sum(axis=0) - sums(part, clusters)) / (len(values) - sizes) for part in (values, products)
        )
        return cls(single, joint, first, second)

    @property
    def any(self) -> FloatArray:
        """How often at least one of two jurors has the verdict or errs, for each pair, (…, pairs)."""
        return np.asarray(self.single[..., self.first] + self.single[..., self.second] - self.joint, dtype=np.float64)


Coefficient = Callable[[_Moments], FloatArray]
Curve = Callable[[float, float], float]
OfTwo = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""A coefficient of two jurors from the share of each and the share of both."""


def _kappa(a: FloatArray, b: FloatArray, joint: FloatArray) -> FloatArray:
    # 1 − D_o / D_e with D_o = a + b − 2·P(both) and D_e = a + b − 2ab
    expected = np.asarray(a + b - 2 * a * b)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - (a + b - 2 * joint) / expected, np.nan)


def _correlation(a: FloatArray, b: FloatArray, joint: FloatArray) -> FloatArray:
    # ρ = (P(both wrong) − a·b) / √(a(1 − a)·b(1 − b))
    spread = np.sqrt(np.maximum(a * (1 - a) * b * (1 - b), 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > TINY, (joint - a * b) / spread, np.nan)


def _of_two(two: FloatArray, clusters: IntArray | None, coefficient: OfTwo) -> Estimate:
    return _interval(
        two,
        clusters,
        lambda m: coefficient(m.single[..., 0], m.single[..., 1], m.joint[..., 0]),
        _of_pair(two, coefficient),
    )


def _of_jury(m: _Moments) -> FloatArray:
    """Fleiss' kappa: that of a pair whose jurors are the mean of all."""
    p = m.single.mean(axis=-1)
    return _kappa(p, p, m.joint.mean(axis=-1))


def _mean_correlation(m: _Moments) -> FloatArray:
    """The mean of the pairs' correlations that are defined; NaN if none is."""
    each = _correlation(m.single[..., m.first], m.single[..., m.second], m.joint)
    known = ~np.isnan(each)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, each, 0).sum(axis=-1) / known.sum(axis=-1), dtype=np.float64)


def _interval(values: FloatArray, clusters: IntArray | None, coefficient: Coefficient, curve: Curve) -> Estimate:
    """A coefficient of verdicts or errors (n, j) with its 95% interval, over clusters.

    Let A be how often at least one juror of a pair has the verdict (or errs), and s the share of these answers on which
    both do. The coefficient is ``curve(A, s)``, which rises with s. The number of answers for which s has a
    Clopper–Pearson interval is that for which its variance, times the slope squared, is the jackknifed variance of the
    coefficient. It is at most the number of these answers, over all pairs; where fewer than 30 answers are shared, each
    counts at most 1.5 times. If there is no variance because all pairs agree, it is the number of clusters of the
    answers on which any juror has the verdict. If hardly any is shared, the lower end is that of two equal jurors with
    the largest plausible A, because the correlation of jurors that never err together is the more negative the more
    often both err. The ends are NaN for one cluster.
    """
    n, moments = len(values), _Moments.of(values)
    value = float(coefficient(moments))
    units = count(clusters, n)
    if value != value or units < 2:
        return Estimate(value, float("nan"), float("nan"))
    frequency = float(moments.any.mean())
    s = _share_of_both(value, frequency, curve)
    least, most = max(s - STEP, 0.0), min(s + STEP, 1.0)
    slope = (curve(frequency, most) - curve(frequency, least)) / (most - least)
    trials = 1 - (1 - values).prod(axis=1)  # (n,): whether any juror has the verdict
    # An answer is a trial of several pairs, which are not independent; few shared ones do not show how dependent
    most_trials = n * float(moments.any.sum())
    if (values.sum(axis=1) > 1).sum() < FEW_SHARED:
        most_trials = min(most_trials, TIMES * np.count_nonzero(trials))
    alike = np.count_nonzero(sums(trials, clusters))
    worth = effective_numbers(
        np.array([s * (1 - s) * slope**2]),
        coefficient(_Moments.left_out(values, clusters))[:, None],
        distinct=np.array([most_trials]),
        units=np.array([alike if s > 0.5 else most_trials * alike / np.count_nonzero(trials)]),
    )[0]
    low, high = share_interval(s * worth, worth)
    least, most = curve(frequency, low), curve(frequency, high)
    if s * worth < 1:
        larger = share_interval(float(trials.mean()) * units, units)[1] / float(trials.mean())
        least = min(least, _of_equals(min(frequency * larger, 1.0), 0.0))
    return Estimate(value, min(max(least, -1.0), value), max(min(most, 1.0), value))


def _share_of_both(value: float, frequency: float, curve: Curve) -> float:
    """The share s for which ``curve(frequency, s)`` is the value, from 0 to 1, by bisection."""
    low, high = 0.0, 1.0
    if value <= curve(frequency, low):
        return low
    if value >= curve(frequency, high):
        return high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(frequency, middle) < value else (low, middle)
    return (low + high) / 2


def _of_equals(frequency: float, share: float) -> float:
    """Kappa of jurors that are alike, which is then also the correlation of their verdicts or errors."""
    p = frequency * (1 + share) / 2
    return float(_kappa(np.array(p), np.array(p), np.array(share * frequency)))


def _of_pair(two: FloatArray, coefficient: OfTwo) -> Curve:
    """The curve of a coefficient of two jurors; it keeps the proportion of the answers on which one of them is alone
    with the verdict or the error."""
    a, b = two.mean(axis=0)
    joint = float((two[:, 0] * two[:, 1]).mean())
    alone = float((a - joint) / (a + b - 2 * joint)) if a + b - 2 * joint > TINY else 0.5

    def curve(frequency: float, share: float) -> float:
        together = share * frequency
        apart = frequency - together
        return float(
            coefficient(
                np.array(together + alone * apart), np.array(together + (1 - alone) * apart), np.array(together)
            )
        )

    return curve
