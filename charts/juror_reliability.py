"""How often jurors are right at each confidence. Altair layers lines and their intervals."""

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips
from charts.reliability_diagram import share_axis
from core.estimates import interval_text

SIDE = 340
RIGHT = "Share of right verdicts"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")


def juror_reliability(bins: pd.DataFrame, scale: str) -> Figure:
    """A line and marks a juror; on the dotted line confidence is the chance of being right."""
    frame = bins[bins["scale"] == scale].drop(columns="scale")
    x, y = share_axis("x", "confidence", "Confidence"), share_axis("y", "right", None)
    hover = tips(
        ("juror", "Juror"),
        ("confidence", "Confidence", ".1%"),
        ("right", RIGHT, ".1%"),
        ("right_low", "from", ".1%"),
        ("right_high", "to", ".1%"),
        ("n", "Verdicts in a split", ".1f"),
    )
    ideal = alt.Chart(pd.DataFrame({"confidence": [0, 1], "right": [0, 1]}))
    ideal = ideal.mark_line(strokeDash=[3, 4], strokeWidth=1.5, color=theme.ink(theme.TRUTH)).encode(x, y)
    names = sorted(set(frame["juror"]))
    legend = alt.Legend(
        orient="top", title=None, values=names, columns=run_styles.narrow(2, 3), labelLimit=run_styles.narrow(130, 300)
    )
    shapes = run_styles.scale(names, [SHAPES[i % len(SHAPES)] for i in range(len(names))])
    base = alt.Chart().encode(x, alt.Color("juror:N", scale=run_styles.color_scale(names), legend=legend))
    lines = base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y)
    interval = base.mark_rule(strokeWidth=1.5, opacity=0.5)
    interval = interval.encode(share_axis("y", "right_low", None), y2="right_high")
    marks = base.mark_point(filled=True, opacity=0.9)
    marks = marks.encode(
        y,
        alt.Size("share:Q", scale=alt.Scale(range=[15, 260]), legend=None),
        alt.Shape("juror:N", scale=shapes, legend=legend),
        tooltip=hover,
    )
    known = frame["right_low"].notna().any()
    chart = alt.layer(ideal, lines, *([interval] if known else []), marks, data=frame)
    # Not the axis's title: with one in each layer, the chart keeps its width when the window becomes narrower.
    chart = chart.properties(
        height=SIDE, title=alt.TitleParams(RIGHT, anchor="start", fontSize=12, fontWeight="normal")
    )
    clauses = "; ".join(
        f"{row['juror']} at {row['confidence']:.0%}: right {row['right']:.0%} "
        f"({interval_text(row['right_low'], row['right_high'], form='.0%')})"
        for row in frame.head(30).to_dict("records")
    )
    return Figure(
        frame, chart, f"Share of right verdicts at each confidence: {clauses}.", f"jurors-reliability-{scale}"
    )
