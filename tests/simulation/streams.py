"""Two promises of the Stream lab: adaptive coverage over a long stream, and the rate of false alarms."""

import numpy as np

from core.records import FloatArray
from tests.reference.adaptive import adaptive_sets, promised_band
from tests.reference.exchangeability import online_p_values, simple_jumper
from tests.simulation.case import TEST, Case

ALPHA, GAMMA = 100, 5
CALIBRATING, LONG, BETS = 650, 10_000, 1_000
WITHIN = 0.01
LEVEL = 0.05


def scores(rng: np.random.Generator, n: int, *, hardness: float, ties: bool = False) -> FloatArray:
    """Scores of true options; hard questions have high ones. ``ties`` leaves 21 different scores."""
    drawn = rng.random(n) ** (1 / hardness)
    return np.round(drawn * 20) / 20 if ties else drawn


def adaptive_is_close(seed: int, *, shift: bool) -> bool:
    """Whether adaptive coverage over 10,000 questions is within a point of its target, and within what is promised."""
    rng = np.random.default_rng([seed, 25, shift])
    own = scores(rng, CALIBRATING, hardness=1)
    kinds = [1, 3, 0.4] if shift else [1]
    stream = np.concatenate([scores(rng, LONG // len(kinds), hardness=kind) for kind in kinds])
    coverage = 1 - adaptive_sets(own, stream, alpha=ALPHA, gamma=GAMMA).missed.mean()
    low, high = promised_band(len(stream), alpha=ALPHA, gamma=GAMMA)
    return bool(low <= coverage <= high and abs(coverage - (1 - ALPHA / 1000)) <= WITHIN)


def stream_p_values(seed: int, *, ties: bool, count: int = BETS) -> FloatArray:
    """The online p-values of a stream without a change."""
    rng = np.random.default_rng([seed, 26, ties])
    drawn = scores(rng, CALIBRATING + count, hardness=1, ties=ties)
    return online_p_values(drawn[:CALIBRATING], drawn[CALIBRATING:], rng.random(count))


def false_alarm(seed: int, *, ties: bool) -> bool:
    """Whether the capital ever reaches 20 though nothing changes."""
    return simple_jumper(stream_p_values(seed, ties=ties)).alarm() is not None


CASES: tuple[Case, ...] = (
    *(
        Case(
            f"stream: adaptive coverage within a point, {'two changes' if shift else 'no change'}, n = {LONG:,}",
            lambda seed, shift=shift: adaptive_is_close(seed, shift=shift),
            (0.99, 1.0),
            8,
            500,
            says="over a long stream, adaptive coverage is close to 1 − alpha, whatever the questions are",
        )
        for shift in (False, True)
    ),
    *(
        Case(
            f"stream: false alarm of the bets, {'tied' if ties else 'different'} scores, n = {BETS:,}",
            lambda seed, ties=ties: false_alarm(seed, ties=ties),
            (0.0, LEVEL),
            20,
            2000,
            says="without a change, the capital reaches 20 in at most 1 of 20 streams",
        )
        for ties in (False, True)
    ),
    *(
        Case(
            f"stream: last p-value at 5%, {'tied' if ties else 'different'} scores, n = 200",
            lambda seed, ties=ties: bool(stream_p_values(seed, ties=ties, count=200)[-1] <= LEVEL),
            TEST,
            20,
            2000,
        )
        for ties in (False, True)
    ),
)
