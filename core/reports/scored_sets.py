"""One score's sets on the test questions of a run, at one alpha. All figures of sets are counted from these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.conformal import ye2024
from core.conformal.alpha import Alpha
from core.conformal.mondrian import check_by, class_members, group_members
from core.conformal.published import scores_for, top_ties_of
from core.conformal.sets import filled
from core.conformal.threshold import threshold
from core.conformal.tuning import Tuned, tune
from core.errors import InputError
from core.records import BoolArray, FloatArray
from core.reports.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class FormedSets:
    """The sets ``members`` (m, k) of the test questions by the score ``name``, with what forms them.

    ``threshold`` is the one threshold of all, or NaN if there are several; ``thresholds`` names each by its stratum
    (``all``, a subject, a letter). ``calibration_scores`` (n,) are those of the true options, ``test_scores`` (m, k) of
    all.
    """

    name: str
    tuned: Tuned
    calibration_scores: FloatArray
    test_scores: FloatArray
    threshold: float
    thresholds: dict[str, float]
    members: BoolArray


def true_letters(run: Evaluation, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    """The letters of the true options of rows, (n,)."""
    return np.array(list(run.letters))[run.labels[rows]]


def form(
    run: Evaluation, name: str, alpha: Alpha, *, method: str = "exact", empty: str = "allow", by: str = "all"
) -> FormedSets:
    """The sets of the score ``name`` at ``alpha`` thousandths, with thresholds for ``by``.

    Raises :class:`InputError` for unknown names, and for strata with another threshold than the exact one.
    """
    if check_by(by) != "all" and method != "exact":
        raise InputError(f"the {method} threshold is one for all questions; strata take the exact one")
    tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    own, asked = scores_for(
        name,
        run.option_probabilities,
        run.labels,
        calibration=tuned.calibration,
        test=run.test,
        method=method,
        seed=run.spec.seed,
        parameters=tuned.parameters,
    )
    q = float("nan")
    if method == "paper" and name in ye2024.SCORES:
        single = ye2024.single_sets(
            name, run.option_probabilities, run.labels, calibration=tuned.calibration, test=run.test, alpha=alpha
        )
        own, asked, q, members = single.calibration_scores, single.test_scores, single.threshold, single.members
        thresholds = {"all": q}
    elif by == "all":
        q = threshold(own, alpha, method=method)
        members, thresholds = asked <= q, {"all": q}
    elif by == "group":
        members, thresholds = group_members(own, run.groups[tuned.calibration], asked, run.groups[run.test], alpha)
    else:
        members, limits = class_members(own, run.labels[tuned.calibration], asked, alpha)
        thresholds = dict(zip(run.letters, limits.tolist(), strict=True))
    members = filled(members, empty, run.probabilities[run.test], ties=top_ties_of(method))
    return FormedSets(name, tuned, own, asked, q, thresholds, members)
