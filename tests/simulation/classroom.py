"""The share that is right among a class's answers of one confidence: people and questions are drawn from many.

Answers of one person are alike, and so are answers to one question. Each answer is right with the chance Φ(mean +
person + question), whose expectation is Φ(mean / √(1 + variances)).
"""

from functools import partial

import numpy as np
from scipy.stats import norm

from core.conformal.coverage import crossed_share_interval
from tests.simulation.case import Case

ALLOWED = (0.94, 1.0)
SAYS = "It holds the share in at least 95 of 100 classes"
ALIKE = {"nobody": (0.0, 0.0), "people": (1.0, 0.0), "questions": (0.0, 1.0), "both": (0.7, 0.7)}


def held(seed: int, *, people: int, questions: int, alike: str) -> bool:
    """Whether the interval holds the expected share; each person is as confident on another part of the questions."""
    rng = np.random.default_rng([seed, people, questions])
    person, question = ALIKE[alike]
    chance = norm.cdf(0.5 + person * rng.standard_normal((people, 1)) + question * rng.standard_normal(questions))
    is_right = rng.random(chance.shape) < chance
    is_in = rng.random(chance.shape) < rng.beta(1, 1, (people, 1))
    rows, columns = np.nonzero(is_in)
    low, high = crossed_share_interval(is_right[is_in].astype(np.float64), rows, columns)
    return low <= norm.cdf(0.5 / np.sqrt(1 + person**2 + question**2)) <= high


CASES: tuple[Case, ...] = tuple(
    Case(
        f"class, right among {people} people's answers to {questions} questions, {alike} alike",
        partial(held, people=people, questions=questions, alike=alike),
        ALLOWED,
        40,
        1000,
        SAYS,
    )
    for people, questions in ((12, 12), (60, 6), (60, 20))
    for alike in ALIKE
)
