"""What is found by looking at all subjects: the shift lab's worst pair, the lesson's least covered subject."""

from functools import partial

import numpy as np

from core.conformal.mondrian import least_covered_p_values
from core.conformal.shift import exchangeability_p_value
from core.conformal.threshold import exact
from core.records import FloatArray, IntArray
from core.reports.alpha_lab.covariate_shift import ScoredQuestions, Search, search
from core.reports.lesson import DRAWS
from tests.simulation.case import TEST, Case

SIGNIFICANT = 0.05


def shuffled(rng: np.random.Generator, n: int, subjects: int, *, tied: bool) -> tuple[FloatArray, IntArray]:
    """True options' scores (n,) and subjects (n,) that have nothing to do with them; sizes are unlike."""
    scores = np.minimum(rng.beta(0.6, 1.2, n) * 1.15, 1.0)  # one in eight is 1, as the last-ranked option of APS is
    if tied:
        scores = np.round(scores, 2)
    sizes = np.full(subjects, 20) + rng.multinomial(n - 20 * subjects, rng.dirichlet(np.full(subjects, 2.0)))
    return scores, rng.permutation(np.repeat(np.arange(subjects), sizes))


def searched(seed: int, n: int, subjects: int, *, tied: bool = False) -> tuple[Search, list[ScoredQuestions]]:
    """The worst of all pairs of subjects that are alike."""
    scores, codes = shuffled(np.random.default_rng([seed, n, subjects]), n, subjects, tied=tied)
    sides = []
    for code in range(subjects):
        true = scores[codes == code]
        sides.append(
            ScoredQuestions(str(code), np.zeros((0, 2)), np.zeros(len(true), dtype=np.int64), true[:, None], true)
        )
    result = search(sides, seed=seed)
    assert result is not None
    return result, sides


def pair_alarms(seed: int, n: int, subjects: int, *, tied: bool = False) -> bool:
    """Whether the corrected p-value of the worst pair is significant where all subjects are alike."""
    return searched(seed, n, subjects, tied=tied)[0].p_value <= SIGNIFICANT


def chosen_alarms(seed: int, n: int) -> bool:
    """Whether two subjects that are alike, n questions together and chosen beforehand, look unlike."""
    scores, codes = shuffled(np.random.default_rng([seed, n]), n, 2, tied=True)
    rng = np.random.default_rng([seed, 1])
    return exchangeability_p_value(scores[codes == 0], scores[codes == 1], rng=rng) <= SIGNIFICANT


def least_covered_alarms(seed: int, n: int, subjects: int) -> bool:
    """Whether the least covered of subjects that are alike looks less covered than by chance."""
    rng = np.random.default_rng([seed, n, subjects])
    scores, codes = shuffled(rng, n, subjects, tied=False)
    covered = scores <= exact(rng.permutation(shuffled(rng, n, subjects, tied=False)[0]), 100)
    tested = np.bincount(codes, minlength=subjects)
    hits = np.bincount(codes[covered], minlength=subjects)
    return bool(least_covered_p_values(hits[None], tested, rng=rng, draws=DRAWS)[0] <= SIGNIFICANT)


CASES = (
    *(
        Case(f"search: worst pair of {subjects} subjects, n = {n:,}", partial(pair_alarms, n=n, subjects=subjects),
             TEST, short, long)
        for n, subjects, short, long in ((200, 4, 40, 1000), (1000, 17, 20, 1000), (5000, 17, 4, 400))
    ),
    Case("search: worst pair of 17 subjects, tied scores, n = 1,000",
         partial(pair_alarms, n=1000, subjects=17, tied=True), TEST, 20, 1000),
    *(
        Case(f"search: a pair chosen beforehand, n = {n:,}", partial(chosen_alarms, n=n), TEST, short, long)
        for n, short, long in ((200, 40, 1000), (1000, 20, 1000), (5000, 5, 400))
    ),
    *(
        Case(f"search: least covered of {subjects} subjects, n = {n:,}",
             partial(least_covered_alarms, n=n, subjects=subjects), TEST, short, 1000)
        for n, subjects, short in ((200, 4, 60), (1000, 17, 40), (5000, 17, 40))
    ),
)  # fmt: skip
