"""Models down, tasks across: the mean set size of each run, and how it compares with the others of its task."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from core.conformal.pvalues import holm
from core.estimates import Estimate
from core.questions.bank_names import task_title
from core.reports.run_filter import DEFAULTS, name_order, task_key, task_order
from core.reports.titles import model_titles
from core.runs.caveats import COLUMN
from core.runs.spec import HOW, RunSpec

SAME_QUESTIONS = ["task", "bank", "questions", "k"]
"""Runs that agree in these columns of an overview frame were tested on the same questions."""
OF_A_TASK = ("task", *HOW)
"""Fields of :class:`RunSpec` in which two runs of one row may differ."""
IN_A_ROW = tuple(each.name for each in fields(RunSpec) if each.name not in OF_A_TASK)
LEAST_EMPTY = 0.005
"""The share of empty sets from which on a mean set size does not stand without it."""
LEVEL = 0.05
"""How often a matrix may mark a cell although every run keeps its guarantee."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A run in the matrix.

    ``set_size`` is the mean number of options in a set, ``options`` the most options of a question, k. ``shade`` says
    how sure the model is: ((k − size) / (k − 1))², which is 1 for one option a set (or fewer) and 0 for all options. So
    tasks with 4 and with 6 options are each shaded on a scale of their own. The square tells small sets apart.

    ``smallest`` says that the run's interval of set size overlaps that of the run with the smallest mean, among the
    runs of this column on the same questions. It is False for a run without rivals, for one whose sets hold every
    option, and for one with ``too_few_covered``. This says that its sets hold the truth less often than the guarantee
    allows, by its p-value with Holm's correction for all cells, at 5%. If every run keeps its guarantee, at most 5% of
    matrices have a cell with this mark. ``empty_rate`` is the share of empty sets, which make the mean size smaller.
    ``caveats`` are those of the run, as text.
    """

    run: str
    set_size: Estimate
    accuracy: Estimate
    coverage: float
    coverage_band: tuple[float, float]
    empty_rate: float
    options: int
    n_test: int
    test_questions: int
    shade: float
    smallest: bool
    too_few_covered: bool
    caveats: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A task. ``questions`` is the number of test questions if they are the same for all runs of the column, otherwise
    0."""

    key: str
    title: str
    options: int
    questions: int


@dataclass(frozen=True, slots=True)
class Row:
    """A model with its settings. ``run`` is the run of the row on the task that the rows are ordered by, or any if it
    has none there. ``own`` says whether none of its runs ships with Hedge, and ``classes`` whether it is a classifier,
    which was not asked."""

    model: str
    run: str
    own: bool
    classes: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """``cells`` maps a row and a column, counted from 0, to the run there. A place without a run is not in it."""

    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cells: dict[tuple[int, int], Cell]


def matrix(
    table: pd.DataFrame, specs: Mapping[str, RunSpec], own: frozenset[str], score: str, *, order: Sequence[str] = ()
) -> Matrix:
    """The matrix of an overview frame with the figures of ``score``.

    ``specs`` maps run ids to specs, ``own`` has the ids of a person's own runs. A row is a model with its settings: two
    runs of one row differ only in their task. ``order`` has the runs on one task, best first: their column stands
    first, and their rows in this order. Below them are the other rows by model, those with default settings first.
    """
    rank = {run: i for i, run in enumerate(order)}
    keys = {run: task_key(task, bank) for run, task, bank in table[["run", "task", "bank"]].itertuples(index=False)}
    places = {run: (keys[run], k) for run, k in table[["run", "k"]].itertuples(index=False)}
    first = {places[run] for run in order}
    columns = sorted(set(places.values()), key=lambda column: (column not in first, _column_order(column)))
    settings = {run: _settings(specs[run]) for run in table["run"]}
    runs_of: dict[Settings, list[str]] = {}
    for run in sorted(settings, key=lambda run: rank.get(run, len(rank))):
        runs_of.setdefault(settings[run], []).append(run)
    rows = sorted(runs_of, key=lambda row: (rank.get(runs_of[row][0], len(rank)), _row_order(row)))
    row_of = {row: i for i, row in enumerate(rows)}
    column_of = {column: i for i, column in enumerate(columns)}
    cells: dict[tuple[int, int], Cell] = {}
    corrected = holm(table[f"{score}_coverage_p"].tolist())
    marked = with_smallest(table.assign(too_few_covered=[p <= LEVEL for p in corrected]), score)
    for record in marked.to_dict("records"):
        place = row_of[settings[record["run"]]], column_of[keys[record["run"]], record["k"]]
        cells.setdefault(place, _cell(record, score))
    names = model_titles({run: specs[run] for run in table["run"]})
    classes = set(table["run"][table["form"] == ""])
    of_rows = [runs_of[row] for row in rows]
    return Matrix(
        tuple(Row(names[runs[0]], runs[0], own.issuperset(runs), classes.issuperset(runs)) for runs in of_rows),
        tuple(_column(table, keys, *place) for place in columns),
        cells,
    )


