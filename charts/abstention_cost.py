"""The cost of a question at each alpha if the model may abstain. Altair draws lines on a page and in a file."""

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure

LINES = {"cost": "mean cost", "answered": "answered", "accuracy": "right among answered"}
"""From a column to the name of its line."""


def abstention_cost(frame: pd.DataFrame) -> Figure:
    """A line each for ``cost``, ``answered`` and ``accuracy`` of one run against ``alpha``."""
    lines = frame.melt(id_vars="alpha", value_vars=list(LINES), var_name="what", value_name="value").dropna()
    lines["what"] = lines["what"].map(LINES)
    dash = alt.StrokeDash(
        "what:N",
        scale=alt.Scale(domain=list(LINES.values()), range=[[1, 0], [6, 3], [2, 2]]),
        legend=alt.Legend(
            orient="top",
            title=None,
            symbolStrokeWidth=2,
            **theme.legend_symbols(theme.LAC, lines=True),
            columns=run_styles.narrow(1, 3),
        ),
    )
    chart = (
        alt.Chart(lines)
        .mark_line(strokeWidth=2)
        .encode(
            alt.X("alpha:Q", title="alpha", scale=alt.Scale(domain=[0, 1])),
            alt.Y("value:Q", title="Share of questions, or cost", scale=alt.Scale(domain=[0, 1])),
            dash,
        )
        .properties(height=320)
    )
    best = frame.iloc[int(frame["cost"].argmin())]
    sentence = f"The cost is lowest at alpha {best['alpha']:g}: {best['cost']:.3f} per question."
    return Figure(lines, theme.painted(chart, theme.LAC), sentence, "abstention-cost")
