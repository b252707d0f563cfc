"""Calibration errors: how often their intervals hold the error of the law, and how often tests of calibration err.

Confidences are drawn from a beta law, and an answer is right with a known function of its confidence. What an interval
should hold is the error of the law with the bins of the sample; a truth counts as held within half of the last
decimal that is shown, for a bin that holds one question of a million adds to the truth and not to any sample.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial

import numpy as np
from scipy.special import betaincinv

from core.calibration.binned import binned_estimates, ece_estimate
from core.calibration.bins import TopLabel, edges, place
from core.calibration.consistency import calibration_test
from core.calibration.figures import estimates, top_estimates
from core.calibration.means import loss_interval
from core.calibration.recalibration import fit
from core.calibration.reliability import reliability
from core.calibration.smooth import smooth_error
from core.conformal.probabilities import log_softmax, top_options
from core.estimates import Estimate
from core.records import FloatArray, IntArray
from tests.simulation.case import INTERVAL, TEST, Case

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
    "near-perfect": (2000, 10, lambda c: c),
    "near-perfect, errs thrice as often": (2000, 10, lambda c: 1 - 3 * (1 - c)),
}
REPEATS = 5


@cache
def population(law: str) -> tuple[FloatArray, FloatArray]:
    """Confidences of the law in order, and their accuracies."""
    a, b, accuracy = LAWS[law]
    confidence = betaincinv(a, b, (np.arange(POPULATION) + 0.5) / POPULATION)
    return confidence, accuracy(confidence)


def repeated(law: str, n: int, seed: int) -> tuple[TopLabel, IntArray]:
    """n rows of the law, in which each question is asked five times, and their questions."""
    top = sample(law, n // REPEATS, seed)
    questions = np.repeat(np.arange(len(top)), REPEATS)
    return TopLabel(top.confidence[questions], top.correct[questions]), questions


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


def held(one: Estimate, value: float) -> bool:
    """Whether the interval holds the value, to what is shown."""
    return one.low - SHOWN <= value <= one.high + SHOWN


@lru_cache(maxsize=200_000)
def binned_hits(law: str, n: int, by: str, seed: int) -> dict[str, bool]:
    """Which of the binned errors' intervals hold the truth in one draw."""
    top = sample(law, n, seed)
    ends = edges(top.confidence, by=by)
    true = _width_truth(law) if by == "width" else truth(law, ends)
    found = binned_estimates(top, by=by)
    index = place(top.confidence, ends)
    # The largest gap is that of bins which hold a question, at the confidences that were drawn.
    sums = np.bincount(index, weights=LAWS[law][2](top.confidence) - top.confidence, minlength=len(ends) - 1)
    largest = float((np.abs(sums) / np.maximum(np.bincount(index, minlength=len(ends) - 1), 1)).max())
    return {name: held(found[name], value) for name, value in {**true, "mce": largest}.items()}


def _binned_hit(seed: int, *, name: str, law: str, n: int, by: str) -> bool:
    return binned_hits(law, n, by, seed)[name]


def _repeated_hit(seed: int, *, name: str, law: str, n: int) -> bool:
    top, questions = repeated(law, n, seed)
    return held(binned_estimates(top, clusters=questions)[name], _width_truth(law)[name])


# ---------------------------------------------------------------- every option's error, and the smooth one

POWERS = {"calibrated": 1.0, "p^.9": 0.9, "p^.8": 0.8, "p^.6": 0.6, "p^1.3": 1.3, "chance": 0.0}
"""Options are the truth with these powers of their probabilities, normalised: below 1 a model is too sure."""
OPTIONS = 4


def _true_shares(probabilities: FloatArray, power: float) -> FloatArray:
    raised = probabilities**power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


@cache
def classwise_truth(power: float) -> float:
    """The class-wise ECE of the law."""
    p = np.random.default_rng(0).dirichlet(np.ones(OPTIONS), POPULATION)
    gaps = _true_shares(p, power) - p
    sums = [np.bincount(place(p[:, j], edges(p[:, j])), weights=gaps[:, j]) for j in range(OPTIONS)]
    return float(sum(np.abs(one).sum() for one in sums) / POPULATION / OPTIONS)


