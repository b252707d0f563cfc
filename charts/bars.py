"""One figure of each run as bars, one bar per run and score. Altair layers bars and their intervals."""

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import INTERVALS, MEASURES, tips
from charts.run_names import short_names, task_titles
from core.conformal.scores import SCORES

BY_SCORE = ("coverage", "mean_set_size", "uacc")
"""Figures of sets, which each score has of its own."""
AROUND_BARS = 120
"""Pixels of the chart's height for its legend, axis and margins: a single run's bars need room beside them."""


def bars(rows: pd.DataFrame, measure: str) -> Figure:
    """One bar per run and score with its 95% interval, tasks side by side."""
    title, form = MEASURES[measure]
    by_score = measure in BY_SCORE
    methods = rows["score"].map(lambda score: SCORES[score].title)
    frame = rows.assign(name=short_names(rows), task=task_titles(rows), method=methods)
    if not by_score:
        frame = frame.drop_duplicates("run").assign(method=theme.LAC)
    low, high = INTERVALS[measure]
    frame = frame.assign(low=frame[low], high=frame[high])
    frame["place"] = frame["name"] + (" · " + frame["task"] if frame["task"].nunique() > 1 else "")

    most = 1 if form.endswith("%") else float(rows["k"].max()) if measure == "mean_set_size" else None
    scale = alt.Scale(zero=True) if most is None else alt.Scale(domain=[0, most])
    axis = alt.Axis(format=form if form.endswith("%") else "~g")
    y = alt.Y("place:N", title=None, sort=None, axis=alt.Axis(labelLimit=run_styles.narrow(150, 340)))
    order = sorted(frame["method"].unique(), key=lambda title: title != theme.LAC)
    of_score = alt.YOffset("method:N", sort=order)
    legend = alt.Legend(orient="top", title=None, values=order)
    color = alt.Color("method:N", scale=theme.score_scale(rows["score"].unique()), legend=legend if by_score else None)
    hover = tips(("place", "Run"), *([("method", "Score")] if by_score else []), (measure, title, form))
    base = alt.Chart().encode(y, of_score) if by_score else alt.Chart().encode(y)
    bar = base.mark_bar(height=alt.RelativeBandSize(band=0.8))
    bar = bar.encode(alt.X(measure, type="quantitative", title=title, scale=scale, axis=axis), color, tooltip=hover)
    interval = base.mark_rule(strokeWidth=2)
    interval = interval.encode(alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high")
    places = frame["place"].nunique()
    height = (26 * 1.4 if by_score else 22) * places + AROUND_BARS
    chart = alt.layer(bar, theme.painted(interval, theme.TRUTH), data=frame).properties(height=height)
    clauses = "; ".join(
        f"{row['place']} {row['method'] if by_score else ''} {row[measure]:.3g}"
        for row in frame.head(24).to_dict("records")
    )
    return Figure(frame, chart, f"{title}: {clauses}.", f"bars-{measure.replace('_', '-')}")
