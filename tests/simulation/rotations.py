"""Questions that are asked in several orders count once: the intervals of letters and of the options' order.

A question's logits are the same for an option wherever it stands, up to noise and a taste for letters, so its orders
depend on each other. The shown figures are those of :func:`core.reports.prompting.option_order.option_order`, for which
:func:`~core.reports.prompting.option_order.of_orders` computes them.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from core.conformal.probabilities import log_softmax, softmax
from core.records import FloatArray
from core.reports.evaluation import Evaluation
from core.reports.prompting import option_order as order
from core.reports.prompting.option_order import OptionOrder, letters_p_value, of_orders
from core.reports.prompting.option_order import _rate_intervals as rate_intervals
from tests.simulation.case import INTERVAL, TEST, Case, simulated

M = 4
SIZES = (200, 1000, 5000)
TASTE = np.array([0.5, 0.0, -0.2, 0.1])
"""The letters' own logits if the model prefers certain letters."""
ALPHA = 200
FAR = 10_000_000


def law(n: int, seed: int, *, taste: npt.NDArray[np.float64]) -> Evaluation:
    """n questions, a third of them to calibrate on, of four options; the others are tested in all four rotations."""
    rng = np.random.default_rng([n, seed, 0x407])
    labels = rng.integers(0, M, n)
    content = rng.normal(size=(n, M)) + 1.5 * np.eye(M)[labels]
    first = n // 3
    rows, names, truths = [content + taste + 0.5 * rng.normal(size=(n, M))], [str(i) for i in range(n)], [labels]
    for turn in range(1, M):
        turned = np.roll(content[first:], -turn, axis=1)  # at place j stands what stood at j + turn
        rows.append(turned + taste + 0.5 * rng.normal(size=turned.shape))
        names += [f"{i}@r{turn}" for i in range(first, n)]
        truths.append((labels[first:] - turn) % M)
    logits = np.concatenate(rows)
    return simulated(
        softmax(logits),
        np.concatenate(truths),
        first,
        test=n,
        rotations=True,
        ids=np.array(names),
        log_probabilities=log_softmax(logits),
    )


@lru_cache(maxsize=2000)
def measured(n: int, seed: int, *, prefers: bool) -> OptionOrder:
    result = of_orders(law(n, seed, taste=TASTE * prefers), ALPHA, scores=("lac",), fixed=0)
    assert result is not None
    return result


