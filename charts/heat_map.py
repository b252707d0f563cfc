"""Heat maps: a figure in each cell and as its shade.

On a page Plotly's, which breaks long names of rows into lines; in a file Altair's, which needs no browser.
"""

import textwrap
from dataclasses import dataclass

import altair as alt
import pandas as pd
from plotly import graph_objects

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
    """The heat map of a frame, in both forms; ``what`` it shows begins the words for those who do not see it."""
    rows = frame.head(SAID).to_dict("records")
    clauses = "; ".join(f"{row[cells.y]}, {row[cells.x]}: {row[cells.value]:.3g}" for row in rows)
    return Figure(frame, _pointed_at(frame, cells), f"{what}: {clauses}.", name, for_file=lambda: _still(frame, cells))


def _pointed_at(frame: pd.DataFrame, cells: Cells) -> graph_objects.Figure:
    """Plotly's form: the shade runs from the page's own colour to blue in both themes, and a hover says the cell."""
    columns, names = (list(dict.fromkeys(frame[field])) for field in (cells.x, cells.y))
    wide = frame.set_index([cells.y, cells.x])[cells.value].unstack().reindex(index=names, columns=columns)
    also = zip(*(frame[field] for field, *_ in cells.more), strict=True) if cells.more else [()] * len(frame)
    pointed_at = dict(zip(zip(frame[cells.y], frame[cells.x], strict=True), also, strict=True))
    custom = [[pointed_at.get((name, column), ()) for column in columns] for name in names]
    more = "".join(f"<br>{title}: %{{customdata[{i}]:{form}}}" for i, (_, title, form) in enumerate(cells.more))
    row_texts = [_broken(name, ROW_LETTERS) for name in told_apart(names)]
    column_texts = [_broken(str(column), COLUMN_LETTERS) for column in columns]
    figure = graph_objects.Figure(
        graph_objects.Heatmap(
            x=list(range(len(columns))),
            y=list(range(len(names))),
            z=wide.to_numpy(),
            customdata=custom if cells.more else None,
            text=[[f"{name}<br>{cells.x_title}: {column}" for column in columns] for name in names],
            texttemplate=f"%{{z:{cells.form}}}",
            textfont={"color": theme.PLOTLY_COLORS[theme.TRUTH], "size": 12},
            hovertemplate=f"%{{text}}<br>{cells.title}: %{{z:{cells.form}}}{more}<extra></extra>",
            hoverongaps=False,
            colorscale=[[0, theme.PLOTLY_PAGE], [1, theme.PLOTLY_COLORS[theme.LAC]]],
            zmin=cells.domain[0],
            zmax=cells.domain[1],
            opacity=theme.SHADE,
            showscale=False,
        )
    )
    lines = max(text.count("<br>") + 1 for text in row_texts)
    height = max(CELL, LINE * lines + 4) * len(names) + AROUND_CELLS + LINE * max(t.count("<br>") for t in column_texts)
    words = {"color": theme.PLOTLY_COLORS[theme.TRUTH]}
    fixed = {
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "tickfont": words,
        "automargin": True,
    }
    figure.update_layout(
        theme.plotly_layout(
            height,
            margin={"t": 10, "b": 10, "l": 10, "r": 10},
            xaxis=fixed
            | {"side": "top", "title": {"text": cells.x_title if cells.x_titled else "", "font": words}}
            | {"tickvals": list(range(len(columns))), "ticktext": column_texts},
            yaxis=fixed | {"autorange": "reversed", "tickvals": list(range(len(names))), "ticktext": row_texts},
        )
    )
    return figure


def _broken(name: str, letters: int) -> str:
    """The name, broken into lines of at most this many letters."""
    return "<br>".join(textwrap.wrap(name, letters, break_on_hyphens=True)) or name


def _still(frame: pd.DataFrame, cells: Cells) -> AltairChart:
    """Altair's form. At its strongest the blue still lets the text be read in the text's colour."""
    columns = frame[cells.x]
    slanted = columns.nunique() > LEVEL_COLUMNS and columns.astype(str).str.len().max() > LEVEL_LETTERS
    across = alt.Axis(labelAngle=-25 if slanted else 0, orient="top", labelLimit=240, labelOverlap=False)
    base = alt.Chart().encode(
        alt.X(cells.x, type="ordinal", title=cells.x_title if cells.x_titled else None, axis=across),
        alt.Y(cells.y, type="nominal", title=None, sort=None, axis=alt.Axis(labelLimit=run_styles.narrow(150, 260))),
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
    size = run_styles.narrow(9, 12) if columns.nunique() > LEVEL_COLUMNS else 12
    texts = base.mark_text(fontSize=size).encode(text=alt.Text(cells.value, type="quantitative", format=cells.form))
    height = CELL * frame[cells.y].nunique() + AROUND_CELLS
    layers = (theme.painted(rects, theme.LAC), theme.painted(texts, theme.TRUTH))
    return alt.layer(*layers, data=frame).properties(height=height)
