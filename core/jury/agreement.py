"""How much jurors agree, beyond chance and beyond the truth.

Chance-corrected coefficients of verdicts (n, j), 1 for full agreement, 0 for that of chance; NaN where every verdict is
the same, so that chance alone explains all agreement. Sources: Cohen 1960; Fleiss 1971; Krippendorff 2011, nominal.
Agreement is no sign of truth: jurors that err on the same answers count as fewer votes (:func:`effective_votes`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.conformal.coverage import share_interval
from core.jury.judgements import Judgements
from core.records import BoolArray, FloatArray

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; all NaN where it is not defined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Two jurors: the share of equal verdicts, Cohen's kappa, and the correlation of their errors."""

    first: str
    second: str
    agreement: Estimate
    kappa: Estimate
    error_correlation: Estimate


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of a whole jury: every pair, the coefficients of all, how many independent votes it is worth, and unanimity.

    ``unanimous`` is the share of answers on which all agree, ``unanimous_wrong`` the share of those that is wrong.
    """

    pairs: tuple[Pairwise, ...]
    fleiss: Estimate
    krippendorff: Estimate
    effective_votes: Estimate
    n: int
    n_unanimous: int
    unanimous: Estimate
    unanimous_wrong: Estimate


def cohen_kappa(first: BoolArray, second: BoolArray) -> float:
    """``(p_o − p_e) / (1 − p_e)`` of two jurors' verdicts (n,), p_e from each juror's own share of True.

    >>> cohen_kappa(np.array([True, True, False, False]), np.array([True, False, False, False]))
    0.5
    """
    observed = float((first == second).mean())
    a, b = float(first.mean()), float(second.mean())
    expected = a * b + (1 - a) * (1 - b)
    return _corrected(observed, expected)


def fleiss_kappa(verdicts: BoolArray) -> float:
    """The same of j jurors: agreeing pairs an answer on average, p_e from the share of True among all verdicts."""
    trues, j = verdicts.sum(axis=1), verdicts.shape[1]
    observed = float(((trues * (trues - 1) + (j - trues) * (j - trues - 1)) / (j * (j - 1))).mean())
    share = float(verdicts.mean())
    return _corrected(observed, share**2 + (1 - share) ** 2)


def krippendorff_alpha(verdicts: BoolArray) -> float:
    """``1 − D_o / D_e`` for nominal values: disagreeing pairs within answers against those among all n·j verdicts."""
    trues, (n, j) = verdicts.sum(axis=1), verdicts.shape
    observed = float((2 * trues * (j - trues) / (j - 1)).sum() / (n * j))
    true = int(trues.sum())
    expected = 2 * true * (n * j - true) / (n * j * (n * j - 1))
    return 1 - observed / expected if expected > 0 else float("nan")


def error_correlation(first: BoolArray, second: BoolArray) -> float:
    """Pearson's correlation of two jurors' errors (n,); NaN where one of them errs always or never."""
    a, b = float(first.mean()), float(second.mean())
    spread = (a * (1 - a) * b * (1 - b)) ** 0.5
    return (float((first & second).mean()) - a * b) / spread if spread > 0 else float("nan")


def effective_votes(wrong: BoolArray) -> float:
    """``j / (1 + (j − 1) ρ)``, ρ the mean correlation of errors: how many independent jurors err as unevenly.

    ``wrong`` (n, j). From 1, where all err alike, to j, where errors have nothing to do with each other; more where
    they avoid each other, at most 2j. NaN where no pair's correlation is defined.
    """
    j = wrong.shape[1]
    found = [error_correlation(wrong[:, a], wrong[:, b]) for a in range(j) for b in range(a)]
    known = [value for value in found if value == value]
    if not known:
        return float("nan")
    return float(j / max(1 + (j - 1) * float(np.mean(known)), 0.5))


def agreement(judgements: Judgements, *, seed: int = 0) -> Agreement:
    """All of a jury's coefficients, with 95 % percentile bootstrap intervals over answers (1,000 seeded resamples)."""
    verdicts, wrong, n = judgements.verdicts, ~judgements.right, len(judgements)
    drawn = np.random.default_rng([seed, 0xA92EE]).integers(0, n, size=(RESAMPLES, n))

    def estimate(figure: Callable[[BoolArray], float], values: BoolArray) -> Estimate:
        return interval(figure(values), np.array([figure(values[rows]) for rows in drawn]))

    pairs = []
    for a in range(len(judgements.jurors)):
        for b in range(a + 1, len(judgements.jurors)):
            two, errors = verdicts[:, [a, b]], wrong[:, [a, b]]
            same = int((two[:, 0] == two[:, 1]).sum())
            pairs.append(
                Pairwise(
                    judgements.jurors[a],
                    judgements.jurors[b],
                    _share(same, n),
                    estimate(lambda v: cohen_kappa(v[:, 0], v[:, 1]), two),
                    estimate(lambda v: error_correlation(v[:, 0], v[:, 1]), errors),
                )
            )
    unanimous = ~judgements.disagreed
    alike = int(unanimous.sum())
    return Agreement(
        pairs=tuple(pairs),
        fleiss=estimate(fleiss_kappa, verdicts),
        krippendorff=estimate(krippendorff_alpha, verdicts),
        effective_votes=estimate(effective_votes, wrong),
        n=n,
        n_unanimous=alike,
        unanimous=_share(alike, n),
        unanimous_wrong=_share(int(wrong[unanimous, 0].sum()), alike),
    )


def interval(value: float, drawn: FloatArray) -> Estimate:
    """A figure with the 2.5 and 97.5 % quantiles of its resamples, of which those that are not defined are left out."""
    known = drawn[~np.isnan(drawn)]
    if np.isnan(value) or len(known) == 0:
        return Estimate(float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(known, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def _share(hits: int, n: int) -> Estimate:
    low, high = share_interval(hits, n)
    return Estimate(hits / n if n else float("nan"), low if n else float("nan"), high if n else float("nan"))


def _corrected(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")
