"""The coverage of the intervals of a label budget: labels with a judge, and labels alone.

An interval should hold the long-run share of right answers. Answers are drawn from a law of labels and verdicts; the
first n of M have a label. Judges err at random (in 20% or 3% of answers), on one side alone, or give probabilities that
are calibrated, far too extreme, or say nothing.
"""

from collections.abc import Callable

import numpy as np

from core.conformal.clusters import numbered
from core.jury.label_budget import label_estimates
from tests.simulation.case import Case

Law = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def errs(share: float) -> Law:
    """Verdicts that are wrong in a share of answers."""
    return lambda y, rng: np.where(rng.random(len(y)) < share, 1 - y, y)


def false_alarms(share: float) -> Law:
    """Verdicts that are wrong only if the answer is wrong, in a share of these answers."""
    return lambda y, rng: np.where((rng.random(len(y)) < share) & (y == 0), 1.0, y)


def leaning(strength: float, scale: float = 1.0) -> Law:
    """Probabilities whose log-odds lean to the truth."""
    return lambda y, rng: 1 / (1 + np.exp(-scale * (strength * (2 * y - 1) + rng.normal(size=len(y)))))


JUDGES: dict[str, Law] = {
    "useless": lambda y, rng: rng.random(len(y)),
    "errs in 20%": errs(0.2),
    "errs in 3%": errs(0.03),
    "calls 10% of wrong answers right": false_alarms(0.1),
    "probabilities": leaning(0.8, 1.5),
    "extreme probabilities": leaning(0.8, 8.0),
    "timid probabilities": lambda y, rng: 0.6 + 0.1 * leaning(1.0)(y, rng),
}


def held(judge: Law, rate: float, n: int, m: int, seed: int) -> tuple[bool, bool]:
    """Whether the interval with the judge held the rate, and that of the labels alone."""
    rng = np.random.default_rng([n, m, round(1000 * rate), seed, 0x1AB])
    y = (rng.random(m) < rate).astype(np.float64)
    (estimate,) = label_estimates(y[:n], judge(y, rng), [n])
    judged, alone = estimate.judged, estimate.alone
    return judged.low <= rate <= judged.high, alone.low <= rate <= alone.high


def judge_case(name: str, rate: float, n: int, m: int) -> Callable[[int], bool]:
    return lambda seed: held(JUDGES[name], rate, n, m, seed)[0]


def alone_case(rate: float, n: int) -> Callable[[int], bool]:
    return lambda seed: held(JUDGES["useless"], rate, n, 2 * n, seed)[1]


def clustered_case(rate: float, n: int, errs_in: float) -> Callable[[int], bool]:
    """Five answers to each of 100 questions, which are right together and judged wrongly together."""

    def hit(seed: int) -> bool:
        rng = np.random.default_rng([n, round(1000 * rate), seed, 0x1AC])
        question = rng.permutation(np.arange(100).repeat(5))

        def together(share: float) -> np.ndarray:
            return np.where(rng.random(500) < 0.6, (rng.random(100) < share)[question], rng.random(500) < share)

        y = together(rate).astype(np.float64)
        verdicts = np.where(together(errs_in), 1 - y, y)
        (estimate,) = label_estimates(y[:n], verdicts, [n], clusters=numbered(question.tolist()))
        return estimate.judged.low <= rate <= estimate.judged.high

    return hit


RATES, SIZES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.9, 0.98), (30, 100, 300)
ALLOWED = (0.935, 0.965)
CONSERVATIVE = (0.93, 1.0)
USUAL = "In simulations with 30, 100 and 300 labels, they held the true value in 93 to 97 of 100 cases."
FEW_SEEN = (
    "With few labels on the rarer side, or few errors of the judge, intervals are wider than necessary, and hold the "
    "true value in 93 to 100 of 100 cases."
)


def allowed(name: str, rate: float, n: int) -> tuple[float, float]:
    """The coverage that is possible: near 95% if 15 labels of the rarer side and 15 errors are expected."""
    rare = min(rate, 1 - rate)
    wrong = {"errs in 3%": 0.03, "calls 10% of wrong answers right": 0.1 * (1 - rate)}.get(name, rare)
    return ALLOWED if n * min(rare, wrong) >= 15 else CONSERVATIVE


CASES: tuple[Case, ...] = (
    *(
        Case(
            f"label budget, judge {name}, share {rate}, n = {n} of {m:,}",
            judge_case(name, rate, n, m),
            bounds := allowed(name, rate, n),
            40,
            2000,
            USUAL if bounds == ALLOWED else FEW_SEEN,
        )
        for name in JUDGES
        for rate in RATES
        for n in SIZES
        for m in (500, 10_000)
    ),
    *(
        Case(
            f"label budget, labels alone, share {rate}, n = {n}",
            alone_case(rate, n),
            bounds := allowed("", rate, n),
            40,
            2000,
            USUAL if bounds == ALLOWED else FEW_SEEN,
        )
        for rate in RATES
        for n in SIZES
    ),
    *(
        Case(
            f"label budget, judge that errs in {errs_in:.0%} of five answers to each question, share {rate}, n = {n}",
            clustered_case(rate, n, errs_in),
            (0.93, 0.97),
            40,
            2000,
            USUAL,
        )
        for errs_in in (0.03, 0.2)
        for rate in (0.3, 0.5)
        for n in (100, 300)
    ),
)
