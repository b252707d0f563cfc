"""The decimals of a threshold and of the numbers beside it: as many as it takes to see which of them are in a set.

The browser writes them in the same way (``app/components/shared/formatting.js``).
"""

import math
from collections.abc import Collection

from core.reports.report import shown

MOST_DECIMALS = 12  # scores are rounded to these


def decimals_apart(inside: Collection[float], outside: Collection[float], digits: int) -> int:
    """The fewest decimals, at least ``digits``, at which no number of ``inside`` looks like another of ``outside``.

    >>> decimals_apart([0.99996], [1.0], 3), decimals_apart([0.5], [0.7], 3)
    (5, 3)
    """
    others = [value for value in outside if value not in inside]
    for decimals in range(digits, MOST_DECIMALS):
        texts = {f"{value:.{decimals}f}" for value in inside}
        if not any(f"{value:.{decimals}f}" in texts for value in others):
            return decimals
    return MOST_DECIMALS


def threshold_decimals(threshold: float, scores: Collection[float] = (), *, digits: int = 4) -> int:
    """The decimals of a threshold and of the ``scores`` beside it. Scores above the threshold do not look like it or
    like those that are in, and it looks like a whole number only if it is one.

    >>> threshold_decimals(0.8965, [0.89651, 1.0])
    5
    """
    if not math.isfinite(threshold):
        return digits
    inside = [threshold, *(score for score in scores if score <= threshold)]
    return decimals_apart(inside, [round(threshold), *(score for score in scores if score > threshold)], digits)


def threshold_text(threshold: float, *, digits: int = 4) -> str:
    """A threshold by itself.

    >>> threshold_text(1 - 7.3e-7), threshold_text(0.5), threshold_text(math.inf)
    ('0.999999', '0.5000', '∞')
    """
    return shown(threshold, threshold_decimals(threshold, digits=digits))
