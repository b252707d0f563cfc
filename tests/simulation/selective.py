"""Answer or pass: how often a threshold keeps its promise, and how often the bound of its error holds the true one.

A population of answers is known in whole, each with a confidence and a probability to be wrong. A draw takes
calibration and judged answers from it, and the risk of the threshold that comes out is that of the population.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from core.conformal.selective import SelectiveAnswers, SelectiveResult, selective
from tests.simulation.case import Case

ALPHA, DELTA = 150, 100
SIZE = 4000
PLACES = np.arange(SIZE) / SIZE
"""From the most certain answer, 0, to the least certain one, 1."""
SURE = 1 - PLACES**4 / 2
"""As judges are: a seventh of the answers is above 0.9998, where the fixed thresholds begin."""


def levels(k: int) -> np.ndarray:
    return 1 - np.floor(PLACES * k) / (2 * k)


POPULATIONS: dict[str, tuple[np.ndarray, np.ndarray, int]] = {
    "rising risk": (SURE, 0.02 + 0.5 * PLACES, 200),
    "base error at alpha": (SURE, np.full(SIZE, ALPHA / 1000 + 1e-9), 200),
    "most certain ones worst": (SURE, np.where(PLACES < 0.3, 0.3 - 0.6 * PLACES, 0.6 * PLACES), 200),
    "risk up and down": (SURE, 0.15 + 0.12 * np.sin(25 * PLACES), 200),
    "five confidences": (levels(5), 0.05 + 0.3 * PLACES, 120),
    "40 labels": (SURE, 0.02 + 0.4 * PLACES, 40),
    "10 labels": (SURE, np.full(SIZE, 0.2), 10),
    "all right": (SURE, np.zeros(SIZE), 60),
    "all wrong": (SURE, np.ones(SIZE), 60),
}
"""Confidences and probabilities of an error of :data:`SIZE` answers, and how many labels there are on each side."""


@cache
def drawn(name: str, seed: int, *, in_sample: bool) -> SelectiveResult:
    sure, risk, n = POPULATIONS[name]
    rng = np.random.default_rng([seed, len(name), 0x5E1])
    rows = rng.integers(0, SIZE, 2 * n)
    wrong = (rng.random(2 * n) < risk[rows]).astype(np.float64)
    sides = [
        SelectiveAnswers(sure[side, None], wrong[at, None])
        for at, side in ((slice(n), rows[:n]), (slice(n, None), rows[n:]))
    ]
    return selective(sides[0], sides[0] if in_sample else sides[1], ALPHA, DELTA, in_sample=in_sample)


def true_risk(name: str, result: SelectiveResult) -> float:
    """The risk of the population's answers at the threshold; 0 where there is none."""
    sure, risk, _ = POPULATIONS[name]
    threshold = result.stages[0].threshold
    return (
        0.0
        if threshold is None
        else float(risk[SelectiveAnswers(sure[:, None], 0 * sure[:, None]).confidence[:, 0] >= threshold].mean())
    )


def promise_case(name: str, *, in_sample: bool = False) -> Callable[[int], bool]:
    return lambda seed: true_risk(name, drawn(name, seed, in_sample=in_sample)) <= ALPHA / 1000


def bound_case(name: str) -> Callable[[int], bool]:
    def hit(seed: int) -> bool:
        result = drawn(name, seed, in_sample=False)
        return not result.answered or true_risk(name, result) <= result.error_high

    return hit


CASCADES: dict[str, Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]] = {
    "the same errors": lambda rng, u, risk: np.stack([u < risk[:, 0], u < risk[:, 1]], axis=1),
    "independent errors": lambda rng, u, risk: np.stack([u < risk[:, 0], rng.random(len(u)) < risk[:, 1]], axis=1),
    "errors that exclude each other": lambda rng, u, risk: np.stack([u < risk[:, 0], u > 1 - risk[:, 1]], axis=1),
}
"""Whether two judges are wrong (n, 2), from one random number of each question and their risks (n, 2)."""


def cascade_case(name: str, *, coarse: bool) -> Callable[[int], bool]:
    """Two judges in turn, whose confidences are unrelated. With ``coarse`` each has five different confidences."""

    def law(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        place = rng.random((n, 2))
        if coarse:
            place = np.ceil(5 * place) / 5
        return 1 - place / 2, np.array([0.02, 0.08]) + np.array([0.35, 0.16]) * place

    def hit(seed: int) -> bool:
        rng = np.random.default_rng([seed, len(name), coarse])
        sure, risk = law(rng, 300)
        wrong = CASCADES[name](rng, rng.random(300), risk).astype(np.float64)
        result = selective(
            SelectiveAnswers(sure[:150], wrong[:150]), SelectiveAnswers(sure[150:], wrong[150:]), ALPHA, DELTA
        )
        # The true risk of all answers, from many questions whose risks are known
        sure, risk = law(np.random.default_rng(coarse), 20_000)
        open_rows, risks = np.ones(len(sure), dtype=bool), []
        for j, stage in enumerate(result.stages):
            if stage.threshold is not None:
                taken = open_rows & (sure[:, j] >= stage.threshold - 1e-9)
                risks.append(risk[taken, j])
                open_rows &= ~taken
        answers = np.concatenate([*risks, np.zeros(0)])
        return not len(answers) or bool(answers.mean() <= ALPHA / 1000)

    return hit


KEPT = (0.9, 1.0)
SAYS = "with confidence 90%"

CASES: tuple[Case, ...] = (
    *(Case(f"selective, promise, {name}", promise_case(name), KEPT, 40, 2000, SAYS) for name in POPULATIONS),
    *(
        Case(f"selective, promise with all labels, {name}", promise_case(name, in_sample=True), KEPT, 40, 2000, SAYS)
        for name in POPULATIONS
    ),
    *(Case(f"selective, bound of the error, {name}", bound_case(name), KEPT, 40, 2000, SAYS) for name in POPULATIONS),
    *(
        Case(f"selective, two judges in turn, {name}{words}", cascade_case(name, coarse=coarse), KEPT, 40, 2000, SAYS)
        for name in CASCADES
        for coarse, words in ((False, ""), (True, ", five confidences"))
    ),
)
