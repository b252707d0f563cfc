"""Five figures of many runs at once, as parallel coordinates: an axis for each figure and a line for each run.

Altair draws them on a page and in a file.
"""

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips
from charts.run_names import full_names, told_apart

SAID = 24
HEIGHT = 250
LEGEND_ROW = 18
AROUND = 0.16
"""Room above and below the axes for the ends' figures, as a share of an axis."""
FIGURES = {
    "accuracy": ("Accuracy", ".1%"),
    "coverage": ("Coverage", ".1%"),
    "mean_set_size": ("Set size", ".2f"),
    "uacc": ("UAcc", ".2f"),
    "ece": ("ECE", ".3f"),
}
"""From a figure's column to the title of its axis and how it is written."""


def parallel_coordinates(rows: pd.DataFrame) -> Figure:
    """One line per run over one axis per figure, which runs from the smallest of these runs to the largest.

    Colours and dashes tell the runs apart; a click on a name in the legend lets its line alone stand out.
    """
    names = full_names(rows)
    frame = rows[["run", *FIGURES]].assign(name=names).reset_index(drop=True)
    places = _places(frame.assign(short=told_apart(names)))
    titles = [title for title, _ in FIGURES.values()]
    across = alt.Axis(orient="top", labelAngle=0, labelOverlap=False, domain=False, ticks=False, grid=False)
    x = alt.X("figure:N", sort=titles, title=None, axis=across)
    y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[-AROUND, 1 + AROUND]))
    base = alt.Chart().encode(x)
    axes = base.mark_line(strokeWidth=1.5, opacity=0.7).encode(y, detail="figure:N")
    ends = [
        base.transform_filter(f"datum.{end}")
        .transform_aggregate(said="min(said)", place="min(place)", groupby=["figure"])
        .mark_text(fontSize=11, dy=dy)
        .encode(y, text="said:N")
        for end, dy in (("largest", -10), ("smallest", 12))
    ]
    grey = alt.layer(theme.painted(axes, theme.OUT_OF_SET), *(theme.painted(end, theme.TRUTH) for end in ends))
    return Figure(
        frame,
        alt.layer(grey, _lines(base, places, y), data=places)
        .resolve_scale(color="independent", strokeDash="independent")
        .properties(height=HEIGHT + LEGEND_ROW * -(-len(frame) // 2)),
        f"Five figures of each run. {_in_words(frame)}.",
        "parallel-coordinates",
    )


def _lines(base: alt.Chart, places: pd.DataFrame, y: alt.Y) -> alt.LayerChart | alt.FacetChart:
    names = list(dict.fromkeys(places["short"]))
    legend = run_styles.legend(names, narrow_limit=200, symbolSize=500)  # long enough to show a dash
    clicked = alt.selection_point(fields=["short"], bind="legend")
    hover = tips(("name", "Run"), ("figure", "Figure"), ("said", "Value"))
    lines = base.mark_line(strokeWidth=2).encode(
        y,
        alt.Color("short:N", scale=run_styles.color_scale(names), legend=legend),
        alt.StrokeDash("short:N", scale=run_styles.dash_scale(names), legend=legend),
        opacity=alt.condition(clicked, alt.value(1), alt.value(0.12)),
    )
    # A line has one hover for all of its length, so unseen marks on the axes say each value.
    return alt.layer(lines.add_params(clicked), base.mark_point(opacity=0, size=200).encode(y, tooltip=hover))


def _places(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per run and figure: where its value lies between the smallest (0) and the largest (1) of all runs."""
    parts = []
    for column, (title, form) in FIGURES.items():
        values = frame[column]
        low, span = values.min(), values.max() - values.min()
        parts.append(
            pd.DataFrame(
                {
                    "name": frame["name"],
                    "short": frame["short"],
                    "figure": title,
                    "place": (values - low) / span if span > 0 else 0.5,
                    "said": [f"{value:{form}}" for value in values],
                    "smallest": (values == low) & (span > 0),
                    "largest": values == values.max(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _in_words(frame: pd.DataFrame) -> str:
    return "; ".join(
        f"{row['name']}: " + ", ".join(f"{title} {row[column]:.3g}" for column, (title, _) in FIGURES.items())
        for row in frame.head(SAID).to_dict("records")
    )
