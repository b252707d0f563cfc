"""Heat maps: a figure in each cell and as its shade."""

import textwrap
from dataclasses import dataclass

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import AltairChart, Figure
from charts.measures import MEASURES, tips
from charts.run_names import short_names, task_titles, told_apart

CELL = 34
LINE = 15
"""Pixels of a line of a row's name."""
AROUND_CELLS = 80
LEVEL_COLUMNS = 4
"""Columns of a still heat map whose long names stand level above them; those of more are slanted."""
LEVEL_LETTERS = 8
ROW_LETTERS, COLUMN_LETTERS = 24, 13
"""Letters of a line of a row's and of a column's name: names are broken, not cut, so that a phone shows all of them."""
LINES = "split(datum.label, '\\n')"
"""The lines of a name, in the language of Vega."""
SAID = 24
"""Cells that the words for those who do not see the figure name one by one."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The part of a frame that a heat map shows: the columns ``x``, ``y`` and ``value``, what they are called, and the
    ends of the shade. A hover says ``more`` columns too: each with its title and format. ``x_titled`` writes
    ``x_title`` above the columns, not only into the hover."""

    x: str
    x_title: str
    value: str
    title: str
    form: str
    domain: tuple[float, float] = (0.0, 1.0)
    y: str = "name"
    y_title: str = "Run"
    more: tuple[tuple[str, str, str], ...] = ()
    x_titled: bool = True


def heat_map(rows: pd.DataFrame, measure: str) -> Figure:
    """Runs down, tasks across."""
    title, form = MEASURES[measure]
    frame = rows.assign(name=short_names(rows), task=task_titles(rows))[["name", "task", measure, "run"]]
    frame = frame.groupby(["name", "task"], sort=False)[measure].mean().reset_index()
    top = float(rows["k"].max()) if measure == "mean_set_size" else 1.0
    cells = Cells("task", "Task", measure, title, form, (0.0, top))
    return drawn(frame, cells, f"heat-map-{measure.replace('_', '-')}", f"{title} of each run on each task")


def set_sizes(counts: pd.DataFrame) -> Figure:
    """How often sets have each size: a frame with ``name``, ``size`` and ``share``, runs down and sizes across."""
    cells = Cells("size", "Options in the set", "share", "Share of sets", ".0%")
    return drawn(counts, cells, "set-sizes", "Share of sets of each size")


def drawn(frame: pd.DataFrame, cells: Cells, name: str, what: str) -> Figure:
    """The heat map of a frame; ``what`` it shows begins the words for those who do not see it."""
    rows = frame.head(SAID).to_dict("records")
    clauses = "; ".join(f"{row[cells.y]}, {row[cells.x]}: {row[cells.value]:.3g}" for row in rows)
    return Figure(frame, _chart(frame, cells), f"{what}: {clauses}.", name)


def _chart(frame: pd.DataFrame, cells: Cells) -> AltairChart:
    """The shade runs from the page's own colour to blue. At its strongest it still lets the text be read."""
    names = list(dict.fromkeys(frame[cells.y].astype(str)))
    labels = dict(zip(names, (_broken(name, ROW_LETTERS) for name in told_apart(names)), strict=True))
    columns = list(dict.fromkeys(frame[cells.x].astype(str)))
    slanted = len(columns) > LEVEL_COLUMNS and max(map(len, columns)) > LEVEL_LETTERS
    broken = {column: column if slanted else _broken(column, COLUMN_LETTERS) for column in columns}
    shown = frame.assign(row=frame[cells.y].astype(str).map(labels), column=frame[cells.x].astype(str).map(broken))
    across = alt.Axis(
        labelAngle=-25 if slanted else 0, orient="top", labelLimit=240, labelOverlap=False, labelExpr=LINES
    )
    down = alt.Axis(labelLimit=run_styles.narrow(150, 260), labelExpr=LINES)
    base = alt.Chart().encode(
        alt.X("column", type="ordinal", sort=None, title=cells.x_title if cells.x_titled else None, axis=across),
        alt.Y("row", type="nominal", title=None, sort=None, axis=down),
    )
    strength = alt.FillOpacity(
        cells.value,
        type="quantitative",
        title=cells.title,
        scale=alt.Scale(domain=list(cells.domain), range=[0, theme.SHADE], clamp=True),
        legend=None,
    )
    hover = tips(
        (cells.y, cells.y_title), (cells.x, cells.x_title), (cells.value, cells.title, cells.form), *cells.more
    )
    rects = base.mark_rect().encode(strength, tooltip=hover)
    # In one column of a paper, the shares of seven sizes have 25 units each.
    size = run_styles.narrow(9, 12) if len(columns) > LEVEL_COLUMNS else 12
    texts = base.mark_text(fontSize=size).encode(text=alt.Text(cells.value, type="quantitative", format=cells.form))
    lines = max(label.count("\n") + 1 for label in labels.values())
    height = max(CELL, LINE * lines + 4) * len(names) + AROUND_CELLS
    layers = (theme.painted(rects, theme.LAC), theme.painted(texts, theme.TRUTH))
    return alt.layer(*layers, data=shown).properties(height=height)


def _broken(name: str, letters: int) -> str:
    """The name, broken into lines of at most this many letters."""
    return "\n".join(textwrap.wrap(name, letters, break_on_hyphens=True)) or name
