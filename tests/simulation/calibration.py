"""Binned and smooth calibration errors under laws made for them: how often their intervals hold the error of the law.

Confidences are drawn from a beta law, and an answer is right with a known function of its confidence. An interval
should hold the error of the law with the bins of the sample; a truth counts as held within half of the last
decimal that is shown, for a bin that holds one question of a million adds to the truth and not to any sample.
"""

from collections.abc import Callable
from functools import cache, lru_cache, partial

import numpy as np
from scipy.special import betaincinv

from core.calibration.binned import binned_estimates, ece_estimate
from core.calibration.bins import TopLabel, edges, place
from core.calibration.figures import top_estimates
from core.calibration.smooth import smooth_error
from core.estimates import Estimate
from core.records import FloatArray
from tests.simulation.case import Case

POPULATION = 200_000
SHOWN = 0.0005
"""Half of the last decimal that pages show."""
AT_LEAST = (0.935, 1.0)
NEARLY_ALWAYS = (0.96, 1.0)
SAYS = "It holds the error in at least 95 of 100 samples"
SMOOTH = (0.92, 1.0)
SMOOTH_SAYS = "the smooth error in at least 92"
QUESTIONS = (200, 1000, 5000)

Accuracy = Callable[[FloatArray], FloatArray]

LAWS: dict[str, tuple[float, float, Accuracy]] = {
    "calibrated": (2, 3, lambda c: c),
    "off by c^1.05": (2, 3, lambda c: c**1.05),
    "off by c^1.1": (2, 3, lambda c: c**1.1),
    "off by c^1.2": (2, 3, lambda c: c**1.2),
    "off by c^1.4": (2, 3, lambda c: c**1.4),
    "sure, off by c^1.2": (5, 2, lambda c: c**1.2),
    "sure, off by c^2": (5, 2, lambda c: c**2),
    "sure, too modest, c^.8": (5, 2, lambda c: c**0.8),
    "off above .6 alone": (5, 2, lambda c: np.where(c > 0.6, c**2, c)),
    "uniform, off by c^1.15": (1, 1, lambda c: c**1.15),
    "off both ways by .12": (1, 1, lambda c: np.where(c > 0.5, c - 0.12, c + np.minimum(0.12, 1 - c))),
    "off both ways by .04": (1, 1, lambda c: np.where(c > 0.5, c - 0.04, c + 0.04)),
    "off in one bin alone": (2, 2, lambda c: np.where((c > 0.4) & (c <= 7 / 15), c - 0.3, c)),
    "sure of everything, right in 30%": (8, 1, lambda c: np.full_like(c, 0.3)),
    "nearly certain, off by .02": (60, 0.6, lambda c: np.maximum(c - 0.02, 0)),
}


@cache
def population(law: str) -> tuple[FloatArray, FloatArray]:
    """Confidences of the law in order, and their accuracies."""
    a, b, accuracy = LAWS[law]
    confidence = betaincinv(a, b, (np.arange(POPULATION) + 0.5) / POPULATION)
    return confidence, accuracy(confidence)


def sample(law: str, n: int, seed: int) -> TopLabel:
    """n questions of the law."""
    a, b, accuracy = LAWS[law]
    rng = np.random.default_rng([seed, n])
    confidence = rng.beta(a, b, n)
    return TopLabel(confidence, (rng.random(n) < accuracy(confidence)).astype(np.float64))


def truth(law: str, ends: FloatArray) -> dict[str, float]:
    """The law's errors in the bins with these edges."""
    confidence, accuracy = population(law)
    bins = len(ends) - 1
    index = place(confidence, ends)
    sums = np.bincount(index, weights=accuracy - confidence, minlength=bins) / POPULATION
    shares = np.bincount(index, minlength=bins) / POPULATION
    return {
        "ece": float(np.abs(sums).sum()),
        "over": float(np.maximum(-sums, 0).sum()),
        "under": float(np.maximum(sums, 0).sum()),
        "l2": float(np.sqrt((sums**2 / np.maximum(shares, 1e-12)).sum())),
    }