def options(power: float, n: int, seed: int) -> tuple[FloatArray, IntArray]:
    """Probabilities (n, 4) and labels (n,) of the law."""
    rng = np.random.default_rng([seed, n])
    p = rng.dirichlet(np.ones(OPTIONS), n)
    labels = (_true_shares(p, power).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, OPTIONS - 1)
    return p, labels


def _classwise_hit(seed: int, *, power: float, n: int) -> bool:
    found = estimates(*options(power, n, seed))["classwise_ece"]
    return held(found, classwise_truth(power))


@cache
def smooth_truth(law: str) -> float:
    """The smooth error of the law."""
    return smooth_error(TopLabel(*population(law)))[0]


def _smooth_hit(seed: int, *, law: str, n: int, repeats: bool = False) -> bool:
    top, questions = repeated(law, n, seed) if repeats else (sample(law, n, seed), None)
    return held(top_estimates(top, top.confidence, clusters=questions)["smooth_ece"], smooth_truth(law))


# ---------------------------------------------------------------- tests, diagrams, samples of tokens, recalibration


@lru_cache(maxsize=10_000)
def tested(n: int, seed: int) -> tuple[bool, bool]:
    """Whether the ECE's p-value and Spiegelhalter's z call a calibrated model off at 5%."""
    found = calibration_test(sample("calibrated", n, seed), rng=np.random.default_rng([seed, 1]))
    return found.p_value <= 0.05, found.z_p_value <= 0.05


def _test_hit(seed: int, *, n: int, which: int) -> bool:
    return tested(n, seed)[which]


def _repeated_test_hit(seed: int, *, n: int, which: int) -> bool:
    top, questions = repeated("calibrated", n, seed)
    found = calibration_test(top, rng=np.random.default_rng([seed, 1]), clusters=questions)
    return (found.p_value, found.z_p_value)[which] <= 0.05


def _diagram_hit(seed: int, *, law: str, n: int, band: bool) -> bool:
    """One bin, drawn from those that hold a question: its accuracy's interval, or a calibrated model's band."""
    top = sample(law, n, seed)
    diagram = reliability(top, rng=np.random.default_rng([seed, 2]), draws=400)
    filled = [b for b, one in enumerate(diagram.bins) if one.n]
    b = int(np.random.default_rng([seed, 3]).choice(filled))
    one = diagram.bins[b]
    if band:
        return one.consistent_low - 1e-9 <= one.accuracy <= one.consistent_high + 1e-9
    inside = place(top.confidence, edges(top.confidence)) == b
    return one.accuracy_low <= float(LAWS[law][2](top.confidence[inside]).mean()) <= one.accuracy_high


TOKENS = 40_000
TOKEN_LAW = "off by c^1.4"


def _token_hit(seed: int, *, count: int) -> bool:
    """The interval of tokens drawn from a corpus against the law that the corpus comes from."""
    top = sample(TOKEN_LAW, TOKENS, seed)
    rows = np.random.default_rng([seed, 4]).choice(TOKENS, count, replace=False)
    return held(ece_estimate(TopLabel(top.confidence[rows], top.correct[rows])), _width_truth(TOKEN_LAW)["ece"])


@cache
def _fresh(power: float) -> tuple[FloatArray, FloatArray]:
    p = np.random.default_rng(1).dirichlet(np.ones(OPTIONS), 20_000)
    return p, _true_shares(p, power)


