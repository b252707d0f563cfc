"""How much jurors agree beyond chance, and how far their errors are correlated.

The chance-corrected coefficients take verdicts (n, j). They are 1 for full agreement and 0 for the agreement expected
by chance. They are NaN if all verdicts are the same, because chance then explains all agreement. Sources: Cohen 1960;
Fleiss 1971; Krippendorff 2011, for nominal values. Agreement does not show that verdicts are right: jurors that err on
the same answers count as fewer votes (:func:`effective_votes`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.calibration.jackknife import ends
from core.conformal.coverage import share_interval
from core.estimates import Estimate
from core.jury.judgements import Judgements
from core.records import BoolArray

_NONE = np.full((1, 1), np.nan)


@dataclass(frozen=True, slots=True)
class Pairwise:
    """A pair of jurors: the share of equal verdicts, Cohen's kappa, and the correlation of their errors."""

    first: str
    second: str
    agreement: Estimate
    kappa: Estimate
    error_correlation: Estimate


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a jury on n answers.

    ``pairs`` has one entry per pair of jurors; ``fleiss`` and ``krippendorff`` are coefficients of the whole jury.
    ``effective_votes`` is the number of independent votes that the jury is worth. ``unanimous`` is the share of answers
    on which all jurors agree (``n_unanimous`` of them), and ``unanimous_wrong`` is the share of these that all get
    wrong.
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
    """``(p_o − p_e) / (1 − p_e)`` of two jurors' verdicts (n,).

    p_o is the share of equal verdicts. p_e is the share expected by chance, from each juror's own share of True.

    >>> cohen_kappa(np.array([True, True, False, False]), np.array([True, False, False, False]))
    0.5
    """
    observed = float((first == second).mean())
    a, b = float(first.mean()), float(second.mean())
    expected = a * b + (1 - a) * (1 - b)
    return _corrected(observed, expected)


def fleiss_kappa(verdicts: BoolArray) -> float:
    """``(p_o − p_e) / (1 − p_e)`` of the verdicts (n, j) of j jurors.

    p_o is the mean share of agreeing pairs per answer. p_e comes from the share of True among all verdicts.
    """
    trues, j = verdicts.sum(axis=1), verdicts.shape[1]
    # p_o = mean of [t(t − 1) + (j − t)(j − t − 1)] / [j(j − 1)] with t the number of jurors that say True
    observed = float(((trues * (trues - 1) + (j - trues) * (j - trues - 1)) / (j * (j - 1))).mean())
    share = float(verdicts.mean())
    return _corrected(observed, share**2 + (1 - share) ** 2)


def krippendorff_alpha(verdicts: BoolArray) -> float:
    """``1 − D_o / D_e`` of verdicts (n, j), for nominal values.

    D_o is the share of disagreeing pairs within answers, and D_e the share among all n·j verdicts.
    """
    trues, (n, j) = verdicts.sum(axis=1), verdicts.shape
    observed = float((2 * trues * (j - trues) / (j - 1)).sum() / (n * j))
    true = int(trues.sum())
    expected = 2 * true * (n * j - true) / (n * j * (n * j - 1))
    return 1 - observed / expected if expected > 0 else float("nan")


def error_correlation(first: BoolArray, second: BoolArray) -> float:
    """Pearson's correlation of two jurors' errors (n,); NaN if one of them always or never errs."""
    a, b = float(first.mean()), float(second.mean())
    # ρ = (P(both wrong) − a·b) / √(a(1 − a)·b(1 − b))
    spread = (a * (1 - a) * b * (1 - b)) ** 0.5
    return (float((first & second).mean()) - a * b) / spread if spread > 0 else float("nan")


def effective_votes(wrong: BoolArray) -> float:
    """``j / (1 + (j − 1) ρ)``, where ρ is the mean correlation of errors over pairs of jurors.

    This many independent jurors would have a mean error with the same variance. ``wrong`` is (n, j). The result is 1 if
    all jurors err on the same answers and j if their errors are uncorrelated. It is larger, at most 2j, if the
    correlations are negative. It is NaN if no pair's correlation is defined.
    """
    j = wrong.shape[1]
    found = [error_correlation(wrong[:, a], wrong[:, b]) for a in range(j) for b in range(a)]
    known = [value for value in found if value == value]
    if not known:
        return float("nan")
    return float(j / max(1 + (j - 1) * float(np.mean(known)), 0.5))


def agreement(judgements: Judgements) -> Agreement:
    """All agreement coefficients of a jury, with 95% intervals over answers.

    The intervals of shares are Clopper and Pearson's. The others come from the jackknife
    (:mod:`core.calibration.jackknife`), which leaves out one answer at a time.
    """
    verdicts, wrong, n = judgements.verdicts, ~judgements.right, len(judgements)

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
                    jackknifed(lambda v: cohen_kappa(v[:, 0], v[:, 1]), two, least=-1.0, most=1.0),
                    jackknifed(lambda v: error_correlation(v[:, 0], v[:, 1]), errors, least=-1.0, most=1.0),
                )
            )
    unanimous = ~judgements.disagreed
    alike = int(unanimous.sum())
    return Agreement(
        pairs=tuple(pairs),
        fleiss=jackknifed(fleiss_kappa, verdicts, least=-1.0, most=1.0),
        krippendorff=jackknifed(krippendorff_alpha, verdicts, least=-1.0, most=1.0),
        effective_votes=jackknifed(effective_votes, wrong, least=0.0, most=2.0 * wrong.shape[1]),
        n=n,
        n_unanimous=alike,
        unanimous=_share(alike, n),
        unanimous_wrong=_share(int(wrong[unanimous, 0].sum()), alike),
    )


def jackknifed(figure: Callable[[BoolArray], float], values: BoolArray, *, least: float, most: float) -> Estimate:
    """A figure of the rows of ``values`` (n, j) with its 95% jackknife interval, clipped to ``least`` … ``most``.

    Leaving out either of two equal rows gives the same figure, so only one row of each kind is left out. All three
    values are NaN if the figure is not defined, or is not defined without some row.
    """
    _, first, times = np.unique(values, axis=0, return_index=True, return_counts=True)
    value = figure(values)
    left_out = np.array([[figure(np.delete(values, row, axis=0))] for row in first]) if len(values) > 1 else _NONE
    low, high = ends(np.array([value]), left_out, times=times, least=least, most=most)
    known = not np.isnan([value, *low, *high]).any()
    return Estimate(value, float(low[0]), float(high[0])) if known else Estimate(*[float("nan")] * 3)


def _share(hits: int, n: int) -> Estimate:
    low, high = share_interval(hits, n)
    return Estimate(hits / n if n else float("nan"), low if n else float("nan"), high if n else float("nan"))


def _corrected(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")
