"""How often prediction sets contain the true option, and how much that varies by chance alone.

Over draws of n calibration scores without ties, the coverage of the exact threshold on infinite test data follows
Beta(n + 1 − l, l) with l = ⌊(n + 1)·alpha⌋ (Vovk 2012; Angelopoulos & Bates 2023, section 3.2). This is the variation
from the calibration draw. On m test questions the number covered follows the Beta-Binomial distribution with the same
parameters, which adds the variation from the finite test set.

With ties, coverage is higher: all test questions whose score equals the threshold are covered. Given the n + m scores
of the true options as a whole, every choice of the n that calibrate is equally likely. In a random order of equal
scores, the number of test questions before the threshold has the Beta-Binomial distribution, and those after it that
equal it follow a hypergeometric one. So the law is exact with ties too, and without them it is the Beta-Binomial
distribution (:func:`coverage_law`).

Test rows that repeat questions count as :func:`core.conformal.clusters.kish_number` questions: as few as they are worth
if the rows of a question are all covered or all not. If they differ, the band is wider than necessary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from scipy.special import betaincinv

from core.conformal.alpha import THOUSAND, Alpha
from core.conformal.clusters import crossed_number, effective_number
from core.errors import InputError
from core.records import FloatArray, IntArray, PredictionSets

BAND_MASS = 0.95
TIE = 1e-10
WHOLE = 1e-6
"""A number this close above a whole one is that one."""
NEGLIGIBLE = 1e-18
TRIMMED_EVERY = 16
NO_TIES: Mapping[str, Ties | None] = MappingProxyType({})


def coverage(sets: PredictionSets, labels: IntArray) -> float:
    """The share of questions whose set contains the true option; NaN if there are no questions."""
    if len(labels) == 0:
        return float("nan")
    return float(sets.members[np.arange(len(labels)), labels].mean())


def beta_parameters(n: int, alpha: Alpha) -> tuple[int, int]:
    """``(n + 1 − l, l)`` with l = ⌊(n + 1)·alpha⌋, as integers; l = 0 means that every set is full.

    >>> beta_parameters(1000, 100)
    (901, 100)
    """
    l = (n + 1) * alpha // THOUSAND  # noqa: E741 - the letter of the formula
    return n + 1 - l, l


@dataclass(frozen=True, slots=True)
class Ties:
    """Equal scores among the true options' scores of calibration and test questions, sorted together.

    ``runs`` (t, 2) has a row for each group of equal scores: how many scores are smaller, and how many are smaller or
    equal. Scores that equal no other have no row.
    """

    runs: IntArray = field(compare=False)
    key: bytes

    @classmethod
    def of(cls, calibration_scores: FloatArray, test_scores: FloatArray) -> Ties | None:
        """The ties of the scores (n,) and (m,) of the true options; None if no two are equal.

        >>> Ties.of(np.array([0.1, 0.3]), np.array([0.3, 0.2])).runs.tolist()
        [[2, 4]]
        """
        ordered = np.sort(np.concatenate([calibration_scores, test_scores]))
        ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) + 1
        starts = np.concatenate([[0], ends[:-1]])
        runs = np.stack([starts, ends], axis=1)[ends - starts > 1].astype(np.int64)
        return cls(runs, runs.tobytes()) if len(runs) else None


@lru_cache(maxsize=4096)
def beta_binomial_band(
    n: int, m: int, alpha: Alpha, *, ties: Ties | None = None, mass: float = BAND_MASS
) -> tuple[float, float]:
    """The central band of observed coverage on m test questions, as shares of m.

    The ends are quantiles of the count: the smallest counts whose cumulative probability reaches (1 − mass)/2 and
    (1 + mass)/2.

    Raises :class:`InputError` if m is below 1.
    """
    if m < 1:
        raise InputError(f"a band of test coverage needs at least one test question, got {m}")
    first, law = coverage_law(n, m, alpha, ties)
    low, high = central_counts(law, mass=mass)
    return (first + low) / m, (first + high) / m


def coverage_law(n: int, m: int, alpha: Alpha, ties: Ties | None = None) -> tuple[int, FloatArray]:
    """The first of the likely counts of covered questions among m, and the probabilities from there on.

    Let r be the threshold's rank. With equal scores in a random order, s test questions stand before the r-th
    calibration question, at place r + s, with the Beta-Binomial probability. If its score is tied up to place e, each
    next place holds a test question with probability (m − s) / (n + m − place), and counts as covered.
    """
    a, b = beta_parameters(n, alpha)
    if b == 0:
        return m, np.ones(1)
    first, last = _likely_counts(m, a, b)
    law = _law(first, last, m, a, b)
    if ties is None or not _reached(n, m, alpha, ties):
        return first, law
    likely = np.flatnonzero(law > NEGLIGIBLE)
    first, last, law = first + int(likely[0]), first + int(likely[-1]), law[likely[0] : likely[-1] + 1]
    near = ties.runs[(ties.runs[:, 0] < a + last) & (ties.runs[:, 1] > a + first)]
    tied = np.concatenate([law, np.zeros(m - last)])
    for start, end in near.tolist():
        tied[max(start + 1 - a - first, 0) : end - a + 1 - first] = 0
    for start, end in near.tolist():
        low = max(start + 1 - a, first)  # the counts s before a threshold with this score are low … end − r
        count, moved = _with_equals(low, law[low - first : end - a + 1 - first], end - a, n + m - a, m)
        tied[count - first : count - first + len(moved)] += moved
    return first, tied


def _reached(n: int, m: int, alpha: Alpha, ties: Ties) -> bool:
    """Whether a likely threshold is one of the equal scores. If not, the law is the one without ties, to the bit."""
    lowest, highest = _likely_places(n, m, alpha)
    return bool(((ties.runs[:, 0] < highest) & (ties.runs[:, 1] > lowest)).any())


@lru_cache(maxsize=1024)
def _likely_places(n: int, m: int, alpha: Alpha) -> tuple[int, int]:
    """The first and the last place among n + m scores at which the threshold may stand."""
    a, b = beta_parameters(n, alpha)
    first, last = _likely_counts(m, a, b)
    likely = np.flatnonzero(_law(first, last, m, a, b) > NEGLIGIBLE)
    return a + first + int(likely[0]), a + first + int(likely[-1])


def _with_equals(low: int, law: FloatArray, end: int, rest: int, m: int) -> tuple[int, FloatArray]:
    """The first count and the law of covered questions, for thresholds with s = low, low + 1, … test questions before
    them, with the probabilities ``law``, where equal scores reach to where s would be ``end``.

    ``rest`` is n + m − r, so that rest − s places follow the threshold.
    """
    if end == rest:  # the largest score: every test question is covered
        return m, np.array([law.sum()])
    moving, unlike = np.zeros(end - low + 1), m - low - np.arange(end - low + 1.0)
    a, b = 0, 0  # moving[a:b] are the likely counts so far
    for s in range(low, end):
        if s - low < len(law):
            moving[s - low] += law[s - low]
            b = s - low + 1
        tested = moving[a:b] * (unlike[a:b] / (rest - s))
        moving[a:b] -= tested
        moving[a + 1 : b + 1] += tested
        b += 1
        if s % TRIMMED_EVERY == 0:
            while a < b - 1 and moving[a] < NEGLIGIBLE:
                a += 1
            while b > a + 1 and moving[b - 1] < NEGLIGIBLE:
                b -= 1
    if end - low < len(law):
        moving[end - low] += law[end - low]
    return low, moving[: m - low + 1]


def central_counts(law: FloatArray, *, mass: float = BAND_MASS) -> tuple[int, int]:
    """The ends of the central band of a distribution ``law`` over the counts 0 … len − 1.

    The ends are the smallest counts whose cumulative probability reaches (1 − mass)/2 and (1 + mass)/2. With few
    questions a cumulative probability can equal such a level exactly. Rounding must not decide then, so a value at most
    1e-10 below the level counts as having reached it.
    """
    cumulative = np.cumsum(law)
    tail = (1 - mass) / 2
    low, high = (int(np.searchsorted(cumulative, q - TIE)) for q in (tail, 1 - tail))
    return low, min(high, len(law) - 1)


@lru_cache(maxsize=8)  # 8 bytes per question and entry; the runs of an overview mostly share one
def beta_binomial(m: int, a: int, b: int) -> FloatArray:
    """The probabilities that 0 … m of m questions are covered, (m + 1,), if coverage is Beta(a, b); a, b ≥ 1.

    The array is read-only.

    >>> beta_binomial(3, 1, 1)
    array([0.25, 0.25, 0.25, 0.25])
    """
    law = _law(0, m, m, a, b)
    law.setflags(write=False)
    return law


def _likely_counts(m: int, a: int, b: int) -> tuple[int, int]:
    """The first and last count of a range outside which less than 1e-12 of the probability lies.

    For a large m most counts then need not be summed. The heaviest tails are exponential (b = 1); beyond 40 standard
    deviations e⁻⁴⁰ of them is left.
    """
    mean = m * a / (a + b)
    variance = m * a * b * (a + b + m) / ((a + b) ** 2 * (a + b + 1))
    reach = 40 * variance**0.5 + 50
    return max(0, int(mean - reach)), min(m, int(mean + reach) + 1)


def _law(first: int, last: int, m: int, a: int, b: int) -> FloatArray:
    """Beta-Binomial probabilities of the counts first … last, scaled to sum to 1, (last − first + 1,).

    They are computed from the ratio of each probability to the one before. Differences of log-gamma functions would
    lose digits to cancellation.
    """
    x = np.arange(first, last, dtype=np.float64)
    # P(x + 1) / P(x) = (m − x)(x + a) / ((x + 1)(m − x − 1 + b))
    steps = np.log((m - x) * (x + a) / ((x + 1) * (m - x - 1 + b)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    law = np.exp(logs - logs.max())
    return np.asarray(law / law.sum(), dtype=np.float64)


def share_interval(successes: float, n: float, *, mass: float = BAND_MASS) -> tuple[float, float]:
    """The exact (Clopper–Pearson) interval of the share successes / n; (0, 1) for n = 0. Both may be fractions, of an
    effective number (:mod:`core.conformal.clusters`).

    >>> [round(x, 3) for x in share_interval(9, 10)]
    [0.555, 0.997]
    """
    tail = (1 - mass) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def clustered_share_interval(hits: FloatArray, clusters: IntArray | None) -> tuple[float, float]:
    """The interval of the share of ``hits`` (n,), each 0 or 1: :func:`share_interval` of the effective number of rows.

    >>> clustered_share_interval(np.array([1.0, 0.0, 1.0]), None) == share_interval(2, 3)
    True
    """
    worth = effective_number(hits, clusters)
    return share_interval(float(hits.mean()) * worth if clusters is not None else float(hits.sum()), worth)


def crossed_share_interval(hits: FloatArray, first: IntArray, second: IntArray) -> tuple[float, float]:
    """The interval of the mean of ``hits`` (n,), each from 0 to 1, whose rows belong to two clusters each:
    :func:`share_interval` of the effective number of rows (:func:`~core.conformal.clusters.crossed_number`)."""
    worth = crossed_number(hits, first, second)
    return share_interval(float(hits.mean()) * worth, worth)


def covered_questions(share: float, m: int) -> int:
    """How many of m questions are covered, for a p-value, if a ``share`` of the rows that they are worth is: rounded
    up, as that is no evidence against the guarantee.

    >>> covered_questions(0.9, 10), covered_questions(0.91, 10)
    (9, 10)
    """
    return math.ceil(share * m - WHOLE)


def guarantee_p_value(covered: int, n: int, m: int, alpha: Alpha) -> float:
    """The probability that at most ``covered`` of m questions are covered if the guarantee holds.

    A small value is evidence against the guarantee. Ties don't count: they only raise coverage.
    """
    a, b = beta_parameters(n, alpha)
    if b == 0:
        return 1.0
    return float(beta_binomial(m, a, b)[: covered + 1].sum().clip(0, 1))


def strata_law(
    calibrated: Mapping[str, int], tested: Mapping[str, int], alpha: Alpha, *, ties: Mapping[str, Ties | None] = NO_TIES
) -> FloatArray:
    """The probabilities that 0 … m questions are covered if each stratum has its own threshold, (m + 1,).

    ``calibrated`` and ``tested`` count the questions of each stratum, and ``ties`` are the equal scores in it. The
    strata are independent, so the distribution of their sum is the convolution of their distributions. A Fourier
    transform computes it.
    """
    from scipy.fft import irfft, next_fast_len, rfft  # imported here because no page needs it for its first paint

    m = sum(tested.values())
    length = next_fast_len(m + 1, real=True)
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    sure = 0  # questions of strata whose sets are full: always covered
    for name, n_tested in tested.items():
        a, b = beta_parameters(calibrated[name], alpha)
        if b == 0:
            sure += n_tested
        elif (own := ties.get(name)) is not None and _reached(calibrated[name], n_tested, alpha, own):
            first, tied = coverage_law(calibrated[name], n_tested, alpha, own)
            spectrum *= rfft(np.concatenate([np.zeros(first), tied]), length)
        else:
            spectrum *= rfft(beta_binomial(n_tested, a, b), length)
    law = np.zeros(m + 1)
    law[sure:] = irfft(spectrum, length)[: m + 1 - sure].clip(0)
    return law


def strata_band(
    calibrated: Mapping[str, int], tested: Mapping[str, int], alpha: Alpha, *, ties: Mapping[str, Ties | None] = NO_TIES
) -> tuple[float, float]:
    """The central 95% band of observed coverage under :func:`strata_law`.

    With one stratum it is that of :func:`beta_binomial_band`.
    """
    if len(tested) == 1:
        ((name, m),) = tested.items()
        return beta_binomial_band(calibrated[name], m, alpha, ties=ties.get(name))
    law = strata_law(calibrated, tested, alpha, ties=ties)
    low, high = central_counts(law)
    return low / (len(law) - 1), high / (len(law) - 1)


def strata_p_value(covered: int, calibrated: Mapping[str, int], tested: Mapping[str, int], alpha: Alpha) -> float:
    """The probability that at most ``covered`` questions are covered if the guarantee holds in every stratum."""
    if len(tested) == 1:
        ((name, m),) = tested.items()
        return guarantee_p_value(covered, calibrated[name], m, alpha)
    return float(strata_law(calibrated, tested, alpha)[: covered + 1].sum().clip(0, 1))
