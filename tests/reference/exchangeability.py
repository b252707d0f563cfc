"""A betting test of exchangeability: a conformal test martingale (Vovk 2021, arXiv 1906.09256).

Somebody bets, question by question, against the claim that all questions so far could have come in any other order
just as well. They start with a capital of 1. Each question gets a smoothed conformal p-value among all questions before
it, those of the calibration first::

    pₜ = (#{earlier score > sₜ} + u · (#{earlier score = sₜ} + 1)) / (number of earlier questions + 1)

with a random u in [0, 1). If the claim is true, these are independent and uniform on [0, 1], ties or not, and no way to
bet on them wins on average. So the capital reaches 20 in at most 1 of 20 such streams, however long they are (Ville's
inequality). A capital of 20 or more is therefore evidence that the kind of question has changed, to harder or easier.

The way to bet is the Simple Jumper (Vovk et al. 2021, arXiv 2102.10439) with the jump of that paper. The capital is
kept in three accounts, which bet that p is low (ε = −1), nothing (0), and that p is high (+1). Before each question a
hundredth of the capital is shared out evenly among them, so that no account is ever lost for good::

    Cε ← 0.99 · Cε + 0.01 · C / 3        then        Cε ← Cε · (1 + ε · (p − ½))

Only + − × ÷ are used, in a fixed order, and the browser gets the same bits (``app/components/stream_lab/betting.js``).
Where the capital would leave the range of a float64, the accounts are multiplied by an exact power of two.
"""

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.records import FloatArray, IntArray

JUMP = 0.01
"""The share of the capital that is divided again before each question."""
ALARM = 20
"""The capital at which a change counts as noticed: at most 1 in 20 streams without a change ever has as much."""
SCALE_BITS = 100
SCALE = float(2**SCALE_BITS)


@dataclass(frozen=True, slots=True)
class Capital:
    """The capital after each of T questions: ``mantissas[t] · 2 ** exponents[t]``, both (T,).

    An exponent is a multiple of 100, and it is 0 as long as the capital is between 2⁻¹⁰⁰ and 2¹⁰⁰.
    """

    mantissas: FloatArray
    exponents: IntArray

    @property
    def log10(self) -> FloatArray:
        """The decimal logarithm of the capital, (T,), to show it."""
        return np.asarray(np.log10(self.mantissas) + self.exponents * np.log10(2.0), dtype=np.float64)

    def alarm(self, limit: float = ALARM) -> int | None:
        """The number of the first question, from 0, after which the capital is ``limit`` or more; None if it never is.

        ``limit`` is between 1 and 2¹⁰⁰.
        """
        reached = (self.exponents > 0) | ((self.exponents == 0) & (self.mantissas >= limit))
        return int(np.argmax(reached)) if reached.any() else None


def online_p_values(past_scores: FloatArray, scores: FloatArray, u: FloatArray) -> FloatArray:
    """The smoothed p-value of each score (T,) among all before it: the ``past_scores`` (n,), then the earlier ones.

    ``u`` (T,) are uniform random numbers in [0, 1), independent of the scores. High scores have low p-values. Raises
    :class:`InputError` if ``scores`` and ``u`` differ in length, or a score is not a number.

    >>> online_p_values(np.array([0.1, 0.3]), np.array([0.2, 0.2]), np.array([0.5, 0.5]))
    array([0.5, 0.5])
    """
    if len(scores) != len(u):
        raise InputError(f"{len(scores)} scores have {len(u)} random numbers; give each its own")
    if np.isnan(past_scores).any() or np.isnan(scores).any():
        raise InputError("a score of a true option is not a number; every score must be one")
    rising = np.sort(past_scores).tolist()
    p_values = np.empty(len(scores))
    for t, (score, share) in enumerate(zip(scores.tolist(), u.tolist(), strict=True)):
        low, high = bisect_left(rising, score), bisect_right(rising, score)
        p_values[t] = ((len(rising) - high) + share * (high - low + 1)) / (len(rising) + 1)
        insort(rising, score)
    return p_values


def simple_jumper(p_values: FloatArray) -> Capital:
    """The capital of the Simple Jumper after each p-value (T,).

    Raises :class:`InputError` for a p-value outside [0, 1].

    >>> simple_jumper(np.array([0.5, 0.0])).mantissas.round(3).tolist()
    [1.0, 1.0]
    """
    if not ((p_values >= 0) & (p_values <= 1)).all():
        raise InputError("a p-value lies outside of 0 to 1; it can't be bet on")
    mantissas = np.empty(len(p_values))
    exponents = np.zeros(len(p_values), dtype=np.int64)
    lower = none = upper = 1 / 3
    exponent = 0
    for t, p in enumerate(p_values.tolist()):
        shared = ((lower + none) + upper) * JUMP / 3
        lower = (lower * (1 - JUMP) + shared) * (1 - (p - 0.5))
        none = none * (1 - JUMP) + shared
        upper = (upper * (1 - JUMP) + shared) * (1 + (p - 0.5))
        capital = (lower + none) + upper
        if capital >= SCALE or capital < 1 / SCALE:
            factor, bits = (1 / SCALE, SCALE_BITS) if capital >= SCALE else (SCALE, -SCALE_BITS)
            lower, none, upper, capital = lower * factor, none * factor, upper * factor, capital * factor
            exponent += bits
        mantissas[t], exponents[t] = capital, exponent
    return Capital(mantissas, exponents)