def _recalibration_hit(seed: int, *, power: float, n: int) -> bool:
    """The change of NLL by two fitted temperatures, on n test questions, against that of the same maps on the law."""
    p, y = options(power, 2 * n, seed)
    logs = np.log(p)
    maps = [fit("temperature", logs[rows], y[rows]) for rows in (slice(0, n // 2), slice(n // 2, n))]

    def change(of: FloatArray) -> FloatArray:
        mapped = sum(log_softmax(one.logits(of)) for one in maps) / len(maps)
        return np.asarray(of - mapped)

    fresh, shares = _fresh(power)
    found = loss_interval(change(logs[n:]), y[n:], top_options(p[n:]), p[n:])
    return found.low <= float((shares * change(np.log(fresh))).sum(axis=1).mean()) <= found.high


# ---------------------------------------------------------------- the cases

ECE_LAWS = (
    "calibrated",
    "off by c^1.05",
    "off by c^1.2",
    "sure, off by c^2",
    "off both ways by .12",
    "off in one bin alone",
    "nearly certain, off by .02",
    "near-perfect",
    "near-perfect, errs thrice as often",
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
            f"class-wise ECE, {law}, {n:,} questions",
            partial(_classwise_hit, power=POWERS[law], n=n),
            allowed,
            short,
            400,
            SAYS,
        )
        for n, short in zip(QUESTIONS, (12, 10, 4), strict=True)
        for law, allowed in (("calibrated", NEARLY_ALWAYS), ("p^.8", AT_LEAST), ("chance", AT_LEAST))
    ),
    *(
        Case(
            f"smooth ECE, {law}, {n:,} questions", partial(_smooth_hit, law=law, n=n), allowed, short, 400, SMOOTH_SAYS
        )
        for n, short in zip(QUESTIONS, (12, 10, 4), strict=True)
        for law, allowed in (
            ("calibrated", NEARLY_ALWAYS),
            ("off by c^1.4", AT_LEAST),
            ("off both ways by .12", AT_LEAST),
            ("near-perfect, errs thrice as often", SMOOTH),
        )
    ),
    *(
        Case(
            f"smooth ECE, off by c^1.4, each question five times, {n:,} rows",
            partial(_smooth_hit, law="off by c^1.4", n=n, repeats=True),
            SMOOTH,
            short,
            400,
            SMOOTH_SAYS,
        )
        for n, short in zip(QUESTIONS, (12, 10, 4), strict=True)
    ),
    *(
        Case(
            f"{TITLES[name]}, {law}, each question five times, {n:,} rows",
            partial(_repeated_hit, name=name, law=law, n=n),
            AT_LEAST,
            40,
            1000,
            SAYS,
        )
        for name in ("ece", "over", "under", "l2")
        for n in QUESTIONS
        for law in ("calibrated", "off by c^1.4")
    ),
    *(
        Case(
            f"{title} of a calibrated model, each question five times, {n:,} rows",
            partial(_repeated_test_hit, n=n, which=which),
            TEST,
            60,
            1000,
        )
        for n in QUESTIONS
        for which, title in enumerate(("p-value of the ECE", "Spiegelhalter's z"))
    ),
    *(
        Case(f"{title} of a calibrated model, {n:,} questions", partial(_test_hit, n=n, which=which), TEST, 60, 1000)
        for n in QUESTIONS
        for which, title in enumerate(("p-value of the ECE", "Spiegelhalter's z"))
    ),
    *(
        Case(
            f"accuracy of a bin of the diagram, {n:,} questions",
            partial(_diagram_hit, law="off by c^1.4", n=n, band=False),
            AT_LEAST,
            30,
            1000,
            "Clopper–Pearson: at least 95 of 100",
        )
        for n in QUESTIONS
    ),
    *(
        Case(
            f"a calibrated model's band of a bin, {n:,} questions",
            partial(_diagram_hit, law="calibrated", n=n, band=True),
            AT_LEAST,
            30,
            1000,
            "at least 95 of 100 samples: the ends are shares that a bin can have",
        )
        for n in QUESTIONS
    ),
    *(
        Case(f"ECE of {count:,} of 40,000 tokens", partial(_token_hit, count=count), AT_LEAST, 40, 1000, SAYS)
        for count in QUESTIONS
    ),
    *(
        Case(
            f"change of NLL by a fitted temperature, {n:,} questions",
            partial(_recalibration_hit, power=0.8, n=n),
            INTERVAL,
            20,
            1000,
        )
        for n in QUESTIONS
    ),
)
