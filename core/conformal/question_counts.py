"""How many questions a run needs: for an exact threshold to exist, and for a band of coverage of a wanted width.

A run of N questions calibrates on ``round(N · share)`` of them and tests on the others, as
:mod:`core.questions.split` does. Questions count, not rows: repeats of one are one (:mod:`core.conformal.clusters`).
"""

import math
from collections.abc import Callable

from core.conformal.alpha import THOUSAND, Alpha
from core.conformal.clusters import NORMAL
from core.conformal.coverage import beta_binomial_band

MOST = 1_000_000
"""The most questions that are planned."""


def calibration_needed(alpha: Alpha) -> int:
    """The fewest calibration questions for which the exact threshold at alpha thousandths is one of their scores:
    ``⌈1/alpha⌉ − 1``. With fewer, every option stays in every set.

    >>> calibration_needed(1), calibration_needed(100)
    (999, 9)
    """
    return max(1, int(-(-THOUSAND // alpha)) - 1)


def sides(questions: int, share: float) -> tuple[int, int]:
    """How many questions calibrate and how many test, if a ``share`` of them calibrates."""
    calibration = round(questions * share)
    return calibration, questions - calibration


def fewest(enough: Callable[[int], bool], least: int) -> int | None:
    """The smallest number from ``least`` on that is ``enough``, which every larger one is too; None above
    :data:`MOST`."""
    below, above = least - 1, max(least, 1)
    while not enough(above):
        if above >= MOST:
            return None
        below, above = above, min(2 * above, MOST)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return above


def questions_for_threshold(alpha: Alpha, share: float) -> int | None:
    """The fewest questions for an exact threshold, with one to test; None above a million."""
    needed = calibration_needed(alpha)
    return fewest(lambda questions: sides(questions, share)[0] >= needed and sides(questions, share)[1] >= 1, 2)


def band_width(calibration: int, tests: int, alpha: Alpha) -> float:
    """The width of the band of coverage (:func:`core.conformal.coverage.beta_binomial_band`), as a share of the test
    questions; NaN if there is no exact threshold or no test question."""
    if calibration < calibration_needed(alpha) or tests < 1:
        return math.nan
    low, high = beta_binomial_band(calibration, tests, alpha)
    return high - low


def questions_for_width(width: float, alpha: Alpha, share: float) -> int | None:
    """The number of questions from which on the band of coverage is at most ``width`` wide; None above a million.

    The width does not fall with every question, because alpha · (n + 1) and the covered questions are whole numbers. So
    the search starts where a bound of the width has fallen below ``width``, and goes down to the first question that is
    too few.
    """
    least = questions_for_threshold(alpha, share)
    if least is None:
        return None
    enough = fewest(lambda questions: _bound(*sides(questions, share), alpha) <= width, least)
    if enough is None:
        return None
    while enough > least and band_width(*sides(enough - 1, share), alpha) <= width:
        enough -= 1
    return enough


def _bound(n: int, m: int, alpha: Alpha) -> float:
    """An upper bound of the width: ``2·1.96·√(p(1 − p)(n + 1 + m) / (m(n + 2))) + 2/m``, with the variance of the
    Beta-Binomial distribution at the p between alpha − 1/(n + 1) and alpha where it is largest."""
    highest = float(alpha) / THOUSAND
    p = min(max(0.5, highest - 1 / (n + 1)), highest)
    return 2 * NORMAL * math.sqrt(p * (1 - p) * (n + 1 + m) / (m * (n + 2))) + 2 / m
