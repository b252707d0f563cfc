"""Published figures, shown next to Hedge's own and marked as published (``assets/published``)."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np
import pandas as pd

from core.errors import InputError
from core.questions import DATA_SETS, POCKET_BANK, finished, short_task
from core.questions.bank_names import FINISHED, task_title
from core.reports.overview.matrix import Column, Matrix
from core.reports.report import Report
from core.reports.run_filter import RunFilter, name_order, task_key
from core.settings import ASSETS


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published table: its file, its title, its source, and a ``note`` for the reader.

    ``shelf`` names the entry of the shelf that has the results of its models (empty: there is none). ``shelf_models``
    maps the models that this entry has to their names there; if it is empty, the entry has all of them under the
    printed names. ``beside`` says whether Overview shows its figures beside runs although no filter names them.
    """

    file: str
    title: str
    printed: str
    note: str
    shelf: str = ""
    beside: bool = True
    shelf_models: Mapping[str, str] = field(default_factory=dict)


SOURCES = {
    "ye-2024": PublishedTable(
        "ye-2024.csv",
        "Ye et al. 2024",
        "arXiv 2401.12794; github.com/smartyfh/LLM-Uncertainty-Bench",
        "Means of three prompting strategies, set size also of LAC and APS, with six options at alpha 0.1.",
        shelf="llm-uncertainty-bench",
    ),
    "bluq": PublishedTable(
        "bluq.csv",
        "BLUQ",
        "the tables of its README",
        "By LAC at alpha 0.1. Most of these runs read the wrong token of padded batches and so seem to guess.",
        shelf="bluq",
        beside=False,
        shelf_models={"Gemma-2-9B-IT": "gemma-2-9b-it", "Phi-2": "phi-2", "StableLM-2-1.6B": "stablelm-2-1.6b"},
    ),
}
"""Every published table by name."""

OPTIONS = 6
ALPHA = 100
"""The published set sizes are those at this alpha, in thousandths."""
OVER_TASKS = "mean of five"
"""The task of rows that hold a mean over all five tasks."""
BANKS = {
    "ye-2024": {task: FINISHED[PurePath(file).stem] for task, file in finished.FILES.items()},
    "bluq": {task: f"BLUQ {DATA_SETS[task]}" for task in finished.FILES},
}
"""Maps a table to the bank of each task's questions."""


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """A model's row on one task in the form in which Ye et al. 2024 print it: accuracy and UAcc in percent, set size in
    options."""

    accuracy: float
    mean_set_size: float
    uacc: float


def as_ye_2024(reports: Sequence[Report]) -> PublishedFigures:
    """The figures of a model's runs on one task, one run for each prompting strategy, summed in the authors' order. The
    mean over strategies is taken first, for LAC and for APS, and then the mean of the two. The order matters if a
    figure lies halfway between two printed values. ``reports`` have ``method="paper"`` and ``empty="top1"``.
    """
    sizes = [np.mean([report.scores[name].mean_set_size for report in reports]) for name in ("lac", "aps")]
    uaccs = [100 * np.mean([report.scores[name].uacc for report in reports]) for name in ("lac", "aps")]
    return PublishedFigures(
        float(100 * np.mean([report.accuracy for report in reports])),
        float((sizes[0] + sizes[1]) / 2),
        float((uaccs[0] + uaccs[1]) / 2),
    )


def published(name: str) -> pd.DataFrame:
    """``model``, ``task``, ``bank``, ``accuracy`` (a share), ``uacc``, ``mean_set_size``, ``k`` and ``source``; NaN if
    nothing is printed.

    Raises :class:`InputError` for an unknown name.
    """
    if name not in SOURCES:
        raise InputError(f"unknown published table {name!r}; choose from {', '.join(SOURCES)}")
    source = SOURCES[name]
    table = pd.read_csv(ASSETS / "published" / source.file)
    uacc = table["uacc"] / 100 if "uacc" in table else np.nan
    bank = table["task"].map(BANKS[name])
    return table.assign(accuracy=table["accuracy"] / 100, uacc=uacc, bank=bank, k=OPTIONS, source=source.title)


# ---------------------------------------------------------------- next to the figures that are computed here


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """The printed figures of a model on one task: ``accuracy`` as a share, ``set_size`` in options of ``k`` (None:
    not printed). ``source`` is a key of :data:`SOURCES`. ``mean_over_tasks`` is the set size where only the mean of all
    tasks is printed.
    """

    source: str
    model: str
    task: str
    bank: str
    accuracy: float
    set_size: float | None
    k: int
    mean_over_tasks: float | None = None

    @property
    def key(self) -> str:
        """The key of the task and its questions, in the form that runs use."""
        return task_key(self.task, self.bank)

    @property
    def data(self) -> str:
        """The data set's name in the files of its results."""
        return next((stem for stem, bank in FINISHED.items() if bank == self.bank), self.task)

    @property
    def shelf_model(self) -> str:
        """The model's name in the shelf's entry of its table; empty if the shelf does not have its results."""
        source = SOURCES[self.source]
        return source.shelf_models.get(self.model, "") if source.shelf_models else self.model if source.shelf else ""