@cache
def truth(n: int) -> dict[str, float]:
    """Means over many questions; of sets over many draws, because their threshold is that of a third of n questions.

    100 times the n questions are many: the truth's own error is a tenth of what the interval is about.
    """
    with patch.object(order, "RESAMPLES", 2):  # no interval of these is looked at
        large = measured(min(100 * n, 200_000), FAR, prefers=True)
        draws = [measured(n, FAR + seed, prefers=True).sets["lac"] for seed in range(60_000 // n + 60)]
    return {
        "letter": large.letter_rates["A"],
        "plurality": large.plurality,
        "changed": large.changed,
        "same": float(np.mean([drawn.same for drawn in draws])),
        "overlap": float(np.mean([drawn.overlap for drawn in draws])),
    }


SHOWN: dict[str, tuple[str, Callable[[OptionOrder], tuple[float, float]]]] = {
    "letter": ("how often A is picked", lambda measured: measured.letter_intervals["A"]),
    "plurality": ("PPA", lambda measured: measured.plurality_interval),
    "changed": ("questions whose choice changes", lambda measured: measured.changed_interval),
    "same": ("sets that stay the same", lambda measured: measured.sets["lac"].same_interval),
}


def interval_case(n: int, name: str) -> Callable[[int], bool]:
    def hit(seed: int) -> bool:
        low, high = SHOWN[name][1](measured(n, seed, prefers=True))
        return low <= truth(n)[name] <= high

    return hit


def letters_case(n: int) -> Callable[[int], bool]:
    return lambda seed: measured(n, seed, prefers=False).letter_p_value < 0.05


CASES: tuple[Case, ...] = (
    *(
        Case(f"rotations, {words}, n = {n}", interval_case(n, name), INTERVAL, {200: 12, 1000: 2, 5000: 1}[n], 400)
        for name, (words, _) in SHOWN.items()
        for n in SIZES
    ),
    *(
        Case(f"rotations, test of the letters, n = {n}", letters_case(n), TEST, {200: 12, 1000: 2, 5000: 1}[n], 400)
        for n in SIZES
    ),
)


# ---------------------------------------------------------------- few questions that prefer a letter


def few_biased(n: int, seed: int) -> FloatArray:
    """How often n questions pick each letter: a tenth of them pick one letter in all orders, which is another one for
    each question; the others always pick the same option."""
    rng = np.random.default_rng([n, seed, 0xF3B])
    own = M * np.eye(M)[rng.integers(0, M, n)]
    return np.where(rng.random((n, 1)) < 0.1, own, 1.0)


def few_test(n: int) -> Callable[[int], bool]:
    return lambda seed: letters_p_value(few_biased(n, seed)) < 0.05


def few_interval(n: int) -> Callable[[int], bool]:
    def hit(seed: int) -> bool:
        low, high = rate_intervals(few_biased(n, seed), None)
        return bool(low[0] <= 1 / M <= high[0])

    return hit


CASES = (
    *CASES,
    *(
        Case(f"rotations, test of the letters, few biased questions, n = {n}", few_test(n), TEST, 60, 1000)
        for n in (60, 200, 1000)
    ),
    *(
        Case(
            f"rotations, how often A is picked, few biased questions, n = {n}",
            few_interval(n),
            (0.93, 1.0),
            60,
            1000,
            says="Where few questions are an exception, they hold the true value in 95% of draws or more.",
        )
        for n in (60, 200, 1000)
    ),
)


# ---------------------------------------------------------------- at the edges

EDGES = ("plurality", "changed")
SAYS = "Where few questions are an exception, they hold the true value in 95% of draws or more."
SURE, REPEATS = 9.0, 5


@lru_cache(maxsize=2000)
def at_an_edge(seed: int, questions: int, *, repeats: int, strength: float) -> OptionOrder:
    """Questions in all rotations, each of them asked ``repeats`` times; ``strength`` is how sure the model is."""
    rng = np.random.default_rng([questions, seed, repeats, 0xED6E])
    labels = rng.integers(0, M, questions)
    content = rng.normal(size=(questions, M)) + strength * np.eye(M)[labels]
    rows = np.arange(questions).repeat(repeats)
    logits = [np.roll(content, -turn, axis=1)[rows] + TASTE for turn in range(M)]
    logits = [scores + 0.5 * rng.normal(size=scores.shape) for scores in logits]
    names = [[f"{i}@r{turn}" if turn else str(i) for i in range(len(rows))] for turn in range(M)]
    everything = np.concatenate(logits)
    run = simulated(
        softmax(everything),
        np.concatenate([(labels[rows] - turn) % M for turn in range(M)]),
        0,
        test=len(rows),
        rotations=True,
        ids=np.concatenate(names),
        log_probabilities=log_softmax(everything),
        **({"clusters": np.tile(rows, M)} if repeats > 1 else {}),
    )
    result = of_orders(run, ALPHA, scores=(), fixed=0)
    assert result is not None
    return result


def edge_case(n: int, name: str, *, repeats: int, strength: float) -> Callable[[int], bool]:
    """An interval of n test rows: of a model whose choice hardly ever changes, or of questions asked five times."""

    def hit(seed: int) -> bool:
        figures = at_an_edge(seed, n // repeats, repeats=repeats, strength=strength)
        low, high = getattr(figures, f"{name}_interval")
        return low < high and low <= getattr(at_an_edge(FAR, 20_000, repeats=1, strength=strength), name) <= high

    return hit


CASES = (
    *CASES,
    *(
        Case(
            f"rotations, {SHOWN[name][0]}, {title}, n = {n}",
            edge_case(n, name, repeats=repeats, strength=strength),
            (0.93, 1.0),
            30,
            600,
            says=SAYS,
        )
        for title, repeats, strength in (("a sure model", 1, SURE), ("repeated x 5", REPEATS, 1.5))
        for name in EDGES
        for n in (60, 200, 1000)
    ),
)
