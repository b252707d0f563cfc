"""The claims' intervals and tests: few models, drawn as normal pairs, or as base and tuned models."""

import functools
import math

import numpy as np
import pandas as pd

from core.reports.compare.claims import OTHER_WAY, STRONG_OTHER_WAY, SUPPORTED, PublishedClaim, claims
from tests.simulation.case import INTERVAL, TEST, Case

TASKS = ("qa", "rc", "ci")


def _drawn(seed: int, n: int, correlation: float) -> PublishedClaim:
    """The claim on n models whose accuracy and mean set size are a normal pair of the correlation."""
    rng = np.random.default_rng([seed, n, round(1000 * (1 + correlation))])
    x = rng.standard_normal(n)
    y = correlation * x + math.sqrt(1 - correlation**2) * rng.standard_normal(n)
    figures = {"accuracy": x, "mean_set_size": y}
    return claims(pd.DataFrame({"model": [f"model {i}" for i in range(n)], "task": "qa", **figures}))[0]


def spearman_held(seed: int, *, n: int, correlation: float) -> bool:
    """Whether the interval holds the population's Spearman's ρ of normal pairs, 6/π · asin(r/2)."""
    result = _drawn(seed, n, correlation)
    return result.low <= 6 / math.pi * math.asin(correlation / 2) <= result.high


def spearman_alarmed(seed: int, *, n: int) -> bool:
    """Whether p is below .05 where accuracy and set size have nothing to do with each other."""
    return _drawn(seed, n, 0.0).p_value < 0.05


def verdict_alarmed(seed: int, *, n: int) -> bool:
    """Whether a verdict is given where there is nothing to find."""
    return _drawn(seed, n, 0.0).verdict in (SUPPORTED, OTHER_WAY, STRONG_OTHER_WAY)


def _tuned(seed: int, n: int, effect: float) -> PublishedClaim:
    """n base models and their tuned ones on three tasks; tuning changes a model's sets by ``effect`` on average."""
    rng = np.random.default_rng([seed, n, 0x7D])
    rows = []
    for i, change in enumerate(rng.normal(effect, 0.3, n)):
        for task, size in zip(TASKS, rng.uniform(2, 4, len(TASKS)), strict=True):
            about = {"task": task, "accuracy": 0.5}
            rows.append({"model": f"m{i}-7B", **about, "mean_set_size": size})
            rows.append({"model": f"m{i}-7B-chat", **about, "mean_set_size": size + change + rng.normal(0, 0.1)})
    return claims(pd.DataFrame(rows))[2]


def tuning_held(seed: int, *, n: int) -> bool:
    """Whether the interval holds the mean change that the models were drawn with."""
    result = _tuned(seed, n, 0.2)
    return result.low <= 0.2 <= result.high


def tuning_alarmed(seed: int, *, n: int) -> bool:
    """Whether p is below .05 where tuning changes nothing on average."""
    return _tuned(seed, n, 0.0).p_value < 0.05


FEW = (0.935, 0.985)
FEW_SAID = (
    "With eight models or fewer, the intervals are a little wide: they hold the true value in 95 to 98 of 100 draws."
)
"""On Compare, above the claims."""

CASES = (
    *(
        Case(
            f"claims: interval of Spearman's ρ, {n} models, r {correlation:g}",
            functools.partial(spearman_held, n=n, correlation=correlation),
            FEW if n <= 8 else INTERVAL,
            short=40,
            long=1000,
            says=FEW_SAID if n <= 8 else "",
        )
        for n, correlation in ((5, 0.6), (8, 0.0), (8, 0.97), (11, 0.6), (16, -0.6), (16, -0.97))
    ),
    *(
        Case(f"claims: p of Spearman's ρ, {n} models", functools.partial(spearman_alarmed, n=n), TEST, 40, 2000)
        for n in (8, 11, 16)
    ),
    Case("claims: verdict on 11 models", functools.partial(verdict_alarmed, n=11), TEST, 40, 1000),
    *(
        Case(f"claims: interval of tuned less base, {n} pairs", functools.partial(tuning_held, n=n), INTERVAL, 60, 1000)
        for n in (3, 6)
    ),
    Case("claims: p of tuned less base, 4 pairs", functools.partial(tuning_alarmed, n=4), TEST, 60, 1000),
)
