"""Prediction sets and reports with the figures that a notebook shows, as text and as HTML."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from charts.html_page import fragment
from core.conformal.alpha import THOUSAND, Alpha, alpha_text, exact_alpha, number
from core.conformal.mondrian import check_by
from core.conformal.scores import SCORES, UNTUNED, Parameters, score_named
from core.conformal.sets import check_empty
from core.conformal.threshold import full_set_message
from core.errors import InputError, shown_value
from core.estimates import interval_text
from core.records import BoolArray, FloatArray, IntArray
from core.reports import frames
from core.reports.array_evaluation import new_rows, of_arrays
from core.reports.array_inputs import given_names
from core.reports.caveats import MARK, of_run, texts
from core.reports.evaluation import Evaluation, load
from core.reports.repeated import counted, questions_of, sides
from core.reports.report import DEFAULT_SCORES, Report, ScoreReport, score_report, shown, tuning_note
from core.reports.report import report as figures_of
from core.reports.scored_sets import FormedSets, at_alpha, form, option_p_values
from core.reports.thresholds import threshold_text
from core.reports.titles import run_title
from core.runs.caveats import Caveats

Split = float | Sequence[int] | npt.NDArray[Any]
"""The share of questions that calibrate, their row numbers, or a mask of true and false, or of 1 and 0."""
ARRAYS = "Your probabilities"
MOST_ALPHAS = 999
CELL = "text-align: left; padding: 0.2em 1.2em 0.2em 0; font-variant-numeric: tabular-nums"


@dataclass(frozen=True, slots=True)
class SetFigures:
    """The sets of the test questions by one score.

    ``members`` (m, k) says which options each set holds, and ``test`` (m,) which rows of the input the questions are:
    those that test, and those without a label. ``names`` (k,) are the classes' names if there are any. ``figures`` has
    all figures of the sets of questions with a label, with their intervals; coverage is NaN if there are none.
    ``caveats`` say what a reader must know.
    """

    alpha: float
    score: str
    members: BoolArray
    test: IntArray
    test_questions: int
    figures: ScoreReport
    caveats: Caveats = ()
    names: tuple[Any, ...] = ()
    new: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    by: str = "all"
    formed: FormedSets | None = None
    run: Evaluation | None = field(default=None, repr=False)

    @property
    def n_calibration(self) -> int:
        """How many questions calibrate, without those on which a score was tuned."""
        return self.figures.n_calibration

    @property
    def sets(self) -> list[tuple[Any, ...]]:
        """The options in each set: the names of the classes if they have names, otherwise counted from 0."""
        names = self.names or tuple(range(self.members.shape[1]))
        row, option = np.nonzero(self.members)
        options = [names[j] for j in option.tolist()]
        ends = np.searchsorted(row, np.arange(len(self.members) + 1)).tolist()
        return [tuple(options[start:end]) for start, end in itertools.pairwise(ends)]

    @property
    def p_values(self) -> FloatArray:
        """The p-value of each option, (m, k): it is in the set at alpha if and only if alpha is smaller. NaN for an
        option that a question lacks."""
        if self.formed is None or self.run is None:
            raise InputError("these sets have no scores, so they have no p-values; make them with hedge.sets")
        return option_p_values(self.run, self.formed, by=self.by)

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
        """The largest score with which an option is in the set; NaN if classes or groups have their own
        (``thresholds``). Scores are rounded to 12 decimals before they are compared with it, so that ties count."""
        return self.figures.threshold

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold of each class or group, by its name; of ``all`` if they share one."""
        return self.figures.thresholds

    @property
    def frame(self) -> pd.DataFrame:
        """The figures as one row."""
        return frames.score_rows(self.alpha, {self.score: self.figures})

    @property
    def _sides(self) -> str:
        m, questions = len(self.test) - len(self.new), self.test_questions
        tested = f"{m:,} test" if m == questions else f"{counted(m, questions)} test"
        new = f", {len(self.new):,} without a label" if len(self.new) else ""
        return f"{self.n_calibration:,} questions calibrate, {tested}{new}"

    @property
    def _strata(self) -> str:
        return "" if self.by == "all" else f" with a threshold for each {self.by}"

    def __repr__(self) -> str:
        return (
            f"{SCORES[self.score].title} sets at alpha {alpha_text(self.alpha)}{self._strata}: coverage "
            f"{shown(self.coverage)}, mean set size {self.mean_set_size:.3f}, threshold "
            f"{threshold_text(self.threshold, digits=3)}; {self._sides}{_below(self.caveats)}"
        )

    def _repr_html_(self) -> str:
        head = f"Sets at alpha {alpha_text(self.alpha)}{self._strata}: {self._sides}"
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
        figures = self.figures
        lines = [f"{title} {value}" for title, value in _run_lines(figures)]
        sets = [
            f"{SCORES[name].title}: coverage {score.coverage:.3f}, mean set size {score.mean_set_size:.3f}"
            for name, score in figures.scores.items()
        ]
        return "\n".join([f"{self.title}, alpha {alpha_text(figures.alpha)}", *lines, *sets]) + _below(figures.caveats)

    def _repr_html_(self) -> str:
        figures = self.figures
        counts = sides(figures.n_calibration, figures.n_test, figures.test_questions)
        head = f"{self.title}, alpha {alpha_text(figures.alpha)}: {counts}"
        notes = [*figures.notes, *(note for score in figures.scores.values() for note in score.notes)]
        return _page(head, _run_lines(figures), figures.scores, tuple(dict.fromkeys(notes)))


