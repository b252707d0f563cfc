"""A separate threshold for each subject, or for each option letter (Vovk, Gammerman & Shafer 2005, section 4.5).

If each stratum is calibrated separately, the guarantee holds on average over each stratum's questions, not only over
all questions. The price is fewer calibration questions per threshold: a stratum with fewer than ``1/alpha − 1`` of them
has full sets.

``by`` says which questions share a threshold. ``all``: all of them. ``group``: those of one subject. ``class``: those
with the same true option; the threshold then applies to that option.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.conformal.alpha import Alpha
from core.conformal.clusters import within
from core.conformal.coverage import clustered_share_interval
from core.conformal.threshold import exact
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray

BY = ("all", "group", "class")


def check_by(by: str) -> str:
    """Return ``by`` if it is known; raises :class:`InputError` otherwise."""
    if by not in BY:
        raise InputError(f"unknown strata {by!r}; choose from {', '.join(BY)}")
    return by


@dataclass(frozen=True, slots=True)
class StratumCoverage:
    """Coverage and mean set size of one stratum with n calibration and m test questions.

    ``low`` and ``high`` are the exact 95% interval of the coverage. ``threshold`` is NaN if the stratum's questions
    have no common threshold.
    """

    stratum: str
    n: int
    m: int
    coverage: float
    low: float
    high: float
    mean_set_size: float
    threshold: float


def group_members(
    calibration_scores: FloatArray,
    calibration_groups: npt.NDArray[np.str_],
    test_scores: FloatArray,
    test_groups: npt.NDArray[np.str_],
    alpha: Alpha,
) -> tuple[BoolArray, dict[str, float]]:
    """Sets (m, k) with one threshold per group, and those thresholds by group.

    ``calibration_scores`` (n,) are the scores of the true options. A group with too few calibration questions, or
    none, has an infinite threshold, so its sets are full.
    """
    names, codes = np.unique(np.concatenate([calibration_groups, test_groups]), return_inverse=True)
    own, test_codes = codes[: len(calibration_groups)], codes[len(calibration_groups) :]
    limits = np.array([exact(calibration_scores[own == code], alpha) for code in range(len(names))])
    return test_scores <= limits[test_codes][:, None], dict(zip(names.tolist(), limits.tolist(), strict=True))


def class_members(
    calibration_scores: FloatArray, calibration_labels: IntArray, test_scores: FloatArray, alpha: Alpha
) -> tuple[BoolArray, FloatArray]:
    """Sets (m, k) with one threshold per option, and the thresholds (k,).

    An option's threshold comes from the calibration questions whose true option it is. An option that is never true
    has no calibration scores and stays in every set.
    """
    k = test_scores.shape[1]
    limits = np.array([exact(calibration_scores[calibration_labels == j], alpha) for j in range(k)])
    return test_scores <= limits[None, :], limits


def coverage_by_stratum(
    members: BoolArray,
    labels: IntArray,
    strata: npt.NDArray[np.str_],
    calibration_strata: npt.NDArray[np.str_],
    thresholds: Mapping[str, float],
    *,
    clusters: IntArray | None = None,
) -> list[StratumCoverage]:
    """Coverage and set size within each stratum of the test questions, sorted by name.

    ``clusters`` (m,) number the questions that rows repeat (:mod:`core.conformal.clusters`). ``threshold`` is NaN for a
    stratum that ``thresholds`` does not name.
    """
    covered = members[np.arange(len(labels)), labels]
    names, codes = np.unique(strata, return_inverse=True)
    tested = np.bincount(codes)
    hits = np.bincount(codes, weights=covered)
    sizes = np.bincount(codes, weights=members.sum(axis=1))
    calibrating = dict(zip(*np.unique(calibration_strata, return_counts=True), strict=True))
    rows = []
    figures = zip(names.tolist(), tested.tolist(), hits.tolist(), sizes.tolist(), strict=True)
    for code, (name, m, hit, size) in enumerate(figures):
        own = np.flatnonzero(codes == code)
        low, high = clustered_share_interval(covered[own].astype(np.float64), within(clusters, own))
        threshold = thresholds.get(name, float("nan"))
        rows.append(StratumCoverage(name, int(calibrating.get(name, 0)), m, hit / m, low, high, size / m, threshold))
    return rows


def least_covered_p_values(hits: IntArray, tested: IntArray, *, rng: np.random.Generator, draws: int) -> FloatArray:
    """Permutation p-values, (A,), of the lowest coverage among G strata; each lies in [1 / (draws + 1), 1].

    ``hits`` (A, G) count the covered questions of each stratum under each of A policies, for example at A alphas, and
    ``tested`` (G,) all its test questions. The null hypothesis is that the strata are equally well covered. The stratum
    with the lowest coverage was selected by looking at all of them, so each of the ``draws`` permutations takes the
    minimum over all strata too: it assigns the covered questions to the strata at random. The policies share the
    permutations, so each p-value is valid by itself and they depend on each other. Raises :class:`InputError` if a
    stratum has no test question.
    """
    if len(tested) == 0 or tested.min() < 1:
        raise InputError("finding the least covered stratum needs at least one test question in each")
    strata = len(tested)
    codes = np.repeat(np.arange(strata), tested)
    counts, policy = np.unique(hits.sum(axis=1), return_inverse=True)  # (C,): how many questions are covered
    block = strata * np.searchsorted(counts, np.arange(len(codes)), side="right")
    observed = (hits / tested).min(axis=1)
    as_low = np.zeros(len(hits), dtype=np.int64)
    for _ in range(draws):
        # (C, G): row c has the strata of counts[c] questions drawn at random, which are those covered
        added = np.bincount(block + rng.permutation(codes), minlength=(len(counts) + 1) * strata)
        among = added[: len(counts) * strata].reshape(len(counts), strata).cumsum(axis=0)
        as_low += (among / tested).min(axis=1)[policy] <= observed
    # p = (1 + #{min coverage* ≤ min coverage}) / (draws + 1)
    p_values: FloatArray = (1 + as_low) / (draws + 1)
    return p_values
