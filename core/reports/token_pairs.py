"""Evaluations of token predictions compared in pairs: the difference of their mean surprisal on the same tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.conformal.pvalues import holm
from core.estimates import signed
from core.models.perplexity.figures import clustered_mean_interval, sign_flip
from core.reports.p_values import p_said
from core.reports.tokens import TokenResult

SMALL = 0.05
"""A difference is claimed if its p-value is smaller."""
FEWEST = 2
"""The fewest texts that a difference is computed from."""


@dataclass(frozen=True, slots=True)
class TokenPair:
    """How much more surprised the first of two models is than the second, in nats per token, on ``tokens`` tokens of
    ``texts`` texts: the mean with its 95% interval over texts, and the p-value of a sign-flip test over texts,
    corrected with those of the other pairs."""

    first: str
    second: str
    tokens: int
    texts: int
    mean: float
    low: float
    high: float
    p: float

    @property
    def is_shown(self) -> bool:
        """Whether the data tell which of the two is less surprised."""
        return self.p < SMALL and not self.low <= 0 <= self.high

    def difference_text(self, *, p: bool = False) -> str:
        """The difference with its interval, and with ``p`` for a sentence, with its unit and p-value."""
        mean, low, high = (signed(value, 3) for value in (self.mean, self.low, self.high))
        return (
            f"{mean} nats per token (95% interval {low} to {high}, {p_said(self.p)})"
            if p
            else f"{mean} ({low} to {high})"
        )


def token_pairs(results: Sequence[TokenResult], names: Sequence[str]) -> tuple[TokenPair, ...]:
    """Every pair of the evaluations that judged the same tokens, under these names, the less surprised model second.

    Evaluations of older versions don't say which tokens they judged, and have no pairs.
    """
    pairs = [
        _pair(results[i], results[j], (names[i], names[j]))
        for i, j in combinations(range(len(results)), 2)
        if _texts(results[i]) and _texts(results[i])["digest"] == _texts(results[j]).get("digest")
    ]
    pairs = [pair for pair in pairs if pair.texts >= FEWEST]
    ps = holm([pair.p for pair in pairs])
    return tuple(
        TokenPair(pair.first, pair.second, pair.tokens, pair.texts, pair.mean, pair.low, pair.high, p)
        for pair, p in zip(pairs, ps, strict=True)
    )


def tokens_answer(pairs: Sequence[TokenPair]) -> tuple[str, str]:
    """Which model is surprised less, in one sentence, and the figures of the clearest pair."""
    if not pairs:
        return (
            "Nothing to compare: choose two evaluations of the same tokens",
            "Evaluations of older versions don't say which tokens they judged. Evaluate again to compare them.",
        )
    clearest = min(pairs, key=lambda pair: (pair.p, -abs(pair.mean)))
    shown = [pair for pair in pairs if pair.is_shown]
    detail = (
        f"The mean surprisal of {clearest.first} minus that of {clearest.second} is "
        f"{clearest.difference_text(p=True)}, on {clearest.tokens:,} tokens of {clearest.texts:,} texts."
    )
    if len(pairs) > 1:
        detail += f" The p-values are corrected for all {len(pairs)} pairs; the intervals are not."
    if not shown:
        which = f"{clearest.first} or {clearest.second}" if len(pairs) == 1 else "any model"
        return f"Can't tell whether {which} is surprised less by the right words", detail
    better: dict[str, list[str]] = {}
    for pair in shown:
        better.setdefault(pair.first, []).append(pair.second)
    claims = [f"{_listed(models)} {_are(models)} less surprised than {first}" for first, models in better.items()]
    unknown = [f"{pair.first} and {pair.second}" for pair in pairs if not pair.is_shown]
    rest = f". Can't tell apart: {'; '.join(unknown)}" if unknown else ""
    return f"{'; '.join(claims)}{rest}", detail


def _listed(models: Sequence[str]) -> str:
    return models[0] if len(models) == 1 else f"{', '.join(models[:-1])} and {models[-1]}"


def _are(models: Sequence[str]) -> str:
    return "is" if len(models) == 1 else "are"


def _texts(result: TokenResult) -> dict[str, list[float]]:
    return result.values.get("texts") or {}


def _pair(first: TokenResult, second: TokenResult, names: tuple[str, str]) -> TokenPair:
    counts = np.array(_texts(first)["tokens"])
    difference = np.array(_texts(first)["loss"]) - np.array(_texts(second)["loss"])
    if difference.sum() < 0:
        difference, names = -difference, names[::-1]
    units = np.repeat(np.arange(len(counts)), counts)
    # The interval needs each text's sum alone, so its tokens share it evenly.
    values = np.repeat(difference / counts, counts)
    low, high = clustered_mean_interval(values, units) if len(counts) >= FEWEST else (np.nan, np.nan)
    p = sign_flip(difference, rng=np.random.default_rng(0))
    return TokenPair(*names, len(values), len(counts), float(values.mean()), low, high, p)
