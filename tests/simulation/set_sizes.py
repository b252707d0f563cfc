"""Mean set size and UAcc: their intervals, their differences between two runs, and the test of a difference.

A question has k options; if k is 6, two can't be true, such as E and F. A model's logits are normal noise, with
a gamma-distributed signal on the true option. The truth is the figure that new calibration *and* new test questions
give on average: the mean of the size at the population's threshold of level U ~ Beta(k, n + 1 − k), from a population
of 400,000 questions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.special import betaincinv

from core.conformal.permutation import Swappable, swap_test
from core.conformal.probabilities import softmax
from core.conformal.scores import score, true_scores
from core.conformal.set_sizes.differences import PairedRun, difference_intervals
from core.conformal.set_sizes.intervals import SetEstimates
from core.conformal.threshold import rank
from core.estimates import Estimate
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation
from core.reports.perplexity import ChoiceScores, choice_sets
from core.reports.report import set_estimates
from core.reports.scored_sets import form
from tests.simulation.case import INTERVAL, TEST, Case, simulated

ALPHA = 100
POPULATION = 400_000
LEVELS = (np.arange(4000) + 0.5) / 4000
NONE: FloatArray = np.array([])


@dataclass(frozen=True, slots=True)
class Law:
    """The answers of a model: ``k`` options, its mean signal, whether logits are cut to bfloat16 as the runs' own are,
    and how much noise of its own each of two models has (1: nothing in common)."""

    k: int = 6
    signal: float = 3.0
    coarse: bool = False
    own_noise: float = 1.0


SURE = Law(signal=6.0)
USUAL = Law()
TIED = Law(coarse=True)
SATURATED = Law(k=4, signal=0.75)
"""The true option is the last of four for about one question in ten: the APS threshold is 1 in most draws."""
TWINS = Law(own_noise=0.2)
TIED_TWINS = Law(own_noise=0.2, coarse=True)


def questions(
    rng: np.random.Generator, n: int, law: Law, *, models: int = 1, lead: float = 0.0
) -> tuple[list[FloatArray], IntArray]:
    """The probabilities of each model, (n, k), and the labels, (n,); ``lead`` is how much more signal the last has."""
    labels = rng.integers(0, law.k - 2 if law.k > 4 else law.k, n)
    common, ease = rng.normal(size=(n, law.k)), rng.gamma(1.5, size=n)
    answers = []
    for model in range(models):
        if law.own_noise == 1:
            logits, strength = rng.normal(size=(n, law.k)), rng.gamma(1.5, size=n)
        else:
            logits, strength = common + law.own_noise * rng.normal(size=(n, law.k)), ease
        logits[np.arange(n), labels] += (law.signal + (lead if model == models - 1 else 0)) / 1.5 * strength
        logits[:, 4:] -= 5
        answers.append(softmax(_bfloat16(logits + 18) if law.coarse else logits))
    return answers, labels


def _bfloat16(values: FloatArray) -> FloatArray:
    """Values with the 8 significant bits of bfloat16, so that many options are equal."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


@lru_cache(maxsize=16)
def _population(law: Law, name: str, lead: float) -> tuple[FloatArray, FloatArray, float]:
    """Sorted scores of true options, sorted scores of all options, and accuracy."""
    (p,), labels = questions(np.random.default_rng(0xC0FFEE), POPULATION, law, lead=lead)
    scores = score(name, p)
    right = float((p.argmax(axis=1) == labels).mean())
    return np.sort(true_scores(scores, labels)), np.sort(scores.ravel()), right


@lru_cache(maxsize=64)
def expected(law: Law, name: str, n: int, lead: float = 0.0) -> tuple[float, float]:
    """Mean set size and UAcc over draws of n calibration questions."""
    true, every, right = _population(law, name, lead)
    k = int(rank(n, ALPHA))
    limits = true[(betaincinv(k, n + 1 - k, LEVELS) * POPULATION).astype(np.int64)]
    sizes = np.searchsorted(every, limits, side="right") / POPULATION
    return float(sizes.mean()), float((right * law.k**0.5 / sizes).mean())


def drawn_run(seed: int, n: int, law: Law) -> Evaluation:
    """A run of n calibration and n test questions."""
    (p,), labels = questions(np.random.default_rng([seed, n]), 2 * n, law)
    return simulated(p, labels, n)


def holds(estimate: Estimate, truth: float) -> bool:
    return estimate.low <= truth <= estimate.high


def _one_run(seed: int, *, n: int, law: Law, name: str) -> bool:
    run = drawn_run(seed, n, law)
    return holds(set_estimates(run, form(run, name, ALPHA), ALPHA).mean_set_size, expected(law, name, n)[0])


def _endings(seed: int, *, n: int) -> bool:
    """Sets of endings: half of 2n choices calibrates."""
    run = drawn_run(seed, n, SATURATED)
    sets = choice_sets(ChoiceScores(np.log(run.probabilities), run.labels), ALPHA, seed=seed)
    low, high = sets.size_interval
    return low <= expected(SATURATED, "lac", n)[0] <= high


# ---------------------------------------------------------------- two runs


def _two(seed: int, n: int, law: Law, name: str, lead: float) -> tuple[Swappable, Swappable]:
    answers, labels = questions(np.random.default_rng([seed, n, 2]), 2 * n, law, models=2, lead=lead)
    scores = [score(name, p) for p in answers]
    true = [true_scores(run_scores, labels)[:n] for run_scores in scores]
    right = [(p.argmax(axis=1) == labels)[n:].astype(np.float64) for p in answers]
    first, second = (
        Swappable(
            np.stack(true[::way]),
            NONE,
            np.stack([run_scores[n:] for run_scores in scores[::way]]),
            np.stack(right[::way]),
            law.k,
        )
        for way in (1, -1)
    )
    return first, second


