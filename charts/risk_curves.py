"""Risk against coverage if only the most certain questions are answered. Altair draws lines on a page and in a file."""

import math
from typing import Any

import altair as alt
import pandas as pd

from charts import run_styles
from charts.figure import Figure

LEGEND_ROW = 18


def risk_curves(frame: pd.DataFrame) -> Figure:
    """Error among the most certain questions: ``name``, ``share``, ``risk``. Runs differ by colour, then by dash."""
    names = list(dict.fromkeys(frame["name"]))
    legend = run_styles.legend(names, narrow_limit=200, symbolSize=500)  # long enough to show a dash
    shares: dict[str, Any] = {"scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format=".0%")}
    chart = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2)
        .encode(
            alt.X("share:Q", title="Questions answered, the most certain first", **shares),
            alt.Y("risk:Q", title="Wrong among the answered", **shares),
            alt.Color("name:N", legend=legend, scale=run_styles.color_scale(names)),
            alt.StrokeDash("name:N", legend=legend, scale=run_styles.dash_scale(names)),
        )
        .properties(height=320 + LEGEND_ROW * math.ceil(len(names) / 2))
    )
    sentence = f"Error against the share of questions answered, for {', '.join(names)}."
    return Figure(frame, chart, sentence, "risk-coverage")
