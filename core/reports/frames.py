"""Runs as tidy frames for pages, charts and downloads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.conformal.alpha import ALPHAS, THOUSAND
from core.conformal.coverage import covered_questions, strata_band, strata_p_value
from core.conformal.curve import alpha_curve
from core.conformal.draws import WORD
from core.conformal.set_sizes.by_rank import SizeCurve
from core.conformal.set_sizes.intervals import intervals
from core.conformal.threshold import rank
from core.errors import InputError
from core.questions.option_names import short_names
from core.records import LETTERS, FloatArray, IntArray, Question
from core.reports import question_identity
from core.reports.alpha_lab.view import clustered, extra_options
from core.reports.caveats import in_one
from core.reports.evaluation import Evaluation
from core.reports.repeated import one_row_each
from core.reports.report import (
    DEFAULT_SCORES,
    CoverageStrata,
    Report,
    ScoreReport,
    coverage_strata,
    report,
    sizes_by_rank,
)
from core.reports.scored_sets import form
from core.runs import store
from core.runs.caveats import COLUMN

TENTH = THOUSAND // 10
MOST_IN_LAB = 100_000
MOST_NUMBERS_IN_LAB = 1_300_000
"""The most probabilities of questions with more options than there are letters: 10 MB for a browser, where choosing
the parameters of RAPS then takes a second or two."""
CONTEXT_SHOWN = 400
"""Characters of a context that the alpha lab shows."""


def overview_row(run: Report, questions: str) -> dict[str, Any]:
    """One run's row, without the figures of scores: its names, the digest of the ``questions`` that it was tested on,
    and accuracy with a 95% interval."""
    low, high = run.accuracy_interval
    return {
        "run": run.run,
        "model": run.model,
        "task": run.task,
        "bank": run.bank,
        "questions": questions,
        "strategy": run.strategy,
        "dtype": run.dtype,
        "form": run.form,
        "n_calibration": run.n_calibration,
        "n_test": run.n_test,
        "test_questions": run.test_questions,
        "accuracy": run.accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
        "top_ties": run.top_ties.n,
        "accuracy_ties_lost": run.top_ties.lost,
        "accuracy_ties_won": run.top_ties.won,
        "ece_excess": run.ece_excess,
        "ece_low": run.ece_interval[0],
        "ece_high": run.ece_interval[1],
        "ece": run.ece,
        "ece_luck": run.ece_luck,
        "k": run.k,
        COLUMN: in_one(run.caveats),
    }


def overview(runs: Iterable[Evaluation], alpha: int, scores: Sequence[str] = DEFAULT_SCORES) -> pd.DataFrame:
    """A row for each finished run at ``alpha`` thousandths, with each score's figures; empty for no runs."""
    return overview_at((summarise(run, scores) for run in runs), alpha)


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """One score's sets of a run at every alpha.

    Two alphas with the same rank of the threshold have the same sets. ``ranks`` (r,) are the ranks of the 999 alphas,
    each once and rising; ``thresholds``, ``coverage`` and ``empty_rate`` (r,) are the figures at each. ``sizes`` has
    the mean set size at every rank, and ``strata`` what the law of the coverage depends on. ``tenth`` has the columns
    of the overview at alpha 0.1, at which it opens, if they are known.
    """

    ranks: IntArray
    thresholds: FloatArray
    coverage: FloatArray
    empty_rate: FloatArray
    sizes: SizeCurve
    strata: CoverageStrata
    tenth: dict[str, float] = field(default_factory=dict)

    def place(self, alpha: int) -> int:
        """The place of ``alpha`` thousandths in ``ranks``."""
        return int(np.searchsorted(self.ranks, rank(self.sizes.n, alpha)))

    def threshold(self, alpha: int) -> float:
        """The exact threshold at ``alpha`` thousandths; infinite if every option is in the set."""
        return float(self.thresholds[self.place(alpha)])

    def mean_set_size(self, alpha: int) -> float:
        """The mean set size at ``alpha`` thousandths, in options."""
        return float(self.sizes.size[int(rank(self.sizes.n, alpha)) - 1])


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The figures of a run that the overview needs at any alpha, so that no run is read again when alpha changes.
    ``row`` has those that do not depend on alpha (:func:`overview_row`)."""

    row: dict[str, Any]
    scores: dict[str, ScoreSummary]

    @property
    def questions(self) -> str:
        """The digest of the run's test questions (:func:`core.reports.question_identity.question_set`)."""
        return str(self.row["questions"])


def summarise(run: Evaluation, scores: Sequence[str] = DEFAULT_SCORES) -> RunSummary:
    """The figures that do not depend on alpha, and those of the scores at every alpha."""
    row = overview_row(report(run, TENTH, scores=()), question_identity.question_set(run.run_id))
    of_scores = {name: summarise_score(run, name) for name in scores}
    return RunSummary(
        row, {name: replace(each, tenth=_score_columns(name, each, TENTH)) for name, each in of_scores.items()}
    )