Figures = TypeVar("Figures", SetFigures, RunFigures)


class ByAlpha(tuple[Figures, ...]):
    """Sets or reports at several alphas, in their order."""

    __slots__ = ()

    @property
    def frame(self) -> pd.DataFrame:
        """The figures, a row for each alpha and score."""
        return pd.concat([figures.frame for figures in self], ignore_index=True)

    def __repr__(self) -> str:
        return "\n".join(repr(figures) for figures in self)

    def _repr_html_(self) -> str:
        return "".join(figures._repr_html_() for figures in self)


def sets(
    probabilities: Any,
    labels: Any,
    *,
    alpha: Any = 0.1,
    score: str = "lac",
    calibration: Split = 0.5,
    by: Any = "all",
    classes: Any = None,
    values: str = "probabilities",
    parameters: Any = None,
    clusters: Any = None,
    ordered: bool = False,
    seed: int = 0,
    empty: str = "allow",
) -> Any:
    """The prediction sets of probabilities (n, k) and labels (n,), of 2 to 1,000 classes: :class:`SetFigures`, or one
    for each alpha of a list (:class:`ByAlpha`).

    ``probabilities`` are an array, a tensor, a data frame or a list; one column has those of class 1. ``values`` is
    ``logits`` if they are logits or log-probabilities, and ``counts`` if they count a model's picks. ``labels`` count
    from 0 or are names of ``classes`` (k,), which name the columns; a data frame's columns have names of their own.
    Rows whose label is missing (None, NaN, -1 or an empty text) get a set and count in no figure.

    ``calibration`` is the share of questions that calibrate (drawn with ``seed``), their row numbers, or a mask. The
    sets are those of all other questions. ``by`` is ``all``, ``class``, or an array (n,) of groups: then each class or
    group has a threshold of its own. ``parameters`` are your own weight λ and number of free ranks of RAPS or SAPS, as
    ``{"weight": 0.01, "free_ranks": 5}``. ``clusters`` (n,) number or name the question of each row, if rows repeat
    questions or belong together: one random row of each calibrates, and each counts as one in the intervals. With
    ``ordered``, the columns are ordered levels, as the score ``ordinal-aps`` needs. ``empty`` is ``allow`` or ``top1``.
    Raises :class:`~core.errors.InputError` if these are no probabilities, or for an unknown score or an invalid alpha.
    """
    at, several = alphas(alpha)
    score, own = score_named(score).name, parameters_of(parameters, (score,))
    check_empty(empty)
    strata, groups = strata_of(by, arrays=True)
    run = of_arrays(
        probabilities,
        labels,
        calibration=calibration,
        clusters=clusters,
        groups=groups,
        classes=classes,
        values=values,
        ordered=ordered,
        seed=seed,
        name=ARRAYS,
    )
    new = new_rows(run)
    rows = np.union1d(run.test, new)
    whole = replace(run, test=rows)
    formed = form(whole, score, at[0], empty=empty, by=strata, parameters=own)
    tests = np.flatnonzero(np.isin(rows, run.test))
    caveats, questions = of_run(run) if len(tests) else run.recorded, questions_of(run, run.test)
    names = given_names(probabilities, classes, labels, run.k)
    per_alpha = []
    for level in at:
        formed = at_alpha(whole, formed, level, empty=empty, by=strata)
        per_alpha.append(
            SetFigures(
                alpha=float(level / THOUSAND),
                score=score,
                members=formed.members,
                test=rows,
                test_questions=questions,
                figures=score_report(run, of_rows(formed, tests) if len(new) else formed, level, empty=empty, by=strata)
                if len(tests)
                else untested(whole, formed, level, by=strata),
                caveats=caveats,
                names=names,
                new=new,
                by=strata,
                formed=replace(formed, parts=None),
                run=whole,
            )
        )
    return ByAlpha(per_alpha) if several else per_alpha[0]