@cache
def _width_truth(law: str) -> dict[str, float]:
    return truth(law, edges(np.zeros(1)))


def held(estimate: Estimate, value: float) -> bool:
    """Whether the interval holds the value, to what is shown."""
    return estimate.low - SHOWN <= value <= estimate.high + SHOWN


@lru_cache(maxsize=200_000)
def binned_hits(law: str, n: int, by: str, seed: int) -> dict[str, bool]:
    """Which of the binned errors' intervals hold the truth in one draw."""
    top = sample(law, n, seed)
    ends = edges(top.confidence, by=by)
    true = _width_truth(law) if by == "width" else truth(law, ends)
    result = binned_estimates(top, by=by)
    index = place(top.confidence, ends)
    # The largest gap is that of bins which hold a question, at the confidences that were drawn.
    sums = np.bincount(index, weights=LAWS[law][2](top.confidence) - top.confidence, minlength=len(ends) - 1)
    largest = float((np.abs(sums) / np.maximum(np.bincount(index, minlength=len(ends) - 1), 1)).max())
    return {name: held(result[name], value) for name, value in {**true, "mce": largest}.items()}


def _binned_hit(seed: int, *, name: str, law: str, n: int, by: str) -> bool:
    return binned_hits(law, n, by, seed)[name]


# ---------------------------------------------------------------- the smooth error, and samples of tokens


@cache
def smooth_truth(law: str) -> float:
    """The smooth error of the law."""
    return smooth_error(TopLabel(*population(law)))


def _smooth_hit(seed: int, *, law: str, n: int) -> bool:
    top = sample(law, n, seed)
    return held(top_estimates(top, top.confidence)["smooth_ece"], smooth_truth(law))


TOKENS = 40_000
TOKEN_LAW = "off by c^1.4"


def _token_hit(seed: int, *, count: int) -> bool:
    """The interval of tokens drawn from a corpus against the law that the corpus comes from."""
    top = sample(TOKEN_LAW, TOKENS, seed)
    rows = np.random.default_rng([seed, 4]).choice(TOKENS, count, replace=False)
    return held(ece_estimate(TopLabel(top.confidence[rows], top.correct[rows])), _width_truth(TOKEN_LAW)["ece"])


# ---------------------------------------------------------------- the cases

ECE_LAWS = (
    "calibrated",
    "off by c^1.05",
    "off by c^1.2",
    "sure, off by c^2",
    "off both ways by .12",
    "off in one bin alone",
    "nearly certain, off by .02",
)
PART_LAWS = ("off by c^1.2", "off both ways by .12")
TITLES = {"ece": "ECE", "over": "overconfidence", "under": "underconfidence", "mce": "MCE", "l2": "ℓ2 error"}


def _binned_case(name: str, law: str, n: int, by: str = "width") -> Case:
    edges_said = "" if by == "width" else ", bins of equal mass"
    return Case(
        f"{TITLES[name]}, {law}, {n:,} questions{edges_said}",
        partial(_binned_hit, name=name, law=law, n=n, by=by),
        NEARLY_ALWAYS if law == "calibrated" else AT_LEAST,
        40,
        1000,
        SAYS,
    )


CASES: tuple[Case, ...] = (
    *(_binned_case("ece", law, n) for n in QUESTIONS for law in ECE_LAWS),
    *(_binned_case("ece", law, n, "mass") for n in QUESTIONS[:2] for law in PART_LAWS),
    *(_binned_case(name, law, n) for name in ("over", "under", "mce", "l2") for n in QUESTIONS for law in PART_LAWS),
    *(
        Case(
            f"smooth ECE, {law}, {n:,} questions", partial(_smooth_hit, law=law, n=n), allowed, short, 400, SMOOTH_SAYS
        )
        for n, short in zip(QUESTIONS, (12, 10, 4), strict=True)
        for law, allowed in (("off by c^1.4", AT_LEAST), ("off both ways by .12", AT_LEAST))
    ),
    *(
        Case(f"ECE of {count:,} of 40,000 tokens", partial(_token_hit, count=count), AT_LEAST, 40, 1000, SAYS)
        for count in QUESTIONS
    ),
)
