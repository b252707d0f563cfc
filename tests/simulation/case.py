"""The simulation of an interval or a test: a draw of data whose truth is known, and what should come out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.stats import binom

from core.conformal.probabilities import log
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation
from core.runs.spec import RunSpec

SURE = 1e-4
"""A short run fails only where its count is this improbable under every rate that is allowed."""


@dataclass(frozen=True, slots=True)
class Case:
    """One interval or test under one law of the data.

    ``hit`` takes a seed, draws data and says whether the interval held the truth, or whether the test was significant
    at 5% where nothing differs. The true rate of hits has to lie in ``allowed``, as shares. ``short`` draws are made
    in the suite where they would notice a grave fault (:func:`notices`), ``long`` by the command. ``says`` is what the
    page says where ``allowed`` is not 93.5 to 97.5%.
    """

    name: str
    hit: Callable[[int], bool]
    allowed: tuple[float, float]
    short: int
    long: int
    says: str = ""


NOTICED = 0.5
"""The suite plays a short form only if it has this chance of noticing a grave fault; the others could hardly fail."""

ENOUGH = 0.85
"""The suite makes no more draws than notice a grave fault with this chance; the command makes them all."""

INTERVAL = (0.935, 0.975)
"""The allowed coverage of a 95% interval."""
TEST = (0.0, 0.065)
"""How often a test at 5% may be significant where nothing differs; an exact test of few questions may be rarer."""


def hits(case: Case, draws: int) -> int:
    """How many of the seeds 0 … draws − 1 are hits."""
    return sum(bool(case.hit(seed)) for seed in range(draws))


def verdict(case: Case, draws: int) -> tuple[bool, int, int]:
    """The result of the test of ``draws`` draws, from as few of them as decide it: whether their count of hits would be
    as is allowed, the hits so far and the draws made. Most of them decide: 13 hits of 18 draws can't become too few.
    """
    fails = [improbable(count, draws, case.allowed) for count in range(draws + 1)]
    count = 0
    for tried in range(draws + 1):
        left = set(fails[count : count + draws - tried + 1])  # what any count that may still come would say
        if len(left) == 1:
            return not left.pop(), count, tried
        count += bool(case.hit(tried))
    raise AssertionError("the last draw decides")


@cache
def improbable(count: int, draws: int, allowed: tuple[float, float], *, tail: float = SURE) -> bool:
    """Whether no rate in ``allowed`` makes such a count of hits more likely than ``tail``, at either side."""
    low, high = allowed
    too_few = float(binom.cdf(count, draws, low)) < tail
    too_many = float(binom.sf(count - 1, draws, high)) < tail
    return too_few or too_many


def power(case: Case, rate: float = 0.5) -> float:
    """The chance that the short form fails where the true rate of hits is ``rate``: an interval that holds the truth
    half of the time, or a test that is significant half of the time where nothing differs."""
    counts = [count for count in range(case.short + 1) if improbable(count, case.short, case.allowed)]
    return float(binom.pmf(counts, case.short, rate).sum())


def draws(case: Case) -> int:
    """How many draws the suite makes: no more than notice a grave fault with the chance :data:`ENOUGH`."""
    enough = (count for count in range(2, case.short) if power(replace(case, short=count)) >= ENOUGH)
    return next(enough, case.short)


def notices(case: Case) -> bool:
    """Whether the short form is worth its time; the others leave the figure to its long form and to fewer questions."""
    return power(case) >= NOTICED


def simulated(
    p: FloatArray, labels: IntArray, n: int, *, test: int | None = None, rotations: bool = False, **fields: object
) -> Evaluation:
    """A run whose first n rows calibrate; the others test, or those up to ``test``."""
    count, k = p.shape
    own = {"ids": np.arange(count).astype(str), "groups": np.full(count, "all"), "log_probabilities": log(p)} | fields
    return Evaluation(
        run_id="simulated",
        spec=RunSpec(model="simulated", task="qa", rotations=rotations),
        probabilities=p,
        labels=labels,
        calibration=np.arange(n),
        test=np.arange(n, count if test is None else test),
        letters="ABCDEF"[:k],
        **own,
    )