def summarise_score(run: Evaluation, name: str) -> ScoreSummary:
    """The figures of one score at every alpha."""
    sets = form(run, name, TENTH)  # whose scores, and exact thresholds by rank, are those of every alpha
    curve = alpha_curve(sets.calibration_scores, sets.test_scores, run.labels[run.test])
    ranks, first = np.unique(rank(len(sets.calibration_scores), ALPHAS), return_index=True)
    return ScoreSummary(
        ranks=ranks,
        thresholds=curve.thresholds[first],
        coverage=curve.coverage[first],
        empty_rate=curve.empty_rate[first],
        sizes=sizes_by_rank(run, sets, TENTH),
        strata=coverage_strata(run, sets, "all"),
    )


def overview_at(runs: Iterable[RunSummary], alpha: int) -> pd.DataFrame:
    """The rows of :func:`overview` from summaries."""
    rows = []
    for run in runs:
        row = dict(run.row)
        for name, summary in run.scores.items():
            row |= summary.tenth if alpha == TENTH and summary.tenth else _score_columns(name, summary, alpha)
        rows.append(row)
    return pd.DataFrame(rows)


def _score_columns(name: str, summary: ScoreSummary, alpha: int) -> dict[str, float]:
    """A score's figures in a row of the overview; mean set size and UAcc with the ends of their intervals."""
    place, law = summary.place(alpha), summary.strata
    coverage = float(summary.coverage[place])
    low, high = strata_band(law.calibrated, law.tested, alpha, ties=law.ties)
    covered = covered_questions(coverage, sum(law.tested.values()))
    columns = {f"{name}_coverage": coverage, f"{name}_coverage_low": low, f"{name}_coverage_high": high}
    columns[f"{name}_empty_rate"] = float(summary.empty_rate[place])
    columns[f"{name}_coverage_p"] = strata_p_value(covered, law.calibrated, law.tested, alpha)
    likely = intervals(summary.sizes, alpha)
    for figure, estimate in (("set_size", likely.mean_set_size), ("uacc", likely.uacc)):
        columns[f"{name}_{figure}"] = estimate.value
        columns[f"{name}_{figure}_low"], columns[f"{name}_{figure}_high"] = estimate.ends
    return columns


def lab_tables(run: Evaluation) -> dict[str, Any]:
    """The data of the alpha lab's component, which is sent once: all calibration and test questions in file order.

    ``rows`` has columns ``p0 … p(k−1)`` (float64, NaN for an option that a question lacks), ``y``, ``group`` (a code
    into ``group_names``), ``cluster`` (equal for identical questions), ``own`` (1 if the run itself calibrates) and
    ``place`` (the row of the run's arrays, to which random numbers belong). ``questions`` has their texts, with one
    column for each option, ``o0 … o(k−1)``, and only the beginning of each context (whole contexts would take tens of
    MB). ``extra`` has the places of E and F, ``seed`` is the run's, and ``letters`` are the options' names.
    The names of ``classes`` at full length are ``options``, once for all questions. ``ordered`` says whether options
    are ordered levels. A very large run is sampled with its seed (:func:`sample_for_lab`).
    """
    run = sample_for_lab(run)
    rows, clusters = clustered(run)
    return _lab_tables(run, rows, clusters, _texts(run, rows), extra_options(run))


def lab_tables_of_arrays(run: Evaluation, questions: Sequence[str] = ()) -> dict[str, Any]:
    """The tables of :func:`lab_tables` for arrays that do not come from a stored run
    (:mod:`core.reports.array_evaluation`).

    ``questions`` are the texts of all n questions. Without them each question is named by its number. Raises
    :class:`InputError` if there are more or fewer of them.
    """
    if len(questions) not in (0, len(run.labels)):
        raise InputError(
            f"there are {len(questions)} texts of questions for {len(run.labels)} questions; give one each"
        )
    run = sample_for_lab(run)
    rows = np.sort(np.concatenate([run.calibration, run.test]))
    own = [str(questions[row]) if len(questions) else f"Question {run.ids[row]}" for row in rows]
    texts = pa.table(
        {
            "id": run.ids[rows],
            "group": run.groups[rows],
            "context": [""] * len(rows),
            "question": own,
            **({} if run.classes else {f"o{j}": [f"Option {run.letters[j]}"] * len(rows) for j in range(run.k)}),
        }
    )
    return _lab_tables(run, rows, np.arange(len(rows), dtype=np.int64), texts, ())