def with_smallest(table: pd.DataFrame, score: str) -> pd.DataFrame:
    """The frame, which has ``too_few_covered``, with ``smallest``: whether a run's sets are among the smallest on its
    questions (:class:`Cell`)."""
    size = f"{score}_set_size"
    compared = table.groupby(SAME_QUESTIONS)["run"].transform("size") > 1
    fair = table[compared & (table[size] < table["k"]) & ~table["too_few_covered"]].sort_values([size, "run"])
    smallest = pd.Series(False, index=table.index)
    smallest[fair.index] = fair[f"{size}_low"] <= fair.groupby(SAME_QUESTIONS)[f"{size}_high"].transform("first")
    return table.assign(smallest=smallest)


def _cell(row: Mapping[Hashable, Any], score: str) -> Cell:
    size, k = row[f"{score}_set_size"], row["k"]
    return Cell(
        run=row["run"],
        set_size=Estimate(size, row[f"{score}_set_size_low"], row[f"{score}_set_size_high"]),
        accuracy=Estimate(row["accuracy"], row["accuracy_low"], row["accuracy_high"]),
        coverage=row[f"{score}_coverage"],
        coverage_band=(row[f"{score}_coverage_low"], row[f"{score}_coverage_high"]),
        empty_rate=row[f"{score}_empty_rate"],
        options=k,
        n_test=row["n_test"],
        test_questions=row["test_questions"],
        shade=shade(size, k),
        smallest=row["smallest"],
        too_few_covered=row["too_few_covered"],
        caveats=row.get(COLUMN, ""),
    )


def shade(set_size: float, k: int) -> float:
    """How strongly a cell is shaded (:class:`Cell`).

    >>> shade(1.0, 6), shade(6.0, 6)
    (1.0, 0.0)
    """
    return min(1.0, (k - set_size) / (k - 1)) ** 2 if k > 1 else 0.0


Settings = tuple[tuple[str, Any], ...]


def _settings(spec: RunSpec) -> Settings:
    """The settings that two runs of one row share."""
    return tuple((name, getattr(spec, name)) for name in IN_A_ROW)


def _row_order(row: Settings) -> tuple[Any, ...]:
    """Models by name, then the settings nearest to the defaults."""
    settings = dict(row)
    name = RunSpec(model=settings["model"], task="any").model_name
    of_model = ("model", "model_fingerprint")
    changed = [key for key, value in row if key not in of_model and value != getattr(DEFAULTS, key)]
    return name_order(name), len(changed), str(row)


def _column_order(column: tuple[str, int]) -> tuple[tuple[int, str], int]:
    return task_order(column[0]), column[1]


def _column(table: pd.DataFrame, keys: Mapping[str, str], key: str, options: int) -> Column:
    runs = table[(table["run"].map(keys) == key) & (table["k"] == options)]
    first = runs.iloc[0]
    same = runs["questions"].nunique() == 1
    return Column(key, task_title(first["task"], first["bank"]), options, int(first["test_questions"]) if same else 0)


def leads(table: pd.DataFrame, specs: Mapping[str, RunSpec]) -> pd.Series:
    """Which rows of an overview frame represent their model and task: of each the one with the settings nearest to the
    defaults."""
    keys = [task_key(task, bank) for task, bank in table[["task", "bank"]].itertuples(index=False)]
    order = [_row_order(_settings(specs[run]))[1:] for run in table["run"]]
    frame = pd.DataFrame({"model": table["model"], "key": keys, "order": order, "run": table["run"]}, index=table.index)
    ranked = frame.sort_values(["model", "key", "order", "run"], kind="stable")
    return (~ranked.duplicated(["model", "key"])).reindex(table.index)


def by_model_and_task(table: pd.DataFrame, specs: Mapping[str, RunSpec]) -> pd.DataFrame:
    """The frame in the order of the matrix: by model, task and settings."""
    order: Sequence[Any] = [
        (_row_order(_settings(specs[run]))[0], task_order(task_key(task, bank)), _row_order(_settings(specs[run])))
        for run, task, bank in table[["run", "task", "bank"]].itertuples(index=False)
    ]
    return table.iloc[sorted(range(len(order)), key=order.__getitem__)].reset_index(drop=True)
