"""The Perplexity page: differences of two prompts over conversations and within one, and the share of choices right."""

from functools import partial

import numpy as np

from core.models.perplexity.figures import Paired, ScoredMessage
from core.reports.perplexity import ChoiceScores, overall
from tests.simulation.case import INTERVAL, TEST, Case

SIZES = (9, 10, 8, 9, 9, 9, 10, 9, 9)
"""Messages in each of the bundled conversations; further ones have as many again."""
UNLIKE_SIZES = (3, 24, 8, 9, 2, 14, 31, 5, 9)
BETWEEN, WITHIN = 0.12, 0.15
"""Standard deviations of a conversation's effect and of a message's, nats a token; bundled runs show such."""


def compared(seed: int, sizes: tuple[int, ...], *, count: int, effect: float, between: float = BETWEEN) -> Paired:
    """Two prompts on ``count`` conversations; messages of one share an effect; the mean effect is known."""
    rng = np.random.default_rng([seed, count, len(sizes)])
    a: dict[str, tuple[ScoredMessage, ...]] = {}
    b: dict[str, tuple[ScoredMessage, ...]] = {}
    for i in range(count):
        size = sizes[i % len(sizes)]
        # Messages have longer tails than a normal law: some words move far.
        noise = WITHIN * rng.standard_t(5, size)
        differences = effect + between * rng.normal() + noise
        losses = rng.gamma(20, 0.2, size)
        a[str(i)] = tuple(_message(x + d / 2) for x, d in zip(losses, differences, strict=True))
        b[str(i)] = tuple(_message(x - d / 2) for x, d in zip(losses, differences, strict=True))
    return overall(a, b)


def _message(loss: float) -> ScoredMessage:
    return ScoredMessage(1, ("word",), np.array([loss], dtype=np.float32))


def difference_held(seed: int, sizes: tuple[int, ...], count: int, between: float = BETWEEN) -> bool:
    result = compared(seed, sizes, count=count, effect=0.1, between=between)
    return result.low <= 0.1 <= result.high


def difference_alarms(seed: int, sizes: tuple[int, ...], count: int, between: float = BETWEEN) -> bool:
    return compared(seed, sizes, count=count, effect=0.0, between=between).p_value <= 0.05


def share_held(seed: int, n: int) -> bool:
    """Whether the interval of the share of n choices made right holds the share of all such choices."""
    right = np.random.default_rng([seed, n]).random(n) < 0.4
    result = ChoiceScores(np.where(right[:, None], [1.0, 0.0], [0.0, 1.0]), np.zeros(n, dtype=np.int64))
    low, high = result.interval
    return low <= 0.4 <= high


CONVERSATIONS = (
    ("5 conversations like those that ship", SIZES, 5, 100, 1000),
    ("9 conversations like those that ship", SIZES, 9, 100, 1000),
    ("9 conversations of unlike lengths", UNLIKE_SIZES, 9, 100, 1000),
    ("22 conversations, n = 201", SIZES, 22, 60, 1000),
    ("110 conversations, n = 1,003", SIZES, 110, 15, 1000),
    ("549 conversations, n = 5,002", SIZES, 549, 2, 400),
)
CASES = (
    *(
        Case(f"perplexity: interval of A − B, {name}", partial(difference_held, sizes=sizes, count=count),
             INTERVAL, short, long)
        for name, sizes, count, short, long in CONVERSATIONS
    ),
    Case("perplexity: interval of A − B, 5 conversations of unlike lengths",
         partial(difference_held, sizes=UNLIKE_SIZES, count=5), (0.935, 1.0), 100, 1000,
         says="With few conversations of different lengths, the interval is wider than necessary."),
    *(
        Case(f"perplexity: p-value of A − B, {name}", partial(difference_alarms, sizes=sizes, count=count),
             TEST, short, long)
        for name, sizes, count, short, long in CONVERSATIONS
    ),
    *(
        Case(f"perplexity: interval of A − B in one conversation, n = {n:,}",
             partial(difference_held, sizes=(n,), count=1, between=0.0), INTERVAL, short, long)
        for n, short, long in ((9, 100, 1000), (200, 40, 1000))
    ),
    Case("perplexity: p-value of A − B in one conversation, n = 9",
         partial(difference_alarms, sizes=(9,), count=1, between=0.0), TEST, 100, 1000),
    *(
        Case(f"perplexity: share of choices made right, n = {n:,}", partial(share_held, n=n), INTERVAL, 100, 1000)
        for n in (200, 1000, 5000)
    ),
)  # fmt: skip
