r"""Answer or pass: the confidence from which answers may count, so that few of them are wrong.

**The promise.** With confidence 1 − δ over the draw of the calibration questions, at most a share α of the answers at
or above the threshold is wrong, for questions like these.

**How.** Thresholds are tested from the strictest to the loosest (fixed-sequence testing; Bauer 1991,
doi:10.1002/sim.4780100609; "learn then test", Angelopoulos et al. 2021, arXiv 2110.01052). Of the calibration
questions, n are answered at a threshold, e of them wrongly. It passes if :math:`P(\mathrm{Bin}(n, \alpha) \le e) \le
\delta`, an exact binomial p-value. The first threshold that fails ends the walk, and the last one before it is used.

**Why it holds.** Let λ be the first threshold of the sequence that breaks the promise. A looser one is only used if λ
passes. Given n, the errors at λ follow a binomial law with a risk above α, so λ passes with a probability of at most δ.
This needs no order of the risks, but a sequence that the calibration questions had no part in: if it consisted of their
own confidences, or began where enough of them are, their number and their errors above a threshold would depend on each
other. So there are two sequences:

- :func:`steps` takes quantiles of the confidences of *other* questions, and begins where these say that a threshold can
  pass at all. The other questions need no labels for this, so those that later judge the threshold can lend them. The
  bound of their own errors held in 97% of simulated draws or more, at δ = 0.1.
- :data:`GRID` is fixed, as in Jung et al. 2024 (arXiv 2407.18370). All labels can then calibrate. Where few answers are
  as confident as its first step, no threshold passes.

**Several judges** (Jung et al. 2024): a question that the first one passes goes to the next one. Each of j judges is
calibrated on the questions that reach it, with confidence 1 − δ / j, so all promises hold together with confidence
1 − δ (Bonferroni), and then the promise holds for all answers together. The law of a later judge is exact for a given
earlier threshold. That the same questions chose this threshold is left out of account, as in the paper. In simulations
the promise was kept all the same, also by judges whose errors exclude each other (``tests/simulation/selective.py``).

The browser computes the same to the last bit (``app/components/shared/selective/selective.js``): both use only + − × ÷.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.conformal.alpha import thousandths
from core.conformal.probabilities import on_grid
from core.errors import InputError
from core.records import FloatArray, IntArray

BY = ("confidence", "set-size")
"""What decides whether a run answers a question: the probability of the top option, or the size of its set."""
STEPS = 100
"""A sequence from other questions has at most this many thresholds: one for each percent of them."""
MARGIN = 4
"""A sequence begins where this many times the questions are expected that a threshold needs at least, or half of all: a
threshold with just enough of them passes only without a single error."""
GRID: FloatArray = np.arange(4999, 2499, -1) / 5000
"""The fixed sequence: 0.9998, 0.9996, … 0.5, as fine as in the code of Jung et al."""
GRID.setflags(write=False)
BOUND_PARTS = 1000
"""A bound is rounded up to a multiple of 1 / BOUND_PARTS, so that it is shown as it is, and still holds."""
NEGLIGIBLE = 1e-18
MOST_DELTA = 500
"""The largest delta in thousandths: a bound that fails more often may be below the share of errors that was seen."""


@dataclass(frozen=True, slots=True)
class SelectiveAnswers:
    """The answers of j judges to the same n questions.

    A higher ``confidence`` (n, j) says that a judge is more certain; at 0 it never answers. ``wrong`` (n, j) is 1 for a
    wrong answer and 0 for a right one, and ½ for a tie, which needs confidence 0. Raises :class:`InputError` for other
    values.
    """

    confidence: FloatArray
    wrong: FloatArray

    def __post_init__(self) -> None:
        sure, wrong = self.confidence, self.wrong
        if sure.ndim != 2 or sure.shape != wrong.shape:
            raise InputError(
                f"confidences of shape {sure.shape} and errors of shape {wrong.shape} differ; both must be (n, j)"
            )
        if not (sure >= 0).all() or not np.isin(wrong[sure > 0], (0, 1)).all():
            raise InputError("confidences must be 0 or more, and an answer with confidence right (0) or wrong (1)")
        object.__setattr__(self, "confidence", on_grid(sure))

    def __len__(self) -> int:
        return len(self.wrong)

    def rows(self, chosen: IntArray) -> SelectiveAnswers:
        """Some of the questions."""
        return SelectiveAnswers(self.confidence[chosen], self.wrong[chosen])

    def of(self, judge: int) -> SelectiveAnswers:
        """The answers of one judge, by its place."""
        return SelectiveAnswers(self.confidence[:, [judge]], self.wrong[:, [judge]])


@dataclass(frozen=True, slots=True)
class SelectiveStage:
    """One judge: the ``threshold`` from which it answers, or None if no threshold keeps the promise.

    ``n_calibration`` questions reached it and calibrated, and a threshold needs ``fewest`` answers at least. At the
    strictest threshold, ``first``, it answered ``first_answered`` of them, ``first_wrong`` wrongly; ``first`` is None
    if nothing could be tested. ``levels`` is the number of different confidences among them. Of ``reached`` judged
    questions it answers ``answered``, ``wrong`` of them wrongly. ``base_error`` is the share that it would get wrong if
    it answered all of them, NaN if none reached it.
    """

    threshold: float | None
    n_calibration: int
    fewest: int
    first: float | None
    first_answered: int
    first_wrong: int
    levels: int
    reached: int
    answered: int
    wrong: int
    base_error: float


@dataclass(frozen=True, slots=True)
class SelectiveResult:
    """The stages of one or several judges in their order, and what they answer together.

    ``alpha`` and ``delta`` are in thousandths. Of ``n_judged`` questions, ``answered`` are answered, ``wrong`` of them
    wrongly. ``error_high`` is the upper bound of the share of wrong answers, at confidence 1 − delta; NaN if the judged
    questions also calibrated (``in_sample``), where no bound is valid, or none is answered.
    """

    alpha: int
    delta: int
    stages: tuple[SelectiveStage, ...]
    n_calibration: int
    n_judged: int
    answered: int
    wrong: int
    error_high: float
    in_sample: bool

    @property
    def share(self) -> float:
        """The share of the judged questions that is answered."""
        return self.answered / self.n_judged

    @property
    def passed(self) -> float:
        """The share of the judged questions that is passed."""
        return (self.n_judged - self.answered) / self.n_judged

    @property
    def error(self) -> float:
        """The share of the answers that is wrong; NaN without answers."""
        return self.wrong / self.answered if self.answered else math.nan


@lru_cache(maxsize=8)  # 8 bytes for each answer; a view needs one
def critical_errors(n: int, alpha: float, delta: float) -> IntArray:
    """For 0 … n answers, the most errors e with ``P(Bin(m, alpha) ≤ e) ≤ delta``, (n + 1,); −1 if even no error is too
    many. Read-only.

    One more answer raises this number by 0 or 1, so the law is carried from m to m + 1: ``P(X ≤ e)`` loses
    ``alpha · P(X = e)``. Its sum stays near delta, so nothing underflows.

    >>> critical_errors(40, 0.1, 0.1)[[21, 22, 37, 38]].tolist()
    [-1, 0, 0, 1]
    """
    most = np.full(n + 1, -1, dtype=np.int64)
    e, at, below = -1, 1.0, 1.0  # P(X = e) and P(X ≤ e)
    for m in range(1, n + 1):
        if e < 0:
            at = below = at * (1 - alpha)
            e = 0 if below <= delta else -1
        else:
            below = below - alpha * at
            at = at * m / (m - e) * (1 - alpha)
            after = at * (m - e) / (e + 1) * alpha / (1 - alpha)
            if below + after <= delta:
                e, at, below = e + 1, after, below + after
        most[m] = e
    most.setflags(write=False)
    return most


def fewest_answers(alpha: float, delta: float) -> int:
    """The fewest answers with which a threshold can pass, without an error: the least m with (1 − alpha)^m ≤ delta.

    >>> fewest_answers(0.1, 0.1), fewest_answers(0.15, 0.1)
    (22, 15)
    """
    m, law = 0, 1.0
    while law > delta:
        m, law = m + 1, law * (1 - alpha)
    return m


def at_most(errors: int, n: int, r: float) -> float:
    """``P(Bin(n, r) ≤ errors)`` for 0 < r < 1, summed from the most likely number outwards as shares of it."""
    mode = min(math.floor((n + 1) * r), n)
    below = total = 0.0
    for start, step in ((mode, -1), (mode + 1, 1)):
        weight, k = 1.0, start
        if step > 0:
            weight = weight * (n - mode) / (mode + 1) * r / (1 - r)
        while 0 <= k <= n and weight > NEGLIGIBLE:
            total = total + weight
            if k <= errors:
                below = below + weight
            weight = weight * k / (n - k + 1) * (1 - r) / r if step < 0 else weight * (n - k) / (k + 1) * r / (1 - r)
            k += step
    return below / total


def error_bound(errors: int, n: int, delta: float) -> float:
    """The exact (Clopper–Pearson) upper bound of a share of errors, at confidence 1 − delta, rounded up to a tenth
    of a percent; NaN for n = 0.

    >>> error_bound(0, 22, 0.1), error_bound(5, 5, 0.1)
    (0.1, 1.0)
    """
    if n == 0:
        return math.nan
    low, high = 0, BOUND_PARTS  # a risk of low / BOUND_PARTS is possible, one of high is not
    if errors == n:
        return 1.0
    while high - low > 1:
        middle = (low + high) >> 1
        if at_most(errors, n, middle / BOUND_PARTS) <= delta:
            high = middle
        else:
            low = middle
    return high / BOUND_PARTS


def steps(confidence: FloatArray, n: int, fewest: int) -> FloatArray:
    """Thresholds from the strictest to the loosest for n calibration questions, from the ``confidence`` (m,) of others.

    They are the quantiles that answer i of 100 of the others, for i from where enough of the n would be answered:
    :data:`MARGIN` · ``fewest``, or half of them, but no fewer than ``fewest``. Equal thresholds are one.

    >>> steps(np.array([0.9, 0.7, 0.8, 0.6]), 100, 10).tolist()
    [0.8, 0.7, 0.6]
    """
    falling = np.sort(confidence)[::-1]
    m = len(falling)
    if m == 0 or n == 0:
        return np.zeros(0)
    enough = min(MARGIN * fewest, max(fewest, n // 2))
    first = min((STEPS * enough + n - 1) // n, STEPS)
    quantiles = falling[[(i * m + STEPS - 1) // STEPS - 1 for i in range(first, STEPS + 1)]]
    positive = falling[falling > 0]
    if len(positive) < m:  # some are never answered: the loosest threshold answers all others
        quantiles = np.append(quantiles[quantiles > 0], positive[-1:])
    return np.asarray(np.unique(quantiles)[::-1], dtype=np.float64)


def selective(
    calibration: SelectiveAnswers, judged: SelectiveAnswers, alpha: int, delta: int, *, in_sample: bool = False
) -> SelectiveResult:
    """The thresholds of one or several judges, in the order of their columns, and what they then answer.

    ``judged`` are other questions, which have a part in the thresholds by their confidences alone; with ``in_sample``
    they hold the questions that calibrate, and the thresholds are those of :data:`GRID`. ``alpha`` and ``delta`` are in
    thousandths, from 1 to 999 and to :data:`MOST_DELTA`. Raises :class:`InputError` for other ones, and where there are
    no questions.
    """
    for name, value, most in (("alpha", alpha, 999), ("delta", delta, MOST_DELTA)):
        if not 1 <= value <= most:
            raise InputError(f"{name} in thousandths must be a whole number from 1 to {most}, got {value}")
    if not len(calibration) or not len(judged):
        raise InputError(
            f"both sides need at least one question, got {len(calibration)} to calibrate and {len(judged)} to judge"
        )
    judges = judged.wrong.shape[1]
    a, d = alpha / 1000, delta / 1000 / judges
    limits, fewest = critical_errors(len(calibration), a, d), fewest_answers(a, d)
    own, others = np.ones(len(calibration), dtype=np.bool_), np.ones(len(judged), dtype=np.bool_)
    stages = []
    for j in range(judges):
        sure, wrong = calibration.confidence[own, j], calibration.wrong[own, j]
        reached, errors = judged.confidence[others, j], judged.wrong[others, j]
        sequence = GRID if in_sample else steps(reached, len(sure), fewest)
        order = np.argsort(-sure, kind="stable")
        counts = np.searchsorted(-sure[order], -sequence, side="right")
        sums = np.append(0.0, np.cumsum(wrong[order]))[counts]
        passed = sums <= limits[counts]
        last = len(passed) if passed.all() else int(passed.argmin())
        threshold = float(sequence[last - 1]) if last else None
        taken = reached >= (math.inf if threshold is None else threshold)
        stages.append(
            SelectiveStage(
                threshold=threshold,
                n_calibration=len(sure),
                fewest=fewest,
                first=float(sequence[0]) if len(sequence) else None,
                first_answered=int(counts[0]) if len(sequence) else 0,
                first_wrong=int(sums[0]) if len(sequence) else 0,
                levels=len(np.unique(sure)),
                reached=len(reached),
                answered=int(taken.sum()),
                wrong=int(errors[taken].sum()),
                base_error=float(errors.sum() / len(errors)) if len(errors) else math.nan,
            )
        )
        if threshold is not None:
            own &= calibration.confidence[:, j] < threshold
            others &= judged.confidence[:, j] < threshold
    answered, wrong_answers = (sum(getattr(stage, name) for stage in stages) for name in ("answered", "wrong"))
    return SelectiveResult(
        alpha,
        delta,
        tuple(stages),
        len(calibration),
        len(judged),
        answered,
        wrong_answers,
        math.nan if in_sample else error_bound(wrong_answers, answered, delta / 1000),
        in_sample,
    )


def delta_thousandths(delta: float) -> int:
    """delta as a whole number of thousandths, from 1 to :data:`MOST_DELTA`. Raises :class:`InputError` for others.

    >>> delta_thousandths(0.1)
    100
    """
    whole = thousandths(delta, "delta")
    if whole > MOST_DELTA:
        raise InputError(
            f"delta must be at most {MOST_DELTA / 1000:g}, got {delta:g}; a promise that may fail in more than half of "
            "all draws says nothing, and 0.1 is usual"
        )
    return whole


def least_passed(base_error: float, alpha: float) -> float:
    """The smallest share of questions that must be passed so that a share alpha of the answers is wrong, if all passed
    ones would have been wrong: ``(μ − α) / (1 − α)`` for the base error μ, and 0 if μ ≤ α.

    >>> round(least_passed(0.28, 0.1), 3), least_passed(0.05, 0.1)
    (0.2, 0.0)
    """
    return max(0.0, (base_error - alpha) / (1 - alpha))
