"""Models × tasks as a table of links: each cell shows a run's mean set size and opens the run in the Alpha lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import navigation, state
from app.components.overview.first_page import mount, target
from app.formatting import counted
from app.state.alpha_lab import AlphaLabView
from app.state.overview import OverviewView
from core.conformal.scores import SCORES
from core.estimates import Estimate
from core.reports.overview.matrix import Cell, Column, Matrix, Row
from core.reports.titles import differences
from core.runs.spec import RunSpec


def score_color(score: str) -> str:
    """The name of a score's colour in the component's style: LAC has one of its own, all others have that of APS.

    :func:`charts.theme.score_meaning` says the same, but the first paint should not wait for Altair.
    """
    return "lac" if score == "lac" else "aps"


def show_matrix(found: Matrix, specs: Mapping[str, RunSpec], filtered: str, view: OverviewView) -> None:
    """Show the matrix with its key. ``filtered`` says in words which runs it holds."""
    score = SCORES[view.score].title
    cells = [found.cells.get((i, j)) for i in range(len(found.rows)) for j in range(len(found.columns))]
    short = any(cell and cell.too_few_covered for cell in cells)
    mount(
        "matrix",
        caption=f"Mean set size by {score}, and accuracy, of each model on each task",
        corner={"title": "Options in a set, on average", "below": filtered},
        meaning=score_color(view.score),
        columns=[{"title": column.title, "below": _of_column(column)} for column in found.columns],
        rows=[
            {
                "title": row.model,
                "details": _of_row(row, specs[row.run]),
                "cells": [_cell(found, i, j, view) for j in range(len(found.columns))],
            }
            for i, row in enumerate(found.rows)
        ],
        key={
            "surest": "1 option",
            "least": "all options of the task",
            "smallest": "the smallest sets of the task, as far as the 95% intervals tell",
            "warning": "! coverage is too low to be chance, corrected for the number of cells" if short else "",
        },
    )


def _of_column(column: Column) -> str:
    said = counted(column.options, "option")
    return f"{said} · {counted(column.questions, 'question')}" if column.questions else said


def _of_row(row: Row, spec: RunSpec) -> str:
    return " · ".join([*differences(spec), *["yours"] * row.own])


def _cell(found: Matrix, i: int, j: int, view: OverviewView) -> dict[str, Any] | None:
    cell = found.cells.get((i, j))
    if cell is None:
        return None
    return {
        "target": target(navigation.ALPHA_LAB, state.address_of(state.fresh(AlphaLabView, run=cell.run))),
        "size": f"{cell.set_size.value:.1f}",
        "right": f"{cell.accuracy.value:.0%} right",
        "shade": cell.shade,
        "smallest": cell.smallest,
        "warning": "!" if cell.too_few_covered else "",
        "said": _lines(cell, f"{found.rows[i].model} on {found.columns[j].title}"),
    }


def _lines(cell: Cell, title: str) -> list[str]:
    """What a hover says, line by line."""
    low, high = cell.coverage_band
    lines = [
        title,
        f"Mean set size {cell.set_size.value:.2f} of {cell.options} options ({_ends(cell.set_size, '.2f')})",
        f"Accuracy {_percent(cell.accuracy.value)} ({_percent(cell.accuracy.low)} to {_percent(cell.accuracy.high)})",
        f"Coverage {_percent(cell.coverage)}, expected between {_percent(low)} and {_percent(high)}",
        counted(cell.n_test, "test question"),
    ]
    if cell.too_few_covered:
        lines.append("Its coverage is too low to be chance, corrected for the number of cells")
    return [*lines, "Opens in the Alpha lab"]


def _ends(of: Estimate, form: str) -> str:
    return f"{of.low:{form}} to {of.high:{form}}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
