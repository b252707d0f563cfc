"""One question under every score: the alpha at which each of its options leaves the set.

An option's conformal p-value is c / (n + 1), where c counts itself and the calibration scores that are no better
(:mod:`core.conformal.pvalues`). It is in the exact threshold's set at alpha if and only if alpha is smaller. alpha
counts in thousandths, so whole numbers decide: ``alpha · (n + 1) < 1000 · c``. The browser does the same
(``app/components/one_question/option_bars/membership.js``).

Calibration is that of a run. The question is one of its test questions, or one that a person typed. A typed question is
placed after the run's last row, so that randomised scores have a number of their own for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.conformal.alpha import ALPHAS, THOUSAND, check_thousandths
from core.conformal.probabilities import option_shares, softmax, top_options
from core.conformal.pvalues import p_values
from core.conformal.scores import SCORES, Parameters, offered_scores, ranks, score, true_scores
from core.conformal.sets import check_empty
from core.conformal.threshold import rank
from core.conformal.tuning import tune
from core.errors import InputError
from core.models.letter_mass import unanswered
from core.questions.option_names import set_text
from core.records import OPTION_NAMES, BoolArray, FloatArray, IntArray, Question
from core.reports.evaluation import Evaluation
from core.reports.report import tuning_note
from core.reports.scored_sets import form
from core.runs import store
from core.runs.spec import RunSpec


@dataclass(frozen=True, slots=True)
class ScoreCalibration:
    """One score's calibration by one run.

    ``scores`` (n,) are those of the true options of the questions that calibrate, rising. ``note`` says how the score's
    parameters were chosen (empty if it has none), and ``tuned`` whether separate questions were used for that (None if
    it has none).
    """

    name: str
    scores: FloatArray
    parameters: Parameters
    note: str
    tuned: bool | None

    @property
    def n(self) -> int:
        """The number of calibration questions. A tuned score has set some of them aside."""
        return len(self.scores)

    def thresholds(self) -> FloatArray:
        """The exact threshold at every alpha, (999,); infinite if every option is in the set."""
        return np.asarray(np.append(self.scores, np.inf)[np.asarray(rank(self.n, ALPHAS)) - 1], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class OptionPValues:
    """One question's k options under one score.

    ``counts`` (k,) are the numerators c of the p-values c / (n + 1) of the ``scores`` (k,). ``top`` is the most
    probable option, which is put into an empty set if the policy is ``top1``.
    """

    name: str
    n: int
    scores: FloatArray
    counts: IntArray
    top: int

    @property
    def p_values(self) -> FloatArray:
        """(k,), in [1 / (n + 1), 1]."""
        return np.asarray(self.counts / (self.n + 1), dtype=np.float64)

    @property
    def leaves(self) -> IntArray:
        """The smallest alpha (thousandths) at which each option is out of the set, (k,); 1000 if it never is."""
        return -(-THOUSAND * self.counts // (self.n + 1))

    def members(self, alpha: int, *, empty: str = "allow") -> BoolArray:
        """Which options are in the set at ``alpha`` thousandths, (k,)."""
        inside = np.asarray(check_thousandths(alpha) * (self.n + 1) < THOUSAND * self.counts)
        if check_empty(empty) == "top1" and not inside.any():
            inside[self.top] = True
        return inside


@dataclass(frozen=True, slots=True)
class CalibratedRun:
    """A finished run by which questions are judged: the calibration of every score.

    ``letters`` and ``classes`` are those of the evaluation. ``places`` is the number of the run's questions, which is
    also the row of a question that is not one of them. ``first`` is the test question with which a page opens
    (:func:`first_shown`).
    """

    run_id: str
    spec: RunSpec
    k: int
    letters: Sequence[str]
    classes: bool
    places: int
    scores: dict[str, ScoreCalibration]
    first: str

    def names(self, k: int) -> Sequence[str]:
        """The names of a question's k options: classes by their names, others by their letters."""
        return self.letters if self.classes and k == self.k else OPTION_NAMES[:k]


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """A run's answer to one of its questions: the question's ``row`` in the run, and the ``probabilities`` (k,) of its
    options. ``no_answer`` says why the letters are no answer; it is empty if they are."""

    row: int
    probabilities: FloatArray
    no_answer: str


def read_answer(run_id: str, question: Question) -> QuestionAnswer:
    """Read a run's answer to one of its questions, and no other.

    Raises :class:`InputError` if the run has none.
    """
    row, scored = store.read_answer(run_id, question.id)
    probabilities = option_shares(scored)[0][0, : len(question.options)]
    return QuestionAnswer(row, probabilities, unanswered(scored).get(question.id, ""))


def bench(run: Evaluation) -> CalibratedRun:
    """Calibrate every score on a run.

    Raises :class:`InputError` if the run has no calibration questions.
    """
    if len(run.calibration) == 0:
        raise InputError(f"run {run.run_id} has no calibration questions, so no set can be formed; choose another run")
    return CalibratedRun(
        run_id=run.run_id,
        spec=run.spec,
        k=run.k,
        letters=run.letters,
        classes=run.classes,
        places=len(run.labels),
        scores={name: _calibrated(run, name) for name in offered_scores(ordered=run.ordered)},
        first=first_shown(run) if len(run.test) else "",
    )