def report(
    run: Any,
    labels: Any = None,
    *,
    alpha: Any = 0.1,
    scores: Sequence[str] = DEFAULT_SCORES,
    calibration: Split = 0.5,
    by: Any = "all",
    classes: Any = None,
    values: str = "probabilities",
    parameters: Any = None,
    clusters: Any = None,
    ordered: bool = False,
    seed: int = 0,
    empty: str = "allow",
) -> Any:
    """The report of a run, named by its id, or of probabilities (n, k) with labels (n,), as :func:`sets` takes them:
    :class:`RunFigures`, or one for each alpha of a list (:class:`ByAlpha`).

    All arguments mean what they mean for :func:`sets`. A run has its own labels, classes, split and clusters, and its
    subjects are groups with ``by="group"``. Rows without a label are left out. Raises
    :class:`~core.errors.InputError` as :func:`sets` does, and for a run that is not there.
    """
    at, several = alphas(alpha)
    names = score_names(scores)
    own = parameters_of(parameters, names)
    check_empty(empty)
    strata, groups = strata_of(by, arrays=not isinstance(run, str))
    run_evaluation = evaluation(
        run,
        labels,
        calibration=calibration,
        clusters=clusters,
        seed=seed,
        groups=groups,
        classes=classes,
        values=values,
        ordered=ordered,
    )
    title = title_of(run_evaluation)
    reports = [
        RunFigures(title, figures_of(run_evaluation, level, scores=names, empty=empty, by=strata, parameters=own))
        for level in at
    ]
    return ByAlpha(reports) if several else reports[0]


def alphas(alpha: Any) -> tuple[list[Alpha], bool]:
    """The alphas in thousandths, and whether there is a list of them."""
    if isinstance(alpha, (str, bytes, dict)) or not isinstance(alpha, Iterable) or getattr(alpha, "ndim", 1) == 0:
        return [exact_alpha(alpha)], False
    given = list(itertools.islice(alpha, MOST_ALPHAS + 1))
    if not 1 <= len(given) <= MOST_ALPHAS:
        raise InputError(f"a list of alphas has from 1 to {MOST_ALPHAS} of them, such as [0.05, 0.1], got {len(given)}")
    return [exact_alpha(level) for level in given], True


def strata_of(by: Any, *, arrays: bool) -> tuple[str, Any]:
    """Which questions share a threshold, and the groups of arrays."""
    if not isinstance(by, str):
        if by is None or not arrays:
            rule = "all, class, or an array with the group of each row" if arrays else "all, class or group"
            raise InputError(f"by must be {rule}, got {shown_value(by)} ({type(by).__name__})")
        return "group", by
    if arrays and by == "group":
        raise InputError("by='group' is for runs, which have subjects; give by= an array with the group of each row")
    return check_by(by), None


