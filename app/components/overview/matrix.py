"""Models × tasks as a table of links: each cell shows a run's mean set size and opens the run in the Alpha lab."""

from __future__ import annotations

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
from core.questions.bank_names import task_title
from core.reports.caveats import MARK
from core.reports.overview.matrix import Cell, Column, Matrix, Row, shade
from core.reports.overview.published import SOURCES, PublishedBlock, PublishedResult
from core.reports.repeated import tested
from core.reports.titles import CLASSES_TITLE, differences
from core.runs.spec import RunSpec

OPENS_SHELF = "Opens the shelf, from which its results can be brought in"


def matrix_data(
    found: Matrix,
    blocks: Sequence[PublishedBlock],
    specs: Mapping[str, RunSpec],
    filtered: str,
    view: OverviewView,
) -> dict[str, Any]:
    """What the component shows: the matrix with its key, and the ``blocks`` of published figures below it.
    ``filtered`` says in words which runs it holds."""
    score = SCORES[view.score].title
    cells = [found.cells.get((i, j)) for i in range(len(found.rows)) for j in range(len(found.columns))]
    short = any(cell and cell.too_few_covered for cell in cells)
    marks = ["! coverage is too low to be chance, corrected for the number of cells"] * short
    marks += [f"{MARK} the run has caveats, which its hover shows"] * any(cell and cell.caveats for cell in cells)
    return {
        "caption": f"Mean set size by {score}, and accuracy, of each model on each task",
        "corner": {"title": "Options in a set, on average", "below": filtered},
        "meaning": score_meaning(view.score).lower(),
        "columns": [{"title": column.title, "below": _of_column(column)} for column in found.columns],
        "rows": [
            {
                "title": row.model,
                "details": _of_row(row, specs[row.run]),
                "cells": [_cell(found, i, j, view) for j in range(len(found.columns))],
            }
            for i, row in enumerate(found.rows)
        ],
        "published": [_block(block, view) for block in blocks],
        "key": {
            "surest": "1 option",
            "least": "all options of the task",
            "smallest": "the smallest sets of the task, as far as the 95% intervals tell" if cells else "",
            "warning": " · ".join(marks),
        },
    }


def _of_column(column: Column) -> str:
    said = counted(column.options, "option")
    return f"{said} · {counted(column.questions, 'question')}" if column.questions else said


def _of_row(row: Row, spec: RunSpec) -> str:
    said = [CLASSES_TITLE] if row.classes else differences(spec)
    return " · ".join([*said, *["yours"] * row.own])


def _cell(found: Matrix, i: int, j: int, view: OverviewView) -> dict[str, Any] | None:
    cell = found.cells.get((i, j))
    if cell is None:
        return None
    return {
        "target": target(navigation.ALPHA_LAB, state.linked(AlphaLabView, view, run=cell.run)),
        "size": f"{cell.set_size.value:.1f}",
        "right": f"{cell.accuracy.value:.0%} right",
        "shade": cell.shade,
        "smallest": cell.smallest,
        "warning": "!" * cell.too_few_covered + MARK * bool(cell.caveats),
        "said": _lines(cell, f"{found.rows[i].model} on {found.columns[j].title}"),
    }


def _block(block: PublishedBlock, view: OverviewView) -> dict[str, Any]:
    """The rows of one published table."""
    of = SOURCES[block.source]
    own = [one for row in block.rows for one in row.cells if one]
    all_there = all(one.shelf_model for one in own)
    return {
        "title": f"Published by {of.title}, not computed here",
        "note": f"{of.note} Alpha and the score above do not change these figures.",
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
            {
                "title": row.model,
                "details": _over_tasks(row.cells),
                "cells": [_published_cell(one, view, said=not all_there) for one in row.cells],
            }
            for row in block.rows
        ],
    }


def _over_tasks(cells: Sequence[PublishedResult | None]) -> str:
    mean = next((one.mean_over_tasks for one in cells if one), None)
    return "" if mean is None else f"{mean:.2f} options over all tasks"


def _published_cell(one: PublishedResult | None, view: OverviewView, *, said: bool) -> dict[str, Any] | None:
    """The cell of a published result. With ``said``, its own hover says that it opens the shelf, if it does."""
    if one is None:
        return None
    size = "Its set size on this task is not printed"
    if one.set_size is not None:
        size = f"Mean set size {one.set_size:.2f} of {one.k} options"
    lines = [
        f"{one.model} on {task_title(one.task, one.bank)}",
        size,
        f"Accuracy {_percent(one.accuracy)}",
    ]
    if said and one.shelf_model:
        lines.append(OPENS_SHELF)
    shelf = SOURCES[one.source].shelf
    address = state.linked(DataView, view, shelf=shelf, shelf_model=one.shelf_model, shelf_data=one.data)
    return {
        "target": target(navigation.DATA, address) if one.shelf_model else None,
        "size": "" if one.set_size is None else f"{one.set_size:.1f}",
        "right": f"{one.accuracy:.0%} right",
        "shade": 0.0 if one.set_size is None else shade(one.set_size, one.k),
        "said": lines,
    }


def _lines(cell: Cell, title: str) -> list[str]:
    """The lines of a cell's hover."""
    low, high = cell.coverage_band
    lines = [
        title,
        f"Mean set size {cell.set_size.value:.2f} of {cell.options} options ({_ends(cell.set_size, '.2f')})",
        f"Accuracy {_percent(cell.accuracy.value)} ({_percent(cell.accuracy.low)} to {_percent(cell.accuracy.high)})",
        f"Coverage {_percent(cell.coverage)}, expected between {_percent(low)} and {_percent(high)}",
        tested(cell.n_test, cell.test_questions).capitalize(),
    ]
    if cell.too_few_covered:
        lines.append("Its coverage is too low to be chance, corrected for the number of cells")
    return [*lines, *[cell.caveats] * bool(cell.caveats), "Opens in the Alpha lab"]


def _ends(of: Estimate, form: str) -> str:
    return f"{of.low:{form}} to {of.high:{form}}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
