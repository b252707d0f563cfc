"""Prediction sets and reports with the figures that a notebook shows, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from charts.html_page import fragment
from core.conformal.alpha import THOUSAND, thousandths
from core.conformal.scores import SCORES, score_named
from core.errors import InputError
from core.estimates import interval_text
from core.records import BoolArray, IntArray
from core.reports import frames
from core.reports.array_evaluation import of_arrays
from core.reports.caveats import MARK, texts
from core.reports.evaluation import Evaluation, load
from core.reports.repeated import counted, questions_of, sides
from core.reports.report import DEFAULT_SCORES, Report, ScoreReport, shown
from core.reports.report import report as figures_of
from core.reports.scored_sets import form
from core.reports.titles import run_title
from core.runs.caveats import Caveats

Split = float | Sequence[int] | npt.NDArray[Any]
"""The share of questions that calibrate, their row numbers, or a mask of true and false, or of 1 and 0."""
ARRAYS = "Your probabilities"
CELL = "text-align: left; padding: 0.2em 1.2em 0.2em 0; font-variant-numeric: tabular-nums"


@dataclass(frozen=True, slots=True)
class SetFigures:
    """The sets of the test questions by one score.

    ``members`` (m, k) says which options each set holds, and ``test`` (m,) which rows of the input the questions are.
    ``figures`` has all figures of the sets, with their intervals, and ``caveats`` say what a reader must know.
    """

    alpha: float
    score: str
    members: BoolArray
    test: IntArray
    test_questions: int
    figures: ScoreReport
    caveats: Caveats = ()

    @property
    def n_calibration(self) -> int:
        """How many questions calibrate, without those on which a score was tuned."""
        return self.figures.n_calibration

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The options in each set, counted from 0."""
        return [tuple(np.flatnonzero(row).tolist()) for row in self.members]

    @property
    def coverage(self) -> float:
        """The share of sets that hold the true option."""
        return self.figures.coverage

    @property
    def mean_set_size(self) -> float:
        """The mean number of options in a set."""
        return self.figures.mean_set_size

    @property
    def threshold(self) -> float:
        """The largest score with which an option is in the set. Scores are rounded to 12 decimals before they are
        compared with it, so that ties count."""
        return self.figures.threshold

    @property
    def _sides(self) -> str:
        m, questions = len(self.test), self.test_questions
        tested = f"{m:,} test" if m == questions else f"{counted(m, questions)} test"
        return f"{self.n_calibration:,} questions calibrate, {tested}"

    def __repr__(self) -> str:
        return (
            f"{SCORES[self.score].title} sets at alpha {self.alpha:.3f}: coverage {self.coverage:.3f}, mean set size "
            f"{self.mean_set_size:.3f}, threshold {shown(self.threshold)}; {self._sides}{_below(self.caveats)}"
        )

    def _repr_html_(self) -> str:
        head = f"Sets at alpha {self.alpha:.3f}: {self._sides}"
        return _page(head, [], {self.score: self.figures}, (*texts(self.caveats), *self.figures.notes))


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The report of the run ``title``. ``figures`` has every figure, and ``to_json`` gives them as JSON values."""

    title: str
    figures: Report

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, the same that ``hedge report --json`` prints."""
        return self.figures.to_json()

    @property
    def frame(self) -> pd.DataFrame:
        """The sets' figures, a row for each score."""
        return frames.score_table(self.figures)

    def __repr__(self) -> str:
        of = self.figures
        lines = [f"{title} {value}" for title, value in _run_lines(of)]
        sets = [
            f"{SCORES[name].title}: coverage {one.coverage:.3f}, mean set size {one.mean_set_size:.3f}"
            for name, one in of.scores.items()
        ]
        return "\n".join([f"{self.title}, alpha {of.alpha:.3f}", *lines, *sets]) + _below(of.caveats)

    def _repr_html_(self) -> str:
        of = self.figures
        head = f"{self.title}, alpha {of.alpha:.3f}: {sides(of.n_calibration, of.n_test, of.test_questions)}"
        notes = [*of.notes, *(note for one in of.scores.values() for note in one.notes)]
        return _page(head, _run_lines(of), of.scores, tuple(dict.fromkeys(notes)))


def sets(
    probabilities: Any,
    labels: Any,
    *,
    alpha: float = 0.1,
    score: str = "lac",
    calibration: Split = 0.5,
    clusters: Any = None,
    seed: int = 0,
    empty: str = "allow",
) -> SetFigures:
    """The prediction sets of probabilities (n, k) and labels (n,), counted from 0.

    ``calibration`` is the share of questions that calibrate (drawn with ``seed``), their row numbers, or a mask. The
    sets are those of all other questions. ``clusters`` (n,) number or name the question of each row, if rows repeat
    questions or belong together: one random row of each calibrates, and each counts as one in the intervals. ``empty``
    is ``allow`` or ``top1``. Raises
    :class:`~core.errors.InputError` if these are no probabilities, or for an unknown score or an invalid alpha.
    """
    at = thousandths(alpha)
    score = score_named(score).name
    run = of_arrays(probabilities, labels, calibration=calibration, clusters=clusters, seed=seed)
    made = figures_of(run, at, scores=(score,), empty=empty)
    members = form(run, score, at, empty=empty).members
    questions = questions_of(run, run.test)
    return SetFigures(at / THOUSAND, score, members, run.test, questions, made.scores[score], made.caveats)