def parameters_of(given: Any, scores: Sequence[str]) -> Parameters | None:
    """A person's own parameters of scores. Raises :class:`~core.errors.InputError` for unknown ones, and if none of
    the scores has them."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not given or not set(given) <= {"weight", "free_ranks"}:
        raise InputError(
            f"parameters must be a dict with weight or free_ranks, as {{'weight': 0.01, 'free_ranks': 5}}, got "
            f"{shown_value(given)}"
        )
    if not any(SCORES[name].tuned for name in scores):
        tuned = ", ".join(name for name, score in SCORES.items() if score.tuned)
        raise InputError(f"{', '.join(scores)} has no parameters; {tuned} have")
    weight, ranks = (number(given.get(name, default), name) for name, default in asdict(UNTUNED).items())
    if not ranks.is_integer():
        raise InputError(f"the number of free ranks must be a whole number, got {ranks:g}")
    return Parameters(weight, int(ranks))


def of_rows(formed: FormedSets, rows: IntArray) -> FormedSets:
    """The sets of some of the test questions."""
    parts = formed.parts and (formed.parts[0], (formed.parts[1][0][rows], formed.parts[1][1][rows]))
    return replace(formed, test_scores=formed.test_scores[rows], members=formed.members[rows], parts=parts)


def untested(run: Evaluation, formed: FormedSets, alpha: Alpha, *, by: str) -> ScoreReport:
    """The figures of sets of rows without a label: sizes and thresholds, and NaN for all that needs labels."""
    sizes, nothing = formed.members.sum(axis=1), (math.nan, math.nan)
    tuned, n = formed.tuned, len(formed.tuned.calibration)
    has_parameters = SCORES[formed.name].tuned
    message = full_set_message(n, alpha) if by == "all" else ""
    return ScoreReport(
        threshold=formed.threshold,
        coverage=math.nan,
        coverage_band=nothing,
        p_value=math.nan,
        mean_set_size=float(sizes.mean()),
        mean_set_size_interval=nothing,
        empty_rate=float((sizes == 0).mean()),
        uacc=math.nan,
        uacc_interval=nothing,
        sizes=tuple(np.bincount(sizes, minlength=run.k + 1).tolist()),
        by_size=(),
        thresholds=formed.thresholds,
        strata=(),
        n_calibration=n,
        parameters=asdict(tuned.parameters) if has_parameters else None,
        tuned_on=len(tuned.rows) if has_parameters else None,
        notes=(*([message] if message else []), *([tuning_note(formed.name, tuned, by=by)] if has_parameters else [])),
    )


def score_names(scores: Any) -> tuple[str, ...]:
    """The names of scores. Raises :class:`~core.errors.InputError` for anything else than a list of names."""
    if isinstance(scores, str) or not isinstance(scores, Iterable):
        raise InputError(f"scores must be a list of names, such as ['lac'], got {shown_value(scores)}")
    return tuple(score_named(name).name for name in scores)


def evaluation(run: Any, labels: Any, **arrays: Any) -> Evaluation:
    """The evaluation of a stored run's id, or of arrays with the arguments of
    :func:`~core.reports.array_evaluation.of_arrays`. Raises :class:`~core.errors.InputError` for a mix of them."""
    if isinstance(run, str):
        for what, given in {"labels": labels, **arrays}.items():
            if (what in ("labels", "clusters", "classes") and given is not None) or (what == "ordered" and given):
                raise InputError(
                    f"run {run} has its own {what}; leave them out, or give probabilities instead of a run"
                )
        return load(run)
    if labels is None:
        raise InputError("probabilities need labels: give the true option of each question, counted from 0")
    loaded = of_arrays(run, labels, name=ARRAYS, **arrays)
    if len(loaded.test) == 0:
        raise InputError("no row with a label tests, so there are no figures; hedge.sets gives the sets of such rows")
    return loaded


def title_of(run: Evaluation) -> str:
    """The name of an evaluation in a notebook: the title of a stored run."""
    return ARRAYS if run.spec.task == ARRAYS else run_title(run.spec, run.bank)


def _below(caveats: Caveats) -> str:
    """The caveats as lines below a text."""
    return "".join(f"\n{MARK} {text}" for text in texts(caveats))


def _run_lines(figures: Report) -> list[tuple[str, str]]:
    return [
        ("Accuracy", f"{figures.accuracy:.3f}"),
        (
            "ECE beyond chance (95%)",
            f"{shown(figures.ece_excess)} ({interval_text(*figures.ece_interval)}); seen {figures.ece:.3f}",
        ),
        ("Brier score", f"{figures.brier:.3f}"),
        ("NLL", shown(figures.nll)),
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
            shown(figures.threshold, 4),
            f"{shown(figures.coverage)} ({' to '.join(shown(end) for end in figures.coverage_band)})",
            f"{figures.mean_set_size:.3f} ({' to '.join(shown(end) for end in figures.mean_set_size_interval)})",
            f"{100 * figures.empty_rate:.1f}%",
            shown(figures.uacc),
        ]
        for name, figures in scores.items()
    ]
    return fragment(TABLES, head=head, lines=lines, titles=titles, rows=rows, notes=notes, style=CELL)