def _lab_tables(
    run: Evaluation, rows: IntArray, clusters: IntArray, texts: pa.Table, extra: tuple[int, ...]
) -> dict[str, Any]:
    names, codes = np.unique(run.groups[rows], return_inverse=True)
    p = run.option_probabilities[rows]
    columns: dict[str, Any] = {f"p{j}": np.ascontiguousarray(p[:, j]) for j in range(run.k)}
    columns |= {
        "y": run.labels[rows].astype(np.int32),
        "group": codes.astype(np.int32),
        "cluster": clusters.astype(np.int32),
        "own": np.isin(rows, run.calibration).astype(np.uint8),
        "place": rows.astype(np.int32),
    }
    return {
        "rows": pa.table(columns),
        "questions": texts,
        "group_names": names.tolist(),
        "extra": list(extra),
        "seed": run.spec.seed % WORD,
        "letters": short_names(run.letters),
        "classes": run.classes,
        "ordered": run.ordered,
        "options": list(run.letters) if run.classes else [],
    }


def most_in_lab(k: int) -> int:
    """How many questions of k options the lab can have: 100,000, fewer if they have more options than
    there are letters."""
    return MOST_IN_LAB if k <= len(LETTERS) else MOST_NUMBERS_IN_LAB // k


def sample_for_lab(run: Evaluation) -> Evaluation:
    """The run, or a seeded sample of its questions if it has more than :func:`most_in_lab`, split in the same
    proportion. Every set can then be recomputed within a frame while the pointer moves. The figures computed in Python
    use all questions. Where rows repeat questions, one row stands for each, so that another split has independent
    questions too.
    """
    run = one_row_each(run)
    n, m = len(run.calibration), len(run.test)
    most = most_in_lab(run.k)
    if n + m <= most:
        return run
    rng = np.random.default_rng([run.spec.seed, 0x1AB])
    few = max(1, round(most * n / (n + m)))
    calibration = np.sort(rng.choice(run.calibration, min(few, most - 1), replace=False))
    return replace(
        run, calibration=calibration, test=np.sort(rng.choice(run.test, most - len(calibration), replace=False))
    )


def _texts(run: Evaluation, rows: IntArray) -> pa.Table:
    texts = store.read_questions(run.run_id)
    picked = texts.take(pc.index_in(pa.array(run.ids[rows].tolist()), texts["id"]))
    options = [] if run.classes else picked["options"].to_pylist()
    return pa.table(
        {
            "id": picked["id"],
            "group": picked["group"],
            "context": [shortened(text) for text in picked["context"].to_pylist()],
            "question": picked["question"],
            **({} if run.classes else {f"o{j}": _places(options, j) for j in range(run.k)}),
        }
    )


def _places(options: Sequence[Sequence[str]], j: int) -> list[str]:
    return [row[j] if j < len(row) else "" for row in options]


def shortened(text: str, length: int = CONTEXT_SHOWN) -> str:
    """The text, or its beginning with an ellipsis.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"


def question(run: Evaluation, row: int) -> Question:
    """The whole question of a row of the run's arrays."""
    return store.read_question(run.run_id, str(run.ids[row]))


def question_list(run: Evaluation) -> pd.DataFrame:
    """The test questions: ``row`` in the run's arrays, id, group and question."""
    texts = store.read_questions(run.run_id, columns=["id", "group", "question"])
    table = texts.take(pc.index_in(pa.array(run.ids[run.test].tolist()), texts["id"]))
    return pd.DataFrame({"row": run.test, **{name: table[name].to_pandas() for name in ("id", "group", "question")}})


def score_table(run: Report) -> pd.DataFrame:
    """The figures of a report, one row per score; ``size_j`` counts the sets of j options."""
    return score_rows(run.alpha, run.scores)


def score_rows(alpha: float, scores: Mapping[str, ScoreReport]) -> pd.DataFrame:
    """The figures of the sets at one alpha, as :func:`score_table` gives them."""
    return pd.DataFrame(
        [
            {
                "score": name,
                "alpha": alpha,
                "threshold": figures.threshold,
                "coverage": figures.coverage,
                "coverage_low": figures.coverage_band[0],
                "coverage_high": figures.coverage_band[1],
                "p_value": figures.p_value,
                "mean_set_size": figures.mean_set_size,
                "mean_set_size_low": figures.mean_set_size_interval[0],
                "mean_set_size_high": figures.mean_set_size_interval[1],
                "empty_rate": figures.empty_rate,
                "uacc": figures.uacc,
                "uacc_low": figures.uacc_interval[0],
                "uacc_high": figures.uacc_interval[1],
                **{f"size_{j}": count for j, count in enumerate(figures.sizes)},
            }
            for name, figures in scores.items()
        ]
    )


def alpha_value(alpha: int) -> float:
    """alpha as a share, for showing: 100 thousandths are 0.1."""
    return alpha / THOUSAND