def report(
    run: Any,
    labels: Any = None,
    *,
    alpha: float = 0.1,
    scores: Sequence[str] = DEFAULT_SCORES,
    calibration: Split = 0.5,
    clusters: Any = None,
    seed: int = 0,
    empty: str = "allow",
) -> RunFigures:
    """The report of a run, named by its id, or of probabilities (n, k) with labels (n,), as :func:`sets` takes them.

    ``calibration`` and ``seed`` split arrays, and ``clusters`` are those of their rows; a run has its own. Raises
    :class:`~core.errors.InputError` as
    :func:`sets` does, and for a run that is not there.
    """
    at = thousandths(alpha)
    of = evaluation(run, labels, calibration=calibration, clusters=clusters, seed=seed)
    return RunFigures(title_of(of), figures_of(of, at, scores=score_names(scores), empty=empty))


def score_names(scores: Any) -> tuple[str, ...]:
    """The names of scores. Raises :class:`~core.errors.InputError` for anything else than a list of names."""
    if isinstance(scores, str) or not isinstance(scores, Iterable):
        raise InputError(f"scores must be a list of names, such as ['lac'], got {scores!r}")
    return tuple(score_named(name).name for name in scores)


def evaluation(run: Any, labels: Any, *, calibration: Split, seed: int, clusters: Any = None) -> Evaluation:
    """The evaluation of a stored run's id, or of arrays. Raises :class:`~core.errors.InputError` for a mix of them."""
    if isinstance(run, str):
        if labels is not None:
            raise InputError(f"run {run} has its own labels; leave them out, or give probabilities instead of a run")
        if clusters is not None:
            raise InputError(f"run {run} has its own clusters; leave them out, or give probabilities instead of a run")
        return load(run)
    if labels is None:
        raise InputError("probabilities need labels: give the true option of each question, counted from 0")
    return of_arrays(run, labels, calibration=calibration, clusters=clusters, seed=seed, name=ARRAYS)


def title_of(run: Evaluation) -> str:
    """What an evaluation is called in a notebook: the title of a stored run."""
    return ARRAYS if run.spec.task == ARRAYS else run_title(run.spec, run.bank)


def _below(caveats: Caveats) -> str:
    """The caveats as lines below a text."""
    return "".join(f"\n{MARK} {text}" for text in texts(caveats))


def _run_lines(of: Report) -> list[tuple[str, str]]:
    return [
        ("Accuracy", f"{of.accuracy:.3f}"),
        ("ECE beyond luck (95%)", f"{shown(of.ece_excess)} ({interval_text(*of.ece_interval)}); seen {of.ece:.3f}"),
        ("Brier score", f"{of.brier:.3f}"),
        ("NLL", shown(of.nll)),
    ]


TABLES = """<div><p><strong>{{ head }}</strong></p>
{% macro row(cell, texts) %}
<tr>{% for text in texts %}<{{ cell }} style="{{ style }}">{{ text }}</{{ cell }}>{% endfor %}</tr>
{% endmacro %}
{% if lines %}
<table><tbody>{% for line in lines %}{{ row("td", line) }}{% endfor %}</tbody></table>
{% endif %}
<table><thead>{{ row("th", titles) }}</thead>
<tbody>{% for one in rows %}{{ row("td", one) }}{% endfor %}</tbody></table>
{% for note in notes %}<p>{{ note }}</p>{% endfor %}</div>"""
"""Tables in the notebook's own colours, so that they are readable in every theme."""


def _page(head: str, lines: Sequence[tuple[str, str]], scores: dict[str, ScoreReport], notes: Sequence[str]) -> str:
    titles = ["Score", "Threshold", "Coverage (band)", "Mean set size (95%)", "Empty sets", "UAcc"]
    rows = [
        [
            SCORES[name].title,
            shown(of.threshold, 4),
            f"{of.coverage:.3f} ({of.coverage_band[0]:.3f} to {of.coverage_band[1]:.3f})",
            f"{of.mean_set_size:.3f} ({' to '.join(shown(end) for end in of.mean_set_size_interval)})",
            f"{100 * of.empty_rate:.1f}%",
            shown(of.uacc),
        ]
        for name, of in scores.items()
    ]
    return fragment(TABLES, head=head, lines=lines, titles=titles, rows=rows, notes=notes, style=CELL)