@functools.cache
def _every() -> tuple[PublishedResult, ...]:
    """Every published result on a task."""
    task_rows = []
    for name in SOURCES:
        table = published(name)
        columns = ["model", "task", "bank", "accuracy", "mean_set_size", "k"]
        table_rows: list[tuple[str, str, str, float, float, int]] = list(
            table[columns].itertuples(index=False, name=None)
        )
        over = {model: size for model, task, _, _, size, _ in table_rows if task == OVER_TASKS}
        task_rows += [
            PublishedResult(name, model, task, bank, accuracy, None if math.isnan(size) else size, k, over.get(model))
            for model, task, bank, accuracy, size, k in table_rows
            if task != OVER_TASKS
        ]
    return tuple(task_rows)


def models() -> tuple[str, ...]:
    """The models of all published tables."""
    return tuple(dict.fromkeys(result.model for result in _every()))


def results(active: RunFilter | None = None) -> list[PublishedResult]:
    """The published results that a filter of runs keeps, by model, by source and by what a task asks. A task is kept
    whatever its questions are; they differ from those of the runs unless the bank is the same. The settings of runs
    (prompt, shots, precision) do not filter published results.
    """
    if active is None:
        return list(_every())
    tasks = {key.partition("@")[0] for key in active.tasks}
    return [
        result
        for result in _every()
        if (not active.models or result.model in active.models)
        and (not tasks or result.task in tasks)
        and (not active.sources or result.source in active.sources)
    ]


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A model of a published table, with its result in each column of the matrix (None: there is none)."""

    model: str
    cells: tuple[PublishedResult | None, ...]


@dataclass(frozen=True, slots=True)
class PublishedBlock:
    """The rows of one table. ``banks`` names the questions of each column, empty where the table has none.

    ``same`` says of each column whether its runs were asked the same bank's questions.
    """

    source: str
    banks: tuple[str, ...]
    same: tuple[bool, ...]
    rows: tuple[PublishedRow, ...]


def below(matrix: Matrix, shown: Sequence[PublishedResult]) -> tuple[Matrix, tuple[PublishedBlock, ...]]:
    """The matrix with a column for every task of the published results, and the block of each table.

    A result stands in the column of its questions, or else in the first column in which a run was asked the same kind
    of task with as many options.
    """
    columns = list(matrix.columns)
    places = {}
    for result in shown:
        place = next(
            (i for i, column in enumerate(columns) if (column.key, column.options) == (result.key, result.k)), None
        )
        if place is None:
            alike = (
                i
                for i, column in enumerate(columns)
                if (column.key.partition("@")[0], column.options) == (result.task, result.k)
            )
            place = next(alike, None)
        if place is None:
            columns.append(Column(result.task, task_title(result.task, POCKET_BANK), result.k, 0))
            place = len(columns) - 1
        places[result] = place
    blocks = []
    for source in SOURCES:
        own = [result for result in shown if result.source == source]
        if own:
            blocks.append(_block(source, own, [places[result] for result in own], columns))
    return Matrix(matrix.rows, tuple(columns), matrix.cells), tuple(blocks)


def _block(
    source: str, own: Sequence[PublishedResult], places: Sequence[int], columns: Sequence[Column]
) -> PublishedBlock:
    at = dict(zip(places, own, strict=True))
    by_model: dict[str, dict[int, PublishedResult]] = {}
    for result, place in zip(own, places, strict=True):
        by_model.setdefault(result.model, {})[place] = result
    return PublishedBlock(
        source,
        tuple(at[i].bank if i in at else "" for i in range(len(columns))),
        tuple(i in at and columns[i].key == at[i].key for i in range(len(columns))),
        tuple(
            PublishedRow(model, tuple(by_model[model].get(i) for i in range(len(columns))))
            for model in sorted(by_model, key=name_order)
        ),
    )


def of_tasks(tasks: Sequence[str], active: RunFilter | None = None) -> list[list[PublishedResult]]:
    """The published results that a filter keeps on these tasks, in groups of one table and one task each."""
    names = {short_task(task) for task in tasks}
    groups: dict[tuple[str, str], list[PublishedResult]] = {}
    for result in results(active):
        if result.task in names:
            groups.setdefault((result.source, result.task), []).append(result)
    return list(groups.values())
