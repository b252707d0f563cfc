"""One score's sets on the test questions of a run, at one alpha. All figures of sets are counted from these."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.conformal import ye2024
from core.conformal.alpha import Alpha
from core.conformal.mondrian import check_by, class_members, group_members
from core.conformal.published import scores_for, top_ties_of
from core.conformal.pvalues import p_values
from core.conformal.scores import SCORE_NAMES, Parameters, score_named, score_parts
from core.conformal.scores.ranking import costed
from core.conformal.sets import check_empty, filled
from core.conformal.threshold import threshold
from core.conformal.tuning import Tuned, tune
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray
from core.reports.evaluation import Evaluation

Parts = tuple[FloatArray, IntArray]


@dataclass(frozen=True, slots=True)
class FormedSets:
    """The sets ``members`` (m, k) of the test questions by the score ``name``, with what forms them.

    ``threshold`` is the one threshold of all, or NaN if there are several; ``thresholds`` names each by its stratum
    (``all``, a subject, a letter). ``calibration_scores`` (n,) are those of the true options, ``test_scores`` (m, k) of
    all. ``parts`` are those of a tuned score, of the same options (:class:`~core.conformal.scores.Score`).
    """

    name: str
    tuned: Tuned
    calibration_scores: FloatArray
    test_scores: FloatArray
    threshold: float
    thresholds: dict[str, float]
    members: BoolArray
    parts: tuple[Parts, Parts] | None = None


def true_letters(run: Evaluation, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    """The letters of the true options of rows, (n,)."""
    return np.array(list(run.letters))[run.labels[rows]]


def check_score(run: Evaluation, name: str) -> None:
    """Raise :class:`InputError` for a score of ordered options where the run's are not ordered, or an unknown one."""
    if score_named(name).ordered and not run.ordered:
        raise InputError(
            f"the score {name} is for questions whose options are ordered levels, and those of {run.run_id} are not "
            f"all ordered; choose from {', '.join(SCORE_NAMES)}"
        )


def form(
    run: Evaluation,
    name: str,
    alpha: Alpha,
    *,
    method: str = "exact",
    empty: str = "allow",
    by: str = "all",
    parameters: Parameters | None = None,
) -> FormedSets:
    """The sets of the score ``name`` at ``alpha`` thousandths, with thresholds for ``by``. ``parameters`` are a
    person's own; without them, those of the score are tuned.

    Raises :class:`InputError` for unknown names, for a score that the run does not have, and for strata with another
    threshold than the exact one.
    """
    check_score(run, name)
    if check_by(by) != "all" and method != "exact":
        raise InputError(f"the {method} threshold is one for all questions; strata take the exact one")
    if parameters is not None and score_named(name).tuned:
        tuned = Tuned(parameters, np.array([], dtype=np.int64), run.calibration, given=True)
    else:
        tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    p, parts = run.option_probabilities, None
    if score_named(name).tuned:
        calibration, places = tuned.calibration, np.arange(len(tuned.calibration))
        base, ranks = score_parts(name, p[calibration])
        labels = run.labels[calibration]
        parts = (base[places, labels], ranks[places, labels]), score_parts(name, p[run.test])
        own, test_scores = (costed(*part, tuned.parameters) for part in parts)
    else:
        own, test_scores = scores_for(
            name, p, run.labels, calibration=tuned.calibration, test=run.test, method=method, seed=run.spec.seed
        )
    q = float("nan")
    if method == "paper" and name in ye2024.SCORES:
        single = ye2024.single_sets(
            name, run.option_probabilities, run.labels, calibration=tuned.calibration, test=run.test, alpha=alpha
        )
        own, test_scores, q, members = single.calibration_scores, single.test_scores, single.threshold, single.members
        thresholds = {"all": q}
    elif by == "all":
        q = threshold(own, alpha, method=method)
        members, thresholds = test_scores <= q, {"all": q}
    else:
        formed = FormedSets(name, tuned, own, test_scores, q, {}, np.empty(test_scores.shape, dtype=np.bool_), parts)
        return at_alpha(run, formed, alpha, empty=empty, by=by)
    if check_empty(empty) == "top1":
        filled(members, empty, run.probabilities[run.test], ties=top_ties_of(method))
    return FormedSets(name, tuned, own, test_scores, q, thresholds, members, parts)


def at_alpha(run: Evaluation, formed: FormedSets, alpha: Alpha, *, empty: str = "allow", by: str = "all") -> FormedSets:
    """The sets ``formed`` with the exact threshold at another alpha, of the same scores."""
    own, test_scores = formed.calibration_scores, formed.test_scores
    calibration, q = formed.tuned.calibration, float("nan")
    if by == "all":
        q = threshold(own, alpha)
        members, thresholds = test_scores <= q, {"all": q}
    elif by == "group":
        members, thresholds = group_members(own, run.groups[calibration], test_scores, run.groups[run.test], alpha)
    else:
        members, limits = class_members(own, run.labels[calibration], test_scores, alpha)
        thresholds = dict(zip(run.letters, limits.tolist(), strict=True))
    if check_empty(empty) == "top1":
        filled(members, empty, run.probabilities[run.test])
    return replace(formed, threshold=q, thresholds=thresholds, members=members)


def option_p_values(run: Evaluation, formed: FormedSets, *, by: str = "all") -> FloatArray:
    """The p-value of each option of the test questions, (m, k): NaN for an option that a question lacks.

    ``by`` says which calibration questions an option is compared with. Without any, its p-value is 1.
    """
    own, test_scores = formed.calibration_scores, formed.test_scores
    calibration = formed.tuned.calibration
    values = np.ones_like(test_scores)
    if by == "all":
        values = p_values(own, test_scores)
    elif by == "class":
        for option in np.unique(run.labels[calibration]).tolist():
            values[:, option] = p_values(own[run.labels[calibration] == option], test_scores[:, option])
    else:
        for name in np.unique(run.groups[calibration]).tolist():
            rows = run.groups[run.test] == name
            values[rows] = p_values(own[run.groups[calibration] == name], test_scores[rows])
    values[np.isnan(test_scores)] = np.nan
    return values
