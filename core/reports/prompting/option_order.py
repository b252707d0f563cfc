"""Option order: what changes if only the order of the options changes.

The figures come from a run whose test questions were also asked with their options in other orders: all rotations, all
orders, or all rotations of some of the options. In each of these designs, every option has every letter equally often.
So a model without a preference picks each letter equally often, whatever the truth is, and unequal rates show a letter
bias.

A question counts once, in however many orders it was asked: its answers in them depend on each other. Questions of one
cluster (:mod:`core.conformal.clusters`) count as one, too. Intervals and the test of the letters are over these units,
and those of sets also take in which questions calibrated.

Where nearly all questions have the same value, such as 1 for a model to which the order never matters, the spread of
the others says too little. An interval then also takes in how many more exceptions there may be (Clopper & Pearson, or
Fay & Feuer for the letters), each of them as far off as the furthest one here.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtrit

from core.calibration.means import poisson_sum, skewed_mean_interval
from core.conformal.alpha import Alpha
from core.conformal.clusters import count, sums, within
from core.conformal.coverage import clustered_share_interval, share_interval
from core.conformal.probabilities import top_options, top_shares
from core.conformal.scores import score, true_scores
from core.conformal.sets import prediction_sets
from core.conformal.threshold import threshold
from core.conformal.tuning import tune
from core.questions.rotation import MARK, ORDER_MARK, asked_order
from core.records import OPTION_NAMES, BoolArray, FloatArray, IntArray
from core.reports.alpha_lab.view import extra_options
from core.reports.evaluation import Evaluation

RESAMPLES = 200
"""Bootstrap resamples of calibration and test questions for the intervals of sets."""
FEW = 10
"""Fewer exceptions than this say too little about their spread."""
FEW_BIASED = 30
"""The same of units that pick some letter more often than another."""
ENOUGH = 100
"""With at least this many of these, T² has nearly the distribution that it has for normal deviations."""
ROUNDING = 1e-9
TURNS = 2000
"""Random turns of the letters for the test with fewer of them."""


@dataclass(frozen=True, slots=True)
class SetStability:
    """How a score's sets change if the options are rotated. Each set is compared with that of the original order:
    ``same`` is the share that is the same set of options, ``overlap`` the mean of |A ∩ B| / |A ∪ B| (1 for two empty
    sets), each with its 95% interval."""

    same: float
    overlap: float
    same_interval: tuple[float, float]
    overlap_interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class OptionOrder:
    """``questions`` asked in ``orders`` orders each.

    ``letter_rates`` say how often a letter was chosen over all orders, among the letters whose options move (equally
    probable letters share a choice); ``letter_bias`` is half the sum of their distances from equal rates, from 0 to 1 −
    1/m. ``plurality`` is the share of orders that choose a question's most chosen option, averaged (1: order never
    matters; Robinson & Wingate 2022). ``changed`` is the share of questions whose choice is not the same in all orders;
    of equally probable options, the last in an order is chosen. The ``…_interval`` are 95% intervals.
    ``letter_p_value`` is the probability that a model without a preference shows rates this unequal
    (:func:`letters_p_value`).
    """

    questions: int
    orders: int
    letter_rates: dict[str, float]
    letter_bias: float
    plurality: float
    changed: float
    sets: dict[str, SetStability]
    letter_p_value: float
    letter_intervals: dict[str, tuple[float, float]]
    plurality_interval: tuple[float, float]
    changed_interval: tuple[float, float]


def option_order(run: Evaluation, alpha: Alpha, *, scores: tuple[str, ...]) -> OptionOrder | None:
    """The figures at ``alpha`` thousandths; None for a run that asked every question in only one order. Thresholds come
    from the calibration questions, which are asked in the original order.
    """
    named = any((np.char.find(run.ids, mark) >= 0).any() for mark in (MARK, ORDER_MARK))
    return of_orders(run, alpha, scores=scores, fixed=len(extra_options(run))) if named else None


def of_orders(run: Evaluation, alpha: Alpha, *, scores: tuple[str, ...], fixed: int) -> OptionOrder | None:
    """:func:`option_order` where the last ``fixed`` options keep their places."""
    rows, back, m = _orders(run, fixed)
    if rows.size == 0:
        return None
    letters = top_options(run.probabilities[rows])
    chosen = np.take_along_axis(np.broadcast_to(back, (*rows.shape, run.k)), letters[..., None], axis=2)[..., 0]
    counts = np.stack([(chosen == option).sum(axis=1) for option in range(run.k)], axis=1)
    picks = top_shares(run.probabilities[rows])[..., :m].sum(axis=1)  # of each letter whose option moves
    most = counts.max(axis=1) / rows.shape[1]
    rates = _rates(picks)
    clusters = within(run.clusters, rows[:, 0])
    low, high = _rate_intervals(picks, clusters)
    changed = (most < 1).astype(np.float64)
    return OptionOrder(
        questions=len(rows),
        orders=rows.shape[1],
        letter_rates={letter: float(rate) for letter, rate in zip(OPTION_NAMES, rates, strict=False)},
        letter_bias=float(np.abs(rates - 1 / m).sum() / 2) if picks.any() else 0.0,
        plurality=float(most.mean()),
        changed=float(changed.mean()),
        sets={name: _stability(run, name, alpha, rows, back) for name in scores},
        letter_p_value=letters_p_value(picks, clusters),
        letter_intervals={OPTION_NAMES[i]: (float(low[i]), float(high[i])) for i in range(m)},
        plurality_interval=_of_mean(most, clusters, least=float(np.ceil(rows.shape[1] / m) / rows.shape[1])),
        changed_interval=clustered_share_interval(changed, clusters),
    )


def letters_p_value(picks: FloatArray, clusters: IntArray | None = None) -> float:
    """The p-value of the hypothesis that no letter is preferred. ``picks`` (questions, m) says how often each letter
    was chosen over the orders of a question.

    The test is Hotelling's T² of the questions' deviations from equal picks, summed within ``clusters`` (questions,),
    so each unit counts once. Where fewer than 100 units deviate, T² is compared with that of random turns: without a
    preference, a unit's picks are as probable for the letters B, C, … A as for A, B, … (:func:`_turned_p_value`).

    The value is 1 if every question picks all letters equally often, or if there are fewer units than letters. If all
    units pick the same letters, it is the probability that units that each prefer some letter all prefer the same one.
    """
    every = sums(picks - picks.mean(axis=1, keepdims=True), clusters)
    deviations = every[:, :-1]  # the last letter's deviation follows from the others'
    n, mean = len(deviations), deviations.mean(axis=0)
    if n < 2 or not deviations.any():
        return 1.0
    covariance = np.cov(deviations, rowvar=False).reshape(deviations.shape[1], -1)
    free = int(np.linalg.matrix_rank(covariance))
    if free == 0:  # every unit picks the same letters
        return float(picks.shape[1]) ** (1 - n)
    if n <= free:
        return 1.0
    if len(biased := every[(np.abs(every) > ROUNDING).any(axis=1)]) < ENOUGH:
        return _turned_p_value(biased)
    t2 = n * float(mean @ np.linalg.pinv(covariance) @ mean)
    return float(fdtrc(free, n - free, t2 * (n - free) / (free * (n - 1))))


def _turned_p_value(deviations: FloatArray) -> float:
    """The share of random turns of each unit's deviations (units, m) for which T² is as large, seeded.

    Without the units that don't deviate and without centring, it is sᵀ(DᵀD)⁻¹s, with s the sum of the deviations D;
    T² increases with it.
    """
    m = deviations.shape[1]
    kinds, often = np.unique(deviations.round(9), axis=0, return_counts=True)
    turned = np.stack([np.roll(kinds, turn, axis=1) for turn in range(m)], axis=1)[..., :-1]  # (kinds, m, m − 1)
    rng = np.random.default_rng([len(deviations), 0x7095])
    drawn = np.stack([rng.multinomial(count, [1 / m] * m, size=TURNS) for count in often], axis=1).astype(np.float64)
    drawn = np.concatenate([often[:, None] * np.eye(m)[:1][None], drawn])  # the first has no turn
    total = np.einsum("rkt,kti->ri", drawn, turned)
    squares = np.einsum("rkt,ktij->rij", drawn, turned[..., None] * turned[..., None, :])
    t2 = np.einsum("ri,rij,rj->r", total, np.linalg.pinv(squares, rcond=ROUNDING, hermitian=True), total)
    return float((t2 >= t2[0] - ROUNDING).mean())


def _rates(picks: FloatArray) -> FloatArray:
    """The share of each letter (m,) among the picks (questions, m)."""
    return np.asarray(picks.sum(axis=0) / (float(picks.sum()) or 1.0), dtype=np.float64)


def _rate_intervals(picks: FloatArray, clusters: IntArray | None) -> tuple[FloatArray, FloatArray]:
    """The ends of the 95% intervals of the letters' shares, each (m,): of a ratio of two means over questions.

    Where few units pick some letter more often than another, their picks above and below equal ones are weighted sums
    of Poisson counts, and another unit weighs as much as the furthest one of any letter. Where nearly all units pick
    the same letters, two further ones, which pick a letter always and never, stand for what they can't show.
    """
    rates, total = _rates(picks), picks.sum(axis=1, keepdims=True)
    residuals = sums((picks - rates * total) / max(float(total.mean()), 1e-12), clusters)
    n, g, m = len(picks), len(residuals), picks.shape[1]
    deviations = sums((picks - picks.mean(axis=1, keepdims=True)) / max(float(total.mean()), 1e-12), clusters)
    if (np.abs(deviations) > ROUNDING).any(axis=1).sum() < FEW_BIASED:
        furthest = float(deviations.max()), float(-deviations.min())
        over, under = (
            deviation if deviation > ROUNDING else never * n / g
            for deviation, never in zip(furthest, (1 - 1 / m, 1 / m), strict=True)
        )
        ends = [_around(rate, deviation, over, under, n) for rate, deviation in zip(rates, deviations.T, strict=True)]
        low, high = np.array(ends).T
    else:
        squares = (residuals**2).sum(axis=0) * (g / n) ** 2
        if (np.abs(residuals) > ROUNDING).any(axis=1).sum() < FEW:
            squares = squares + (1 - rates) ** 2 + rates**2
        reach = float(stdtrit(max(g - 1, 1), 0.975)) * np.sqrt(squares / (g * max(g - 1, 1)))
        low, high = rates - reach, rates + reach
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _around(rate: float, deviations: FloatArray, over: float, under: float, n: int) -> tuple[float, float]:
    """The interval of a letter's rate among n questions from the units' deviations (units,); another unit deviates by
    ``over`` or ``under``."""
    more, fewer = poisson_sum(np.maximum(deviations, 0), over), poisson_sum(np.maximum(-deviations, 0), under)
    return (
        rate - math.hypot(more.value - more.low, fewer.high - fewer.value) / n,
        rate + math.hypot(more.high - more.value, fewer.value - fewer.low) / n,
    )


def _of_mean(values: FloatArray, clusters: IntArray | None, *, least: float) -> tuple[float, float]:
    """The 95% interval of a mean over questions of values (n,) from ``least`` to 1."""
    mean, low, high = skewed_mean_interval(values, clusters)
    low, high = (mean, mean) if math.isnan(low) else (max(low, least), min(high, 1.0))
    return _with_exceptions(values, clusters, (low, high), least=least)


def _with_exceptions(
    values: FloatArray, clusters: IntArray | None, ends: tuple[float, float], *, least: float = 0.0
) -> tuple[float, float]:
    """The interval of the mean of values (n,) from ``least`` to 1, widened where few of them differ from the usual one,
    so that it is no point."""
    means = sums(values, clusters) / sums(np.ones(len(values)), clusters)
    levels, counts = np.unique(means.round(12), return_counts=True)
    usual = float(levels[counts.argmax()])
    below, above = usual - means[means < usual - 1e-9], means[means > usual + 1e-9] - usual
    if len(below) + len(above) >= FEW:
        return ends
    down = share_interval(len(below), len(means))[1] * (float(below.max()) if len(below) else usual - least)
    up = share_interval(len(above), len(means))[1] * (float(above.max()) if len(above) else 1 - usual)
    return min(ends[0], usual - down), max(ends[1], usual + up)


def _orders(run: Evaluation, fixed: int) -> tuple[IntArray, IntArray, int]:
    """Rows (questions, orders) of the questions that were asked in every order of the run, with the original order
    first; the original place of the option at each place (orders, k); and the number m of options that moved. If
    questions differ in m, only those with the most frequent m count.
    """
    test = {str(run.ids[row]): int(row) for row in run.test}
    named = [(row, str(name)) for row, name in enumerate(run.ids) if MARK in str(name) or ORDER_MARK in str(name)]
    none = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.int64), 0
    if not named:
        return none
    moving = run.option_counts - fixed
    again = [(row, name) for row, name in named if name not in test and asked_order(name, int(moving[row]))[0] in test]
    if not again:
        return none
    m = int(np.bincount(moving[[row for row, _ in again]]).argmax())
    by_question: dict[str, dict[tuple[int, ...], int]] = {}
    for row, name in again:
        if moving[row] == m:
            first, order = asked_order(name, m)
            by_question.setdefault(first, {tuple(range(m)): test[first]})[tuple(order)] = row
    orders = sorted(by_question[max(by_question, key=lambda name: len(by_question[name]))])
    complete = [[rows[order] for order in orders] for rows in by_question.values() if set(rows) == set(orders)]
    back = [[*order, *range(m, run.k)] for order in orders]
    return np.array(complete, dtype=np.int64), np.array(back, dtype=np.int64), m


def _stability(run: Evaluation, name: str, alpha: Alpha, rows: np.ndarray, back: np.ndarray) -> SetStability:
    tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    places = np.arange(len(run.labels))
    places[rows] = rows[:, :1]  # all orders of a question share its random number, so that only the order differs
    values = score(name, run.option_probabilities, seed=run.spec.seed, parameters=tuned.parameters, places=places)
    truths = true_scores(values[tuned.calibration], run.labels[tuned.calibration])

    def by_question(q: float) -> tuple[FloatArray, FloatArray]:
        """The share of the other orders with the same set, and the mean overlap with it, (questions,) each."""
        members = _turned_back(_members(values, rows, q), back)
        first, others = members[:, :1], members[:, 1:]
        union = (first | others).sum(axis=2)
        overlap = np.where(union == 0, 1.0, (first & others).sum(axis=2) / np.maximum(union, 1))
        return (first == others).all(axis=2).mean(axis=1), overlap.mean(axis=1)

    same, overlap = by_question(threshold(truths, alpha))
    clusters = within(run.clusters, rows[:, 0])
    g = count(clusters, len(rows))
    rng = np.random.default_rng([len(rows), 0x5E75])
    drawn = []
    for _ in range(RESAMPLES):
        tested = rng.integers(0, g, g)
        redrawn = threshold(truths[rng.integers(0, len(truths), len(truths))], alpha)
        if clusters is None:
            drawn.append([measure[tested].mean() for measure in by_question(redrawn)])
        else:
            often = np.bincount(tested, minlength=g)[clusters]
            drawn.append([np.average(measure, weights=often) for measure in by_question(redrawn)])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0).tolist()
    ends = [_with_exceptions(measure, clusters, (low[i], high[i])) for i, measure in enumerate((same, overlap))]
    return SetStability(float(same.mean()), float(overlap.mean()), ends[0], ends[1])


def _members(values: FloatArray, rows: np.ndarray, q: float) -> BoolArray:
    sets = prediction_sets(values[rows.ravel()], q)
    members: BoolArray = sets.members.reshape(*rows.shape, -1)
    return members


def _turned_back(members: BoolArray, back: np.ndarray) -> BoolArray:
    """Members (questions, m, k) by place to members by option."""
    by_option = np.zeros_like(members)
    for turn in range(members.shape[1]):
        by_option[:, turn, back[turn]] = members[:, turn]
    return by_option
