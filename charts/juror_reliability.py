"""How often jurors are right at each confidence."""

from __future__ import annotations

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips

SIDE = 300


def juror_reliability(bins: pd.DataFrame, scale: str) -> Figure:
    """A line and marks a juror; on the dotted line confidence is the chance of being right."""
    frame = bins[bins["scale"] == scale].drop(columns="scale")
    share = alt.Scale(domain=[0, 1])
    x, y = alt.X("confidence:Q", title="confidence", scale=share), alt.Y("right:Q", title="right", scale=share)
    hover = tips(
        ("juror", "Juror"),
        ("confidence", "Confidence", ".2f"),
        ("right", "Share of right verdicts", ".1%"),
        ("right_low", "from", ".1%"),
        ("right_high", "to", ".1%"),
        ("n", "Verdicts in a split", ".1f"),
    )
    ideal = alt.Chart(pd.DataFrame({"confidence": [0, 1], "right": [0, 1]}))
    ideal = ideal.mark_line(strokeDash=[3, 4], strokeWidth=1.5).encode(x, y)
    lines = alt.Chart().mark_line(strokeWidth=1.5, opacity=0.6).encode(x, y, detail="juror:N")
    interval = alt.Chart().mark_rule(strokeWidth=1.5, opacity=0.5)
    interval = interval.encode(x, alt.Y("right_low:Q", title="right", scale=share), y2="right_high", detail="juror:N")
    legend = alt.Legend(
        orient="top",
        title=None,
        columns=run_styles.narrow(1, 3, below=run_styles.HALF_NARROW),
        labelLimit=300,
        **theme.legend_symbols(theme.LAC),
    )
    marks = alt.Chart().mark_point(filled=True, opacity=0.9)
    marks = marks.encode(
        x,
        y,
        alt.Size("share:Q", scale=alt.Scale(range=[15, 260]), legend=None),
        alt.Shape("juror:N", legend=legend),
        tooltip=hover,
    )
    chart = alt.layer(
        theme.painted(ideal, theme.TRUTH),
        *(theme.painted(one, theme.LAC) for one in (lines, interval, marks)),
        data=frame,
    ).properties(height=SIDE)
    said = "; ".join(
        f"{row['juror']} at {row['confidence']:.2f}: right {row['right']:.0%} ({row['right_low']:.0%} to "
        f"{row['right_high']:.0%})"
        for row in frame.head(30).to_dict("records")
    )
    return Figure(frame, chart, f"Share of right verdicts at each confidence: {said}.", f"jurors-reliability-{scale}")
