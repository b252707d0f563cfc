"""Tango's ends of the difference between two shares of the same answers, from the score statistic (1998, doi
10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B, equation 9)."""

import math

BISECTIONS = 60


def tango_ends(only_first: float, only_second: float, n: float, *, z: float) -> tuple[float, float]:
    """The ends of the interval of ``(only_second − only_first) / n``, from −1 to 1.

    ``only_first`` counts the answers, of ``n``, on which only the first side is right. Counts may be fractions, of an
    effective number. ``z`` is the normal quantile of the level, 1.96 for 95%. The ends are the differences at which the
    score statistic is ±z; between them it falls, so that bisection finds them. They differ even where no answer is
    right on one side alone.

    >>> [round(end, 3) for end in tango_ends(3, 12, 50, z=1.96)]
    [0.031, 0.33]
    """
    value = (only_second - only_first) / n

    def statistic(d: float) -> float:
        """(b − c − n·d) / √(n·(2·q + d·(1 − d))), with q the likeliest share of "only first" if the difference is d."""
        # 2n·q² + (−b − c + (2n − b + c)·d)·q − c·d·(1 − d) = 0, with b only in the second and c only in the first
        b = -only_second - only_first + (2 * n - only_second + only_first) * d
        q = (math.sqrt(max(b * b + 8 * n * only_first * d * (1 - d), 0.0)) - b) / (4 * n)
        variance = n * (2 * q + d * (1 - d))
        apart = only_second - only_first - n * d
        return apart / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, apart) if apart else 0.0

    def end(outer: float) -> float:
        inner = value
        for _ in range(BISECTIONS):
            middle = (inner + outer) / 2
            if abs(statistic(middle)) < z:
                inner = middle
            else:
                outer = middle
        return inner

    return end(-1.0), end(1.0)
