"""The loss of each step of a juror's tuning. Altair draws the line on a page and in a file."""

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import Figure


def tuning_loss(frame: pd.DataFrame) -> Figure:
    """A line over ``step`` and ``loss``."""
    chart = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.5)
        .encode(
            alt.X("step:Q", title="step", axis=alt.Axis(tickMinStep=1, format="d")),
            alt.Y("loss:Q", title="loss", scale=alt.Scale(zero=True)),
        )
        .properties(height=120)
    )
    first, last = float(frame["loss"].iloc[0]), float(frame["loss"].iloc[-1])
    sentence = f"Loss from {first:.2f} to {last:.2f} in {len(frame)} steps."
    return Figure(frame, theme.painted(chart, theme.LAC), sentence, "juror-losses")