def _calibrated(run: Evaluation, name: str) -> ScoreCalibration:
    tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    scores = score(name, run.option_probabilities, seed=run.spec.seed, parameters=tuned.parameters)
    true = np.sort(true_scores(scores[tuned.calibration], run.labels[tuned.calibration]))
    true.setflags(write=False)
    has_parameters = SCORES[name].tuned
    return ScoreCalibration(
        name=name,
        scores=true,
        parameters=tuned.parameters,
        note=tuning_note(name, tuned) if has_parameters else "",
        tuned=len(tuned.rows) > 0 if has_parameters else None,
    )


def standings(by: CalibratedRun, probabilities: FloatArray, *, place: int) -> tuple[OptionPValues, ...]:
    """A question of ``probabilities`` (k,) under every score, in the order of :data:`SCORES`.

    ``place`` is its row in the run, or the number of the run's rows for a question outside the run. k may differ
    from the run's; the guarantee then does not apply.
    """
    top = int(top_options(probabilities[None])[0])
    rows = []
    for name, calibrated in by.scores.items():
        own = _scores_at(name, probabilities, place, seed=by.spec.seed, parameters=calibrated.parameters)
        shares = p_values(calibrated.scores, own)
        counts = np.rint(shares * (calibrated.n + 1)).astype(np.int64)
        rows.append(OptionPValues(name, calibrated.n, own, counts, top))
    return tuple(rows)


def asked(by: CalibratedRun, logits: FloatArray | Sequence[float]) -> tuple[FloatArray, tuple[OptionPValues, ...]]:
    """The probabilities (k,) of a typed question's option logits (k,), and its standings by the run's calibration."""
    probabilities = softmax(np.asarray(logits, dtype=np.float64)[None])[0]
    return probabilities, standings(by, probabilities, place=by.places)


def _scores_at(name: str, probabilities: FloatArray, place: int, *, seed: int, parameters: Parameters) -> FloatArray:
    """The scores (k,) of a question. A randomised score uses the random number of the question's row."""
    places = np.array([place])
    scores: FloatArray = score(name, probabilities[None], seed=seed, parameters=parameters, places=places)[0]
    return scores


SHOWN_SIZE = 2
"""The size of the set that shows best what a set is: neither one option nor all."""


def first_shown(run: Evaluation) -> str:
    """The id of the test question with which a page opens: the first one whose LAC set at alpha 0.1 holds the truth and
    has :data:`SHOWN_SIZE` options.

    If there is none, its set holds the truth and is nearest to that size. If no set holds the truth, it is the nearest
    in size. A question without an answer is the last choice.
    """
    members = form(run, "lac", 100).members
    misses = ~members[np.arange(len(run.test)), run.labels[run.test]]
    unanswered = np.isin(run.ids[run.test], list(run.unanswered))
    best = np.lexsort((np.abs(members.sum(axis=1) - SHOWN_SIZE), misses, unanswered))[0]
    return str(run.ids[run.test[best]])


def option_frame(
    probabilities: FloatArray,
    options: tuple[str, ...],
    standing: OptionPValues,
    threshold: float,
    members: BoolArray,
    label: int | None,
    letters: Sequence[str] = OPTION_NAMES,
) -> pd.DataFrame:
    """One score's options: probability, rank, score, threshold, p-value, the alpha where each leaves, and membership.

    ``truth`` is None in every row if it is unknown.
    """
    k = len(options)
    return pd.DataFrame(
        {
            "letter": list(letters[:k]),
            "option": options,
            "probability": probabilities,
            "rank": ranks(probabilities[None])[0],
            "score": standing.scores,
            "threshold": threshold,
            "p_value": standing.p_values,
            "leaves_at": standing.leaves / THOUSAND,
            "member": members,
            "truth": [None] * k if label is None else np.arange(k) == label,
        }
    )


def score_frame(
    standings_by_score: tuple[OptionPValues, ...], by: CalibratedRun, alpha: int, *, empty: str = "allow"
) -> pd.DataFrame:
    """Every score at ``alpha`` thousandths: threshold, set in letters, n, note on parameters, p-values by letter."""
    records = []
    letters = by.names(len(standings_by_score[0].counts))
    for standing in standings_by_score:
        inside = standing.members(alpha, empty=empty)
        records.append(
            {
                "score": standing.name,
                "set": set_text((letters[j] for j in np.flatnonzero(inside).tolist()), letters),
                "threshold": float(by.scores[standing.name].thresholds()[alpha - 1]),
                "n_calibration": standing.n,
                "parameters": by.scores[standing.name].note,
                **{f"p_{letters[j]}": float(p) for j, p in enumerate(standing.p_values)},
            }
        )
    return pd.DataFrame(records)
