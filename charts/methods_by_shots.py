"""Ways of asking: one figure of each method, by the number of shots. Altair layers marks and their intervals."""

from typing import Any

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import INTERVALS, MEASURES, tips
from core.reports.titles import shots_title

MARK_HEIGHT = 10
GAP = 8
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
BY_SCORE = ("coverage", "mean_set_size")
SAID = 24
"""Marks that the words for those who do not see the figure name one by one."""


def by_method(rows: pd.DataFrame, measure: str) -> Figure:
    """Methods down, a mark a number of shots with its 95% interval; of accuracy a dashed line for guessing.

    ``rows`` are those of :func:`core.reports.prompting.experiments.figures` of one score.
    """
    title, form = MEASURES[measure]
    low, high = INTERVALS[measure]
    frame = rows.assign(asked=rows["shots"].map(shots_title), low=rows[low], high=rows[high])
    frame = frame[["title", "shots", "asked", "score", measure, "low", "high", "chance", "k", "run"]]
    titles = [shots_title(n) for n in sorted(frame["shots"].unique())]
    sizes = measure == "mean_set_size"
    across: dict[str, Any] = {
        "title": f"{title}, options" if sizes else title,
        "scale": alt.Scale(domain=[0, float(frame["k"].max()) if sizes else 1.0]),
        "axis": alt.Axis(format="~f" if sizes else form, tickCount=run_styles.narrow(3, 6)),
    }
    y = alt.Y(
        "title:N", title=None, sort=None, axis=alt.Axis(labelLimit=240, ticks=False), scale=alt.Scale(paddingInner=0.3)
    )
    meaning = theme.score_meaning(rows["score"].iloc[0]) if measure in BY_SCORE else theme.LAC
    shape = alt.Shape(
        "asked:N",
        sort=titles,
        scale=alt.Scale(domain=titles, range=[SHAPES[i % len(SHAPES)] for i in range(len(titles))]),
        legend=alt.Legend(orient="top", title=None, columns=run_styles.narrow(1, 8), **theme.legend_symbols(meaning))
        if len(titles) > 1
        else None,
    )
    hover = tips(
        ("title", "Asked by"), ("shots", "Shots"), (measure, title, form), ("low", "from", form), ("high", "to", form)
    )
    base = alt.Chart().encode(y, alt.YOffset("asked:N", sort=titles, scale=alt.Scale(paddingOuter=0.5)))
    interval = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(alt.X("low:Q", **across), x2="high")
    marks = base.mark_point(filled=True, size=75, opacity=1)
    marks = marks.encode(alt.X(measure, type="quantitative", **across), shape, tooltip=hover)
    layers = [theme.painted(interval, meaning), theme.painted(marks, meaning)]
    if measure == "accuracy":
        guessing = alt.Chart(pd.DataFrame({"chance": [float(frame["chance"].mean())]}))
        guessing = guessing.mark_rule(strokeDash=[4, 4], strokeWidth=1.5).encode(alt.X("chance:Q", **across))
        layers.insert(0, theme.painted(guessing, theme.TRUTH))
    height = frame["title"].nunique() * (MARK_HEIGHT * len(titles) + GAP) + 80
    chart = alt.layer(*layers, data=frame).properties(height=height)
    clauses = "; ".join(
        f"{row['title']}, {row['asked']}: {row[measure]:.3g}" for row in frame.head(SAID).to_dict("records")
    )
    return Figure(frame, chart, f"{title} by way of asking. {clauses}.", f"prompting-{measure.replace('_', '-')}")