def _interval_of(first: Swappable, second: Swappable, seed: int) -> SetEstimates:
    sides = [
        PairedRun(side.calibration[0], side.alone, side.test[0], side.right[0], side.options)
        for side in (first, second)
    ]
    return difference_intervals(*sides, ALPHA, seed=seed)


def _difference(seed: int, *, n: int, law: Law, name: str, figure: str, lead: float = 0.0) -> bool:
    result = _interval_of(*_two(seed, n, law, name, lead), seed)
    own, ahead = expected(law, name, n), expected(law, name, n, lead)
    if figure == "uacc":
        return holds(result.uacc, ahead[1] - own[1])
    return holds(result.mean_set_size, ahead[0] - own[0])


def _swapped(seed: int, *, n: int, law: Law, name: str, figure: str, resamples: int) -> bool:
    result = swap_test(*_two(seed, n, law, name, 0.0), ALPHA, resamples=resamples, seed=seed)
    return getattr(result, figure) <= 0.05


# ---------------------------------------------------------------- the list

SAYS_TWINS = (
    "If the two runs are nearly alike, these two intervals are wider than necessary: they hold the expected difference "
    "for 98 of 100 pairs or more."
)
WIDE = (0.935, 1.0)


def _cases(
    hit: Callable[..., bool], names: tuple[str, ...], rows: tuple[tuple[object, ...], ...], **common: object
) -> Iterator[Case]:
    """A case for each row: a title, how many draws are short and long, and the arguments of ``hit`` by their names."""
    allowed, says = common.pop("allowed", INTERVAL), common.pop("says", "")
    for title, short, long, *values in rows:
        arguments = dict(zip(names, values, strict=True)) | common
        name = f"set size: {title}, n = {arguments['n']}"
        yield Case(name, partial(hit, **arguments), allowed, short, long, says)


DIFFERENCE = "interval of a difference in"
CASES: tuple[Case, ...] = (
    *_cases(
        _one_run,
        ("n", "law", "name"),
        (
            ("interval of mean size, sure model, LAC", 60, 1000, 200, SURE, "lac"),
            ("interval of mean size, sure model, LAC", 60, 1000, 1000, SURE, "lac"),
            ("interval of mean size, tied scores, LAC", 60, 1000, 200, TIED, "lac"),
            ("interval of mean size, tied scores, LAC", 60, 1000, 1000, TIED, "lac"),
            ("interval of mean size, APS near saturation", 60, 1000, 200, SATURATED, "aps"),
            ("interval of mean size, APS near saturation", 60, 1000, 500, SATURATED, "aps"),
            ("interval of mean size, APS near saturation", 60, 1000, 1000, SATURATED, "aps"),
        ),
    ),
    *_cases(_endings, ("n",), (("interval of mean size, sets of endings", 60, 1000, 200),)),
    *_cases(
        _difference,
        ("n", "law", "name", "figure", "lead"),
        (
            (f"{DIFFERENCE} size", 40, 1000, 200, USUAL, "lac", "size", 0.0),
            (f"{DIFFERENCE} size", 15, 1000, 1000, USUAL, "lac", "size", 0.0),
            (f"{DIFFERENCE} size", 2, 400, 5000, USUAL, "lac", "size", 0.0),
            (f"{DIFFERENCE} UAcc", 40, 1000, 200, USUAL, "lac", "uacc", 0.0),
            (f"{DIFFERENCE} size, unlike models, APS", 15, 1000, 1000, USUAL, "aps", "size", 1.5),
            (f"{DIFFERENCE} size, APS near saturation", 30, 1000, 200, SATURATED, "aps", "size", 0.0),
            (f"{DIFFERENCE} size, APS near saturation", 10, 1000, 1000, SATURATED, "aps", "size", 0.0),
        ),
    ),
    *_cases(
        _difference,
        ("n",),
        ((f"{DIFFERENCE} size, twins", 40, 1000, 200), (f"{DIFFERENCE} size, twins", 15, 1000, 1000)),
        law=TWINS,
        name="lac",
        figure="size",
        allowed=WIDE,
        says=SAYS_TWINS,
    ),
    *_cases(
        _swapped,
        ("law", "name", "figure", "n", "resamples"),
        tuple(
            (f"permutation test of {figure.replace('_', ' ')}, {title}", short, long, law, name, figure, n, resamples)
            for title, law, name, figure, n, resamples, short, long in (
                ("unlike noise, LAC", USUAL, "lac", "mean_set_size", 200, 2000, 20, 1000),
                ("unlike noise, LAC", USUAL, "lac", "uacc", 200, 2000, 20, 1000),
                ("unlike noise, LAC", USUAL, "lac", "mean_set_size", 500, 2000, 5, 400),
                ("unlike noise, APS", USUAL, "aps", "mean_set_size", 1000, 2000, 12, 400),
                ("unlike noise, LAC, 199 swaps", USUAL, "lac", "mean_set_size", 5000, 199, 12, 400),
                ("twins, LAC", TWINS, "lac", "mean_set_size", 200, 2000, 20, 1000),
                ("twins, LAC", TWINS, "lac", "mean_set_size", 1000, 2000, 3, 400),
                ("tied twins, APS", TIED_TWINS, "aps", "mean_set_size", 200, 2000, 20, 1000),
                ("APS near saturation", SATURATED, "aps", "mean_set_size", 200, 2000, 20, 1000),
            )
        ),
        allowed=TEST,
    ),
)
