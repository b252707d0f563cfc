"""Five figures of many runs at once, as parallel coordinates. Drawn on a page alone, where axes can be brushed."""

from __future__ import annotations

import pandas as pd
from plotly import graph_objects

from charts import theme
from charts.figure import Figure
from charts.run_names import full_names, told_apart

ROW = 26
LETTERS = 18
"""Letters of a run's name beside the first axis. What all names share is left out there, and the rest is cut."""
SEPARATOR = " · "
LETTER_WIDTH = 6
SAID = 24
FIGURES = {
    "accuracy": ("Accuracy", ".1%"),
    "coverage": ("Coverage", ".1%"),
    "mean_set_size": ("Set size", ".2f"),
    "uacc": ("UAcc", ".2f"),
    "ece": ("ECE", ".3f"),
}
"""From a figure's column to the title of its axis and how it is written."""


def parallel_coordinates(rows: pd.DataFrame) -> Figure:
    """One line per run from its name over one axis per figure; dragging along an axis keeps the lines that pass there.

    Each line ends at its run's name, so that colour has nothing to tell.
    """
    names = full_names(rows)
    frame = rows[["run", *FIGURES]].assign(name=names).reset_index(drop=True)
    places, labels = list(range(len(names))), [_cut(name) for name in told_apart(names)]
    text = {"color": theme.PLOTLY_COLORS[theme.TRUTH], "size": 11}
    figure = graph_objects.Figure(
        graph_objects.Parcoords(
            line={"color": theme.PLOTLY_COLORS[theme.LAC]},
            labelfont=text,
            labelangle=-30,  # level titles would cover each other on a phone
            tickfont=text,
            rangefont={**text, "size": 1},
            dimensions=[
                {
                    "label": "",
                    "values": places[::-1],
                    "tickvals": places[::-1],
                    "ticktext": labels,
                    "range": [-0.5, len(names) - 0.5],
                },
                *(
                    {"label": title, "values": frame[column], "tickformat": form}
                    | {"tickvals": sorted({frame[column].min(), frame[column].max()})}
                    for column, (title, form) in FIGURES.items()
                ),
            ],
        )
    )
    margin = {"t": 60, "b": 20, "l": LETTER_WIDTH * max(map(len, labels)) + 10, "r": 20}
    figure.update_layout(theme.plotly_layout(ROW * len(names) + 160, margin=margin))
    said = "; ".join(
        f"{row['name']}: " + ", ".join(f"{title} {row[column]:.3g}" for column, (title, _) in FIGURES.items())
        for row in frame.head(SAID).to_dict("records")
    )
    return Figure(frame, figure, f"Five figures of each run. {said}.", "parallel-coordinates")


def _cut(name: str) -> str:
    """The name in at most :data:`LETTERS` letters, in which every part is still begun: the longest are cut first.

    >>> _cut("pocket-3m-instruct · Summaries")
    'pocket… · Summari…'
    """
    parts = name.split(SEPARATOR)
    room = LETTERS - len(SEPARATOR) * (len(parts) - 1)
    kept = [len(part) for part in parts]
    while sum(kept) > room:
        kept[kept.index(max(kept))] -= 1
    cut = [part if len(part) <= n else f"{part[: n - 1]}…" for part, n in zip(parts, kept, strict=True)]
    return SEPARATOR.join(cut)
