"""Models × tasks as a table: each cell shows a run's mean set size and opens the run in the Alpha lab."""

from collections.abc import Mapping, Sequence
from typing import Any

from app import navigation, state
from app.components.overview.first_page import target
from app.components.shared.published_switch import source_lines
from app.formatting import counted
from app.state.alpha_lab import AlphaLabView
from app.state.data import DataView
from app.state.overview import OverviewView
from charts.palette import score_meaning
from core.conformal.scores import SCORES
from core.estimates import Estimate
from core.models.model_sources import ships
from core.questions.bank_names import task_title
from core.reports.caveats import MARK
from core.reports.overview.matrix import LEAST_EMPTY, Cell, Column, Matrix, Row, shade
from core.reports.overview.published import SOURCES, PublishedBlock, PublishedResult
from core.reports.repeated import tested
from core.reports.titles import CLASSES_TITLE, differences
from core.reports.toy_models import TOY
from core.runs.spec import RunSpec

OPENS_SHELF = "Opens the shelf, from which its results can be imported"


def matrix_data(
    matrix: Matrix,
    blocks: Sequence[PublishedBlock],
    specs: Mapping[str, RunSpec],
    filtered: str,
    view: OverviewView,
) -> dict[str, Any]:
    """What the component shows: the matrix with its key, and the ``blocks`` of published figures below it.
    ``filtered`` says in words which runs it holds."""
    score = SCORES[view.score].title
    cells = [matrix.cells.get((i, j)) for i in range(len(matrix.rows)) for j in range(len(matrix.columns))]
    short = any(cell and cell.too_few_covered for cell in cells)
    marks = ["! coverage is too low to be chance, corrected for the number of cells"] * short
    marks += [f"{MARK} the run has caveats, which its hover shows"] * any(cell and cell.caveats for cell in cells)
    return {
        "caption": f"Mean set size by {score}, and accuracy, of each model on each task",
        "corner": {"title": "Options in a set, on average", "below": filtered},
        "meaning": score_meaning(view.score).lower(),
        "columns": [{"title": column.title, "below": _of_column(column)} for column in matrix.columns],
        "rows": [
            {
                "title": row.model,
                "target": _opened(row.run, view),
                "details": _of_row(row, specs[row.run]),
                "cells": [_cell(matrix, i, j, view) for j in range(len(matrix.columns))],
            }
            for i, row in enumerate(matrix.rows)
        ],
        "published": [_block(block, view) for block in blocks],
        "key": {
            "most": "1 option",
            "least": "all options of the task",
            "smallest": "the smallest sets of the task, as far as the 95% intervals tell" if cells else "",
            "warning": " · ".join(marks),
        },
    }


def _of_column(column: Column) -> str:
    words = counted(column.options, "option")
    return f"{words} · {counted(column.questions, 'question')}" if column.questions else words


def _of_row(row: Row, spec: RunSpec) -> str:
    words = [CLASSES_TITLE] if row.classes else differences(spec)
    return " · ".join([*[TOY] * ships(spec.model), *words, *["yours"] * row.own])


def _cell(matrix: Matrix, i: int, j: int, view: OverviewView) -> dict[str, Any] | None:
    cell = matrix.cells.get((i, j))
    if cell is None:
        return None
    return {
        "target": _opened(cell.run, view),
        "size": f"{cell.set_size.value:.1f}",
        "right": f"{cell.accuracy.value:.0%} right{_empty(cell)}",
        "shade": cell.shade,
        "smallest": cell.smallest,
        "warning": "!" * cell.too_few_covered + MARK * bool(cell.caveats),
        "said": _lines(cell, f"{matrix.rows[i].model} on {matrix.columns[j].title}"),
    }


def _opened(run: str, view: OverviewView) -> dict[str, Any]:
    return target(navigation.ALPHA_LAB, state.linked(AlphaLabView, view, run=run))


def _block(block: PublishedBlock, view: OverviewView) -> dict[str, Any]:
    """The rows of one published table."""
    source = SOURCES[block.source]
    own = [result for row in block.rows for result in row.cells if result]
    all_there = all(result.shelf_model for result in own)
    return {
        "title": f"Published by {source.title}, not computed here",
        "note": f"{source.note} Alpha and the score do not change these figures.",
        # The lines that the hover of every cell ends with; sent once.
        "says": [
            *source_lines(block.source),
            *[OPENS_SHELF] * all_there,
        ],
        "heads": [
            {"title": bank, "below": ("the same questions" if same else "other questions") if bank else ""}
            for bank, same in zip(block.banks, block.same, strict=True)
        ],
        "rows": [
            {"title": row.model, "details": _over_tasks(row.cells), "target": _first_target(cells), "cells": cells}
            for row in block.rows
            for cells in [[_published_cell(result, view, may_open_shelf=not all_there) for result in row.cells]]
        ],
    }


def _first_target(cells: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    return next((cell["target"] for cell in cells if cell and cell["target"]), None)


def _over_tasks(cells: Sequence[PublishedResult | None]) -> str:
    mean = next((result.mean_over_tasks for result in cells if result), None)
    return "" if mean is None else f"{mean:.2f} options over all tasks"


def _published_cell(
    result: PublishedResult | None, view: OverviewView, *, may_open_shelf: bool
) -> dict[str, Any] | None:
    """The cell of a published result. With ``may_open_shelf``, its hover says that it opens the shelf,
    if it does."""
    if result is None:
        return None
    size = "Its set size on this task is not printed"
    if result.set_size is not None:
        size = f"Mean set size {result.set_size:.2f} of {result.k} options"
    lines = [
        f"{result.model} on {task_title(result.task, result.bank)}",
        size,
        f"Accuracy {_percent(result.accuracy)}",
    ]
    if may_open_shelf and result.shelf_model:
        lines.append(OPENS_SHELF)
    shelf = SOURCES[result.source].shelf
    address = state.linked(DataView, view, shelf=shelf, shelf_model=result.shelf_model, shelf_data=result.data)
    return {
        "target": target(navigation.DATA, address) if result.shelf_model else None,
        "size": "" if result.set_size is None else f"{result.set_size:.1f}",
        "right": f"{result.accuracy:.0%} right",
        "shade": 0.0 if result.set_size is None else shade(result.set_size, result.k),
        "said": lines,
    }


def _empty(cell: Cell) -> str:
    """The share of empty sets, which make the mean size smaller; empty below half a percent."""
    return f", {cell.empty_rate:.0%} empty" if cell.empty_rate >= LEAST_EMPTY else ""


def _lines(cell: Cell, title: str) -> list[str]:
    """The lines of a cell's hover."""
    low, high = cell.coverage_band
    lines = [
        title,
        f"Mean set size {cell.set_size.value:.2f} of {cell.options} options ({_ends(cell.set_size, '.2f')})",
        f"Accuracy {_percent(cell.accuracy.value)} ({_percent(cell.accuracy.low)} to {_percent(cell.accuracy.high)})",
        f"Empty sets {_percent(cell.empty_rate)}",
        f"Coverage {_percent(cell.coverage)}, expected between {_percent(low)} and {_percent(high)}",
        tested(cell.n_test, cell.test_questions).capitalize(),
    ]
    if cell.too_few_covered:
        lines.append("Its coverage is too low to be chance, corrected for the number of cells")
    return [*lines, *[cell.caveats] * bool(cell.caveats), "Opens in the Alpha lab"]


def _ends(estimate: Estimate, form: str) -> str:
    return f"{estimate.low:{form}} to {estimate.high:{form}}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
