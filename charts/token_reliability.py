"""Reliability of token predictions, several models in one figure. Altair layers lines and their intervals."""

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips
from charts.reliability_diagram import share_axis

MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")
MOST = len(MARKS)


def token_reliability(frame: pd.DataFrame) -> Figure:
    """Accuracy against confidence of tokens, a line with marks a model, with the 95% intervals."""
    names = list(dict.fromkeys(frame["name"]))
    x, y = share_axis("x", "confidence", "Confidence"), share_axis("y", "accuracy", "Accuracy")
    legend = run_styles.legend(names)
    color = alt.Color("name:N", scale=run_styles.color_scale(names), legend=legend)
    shape = alt.Shape("name:N", scale=run_styles.scale(names, MARKS[: len(names)]), legend=legend)
    hover = tips(
        ("name", "Model"),
        ("n", "Tokens", ","),
        ("confidence", "Mean confidence", ".1%"),
        ("accuracy", "Accuracy", ".1%"),
        ("consistent_low", "Calibrated: from", ".1%"),
        ("consistent_high", "Calibrated: to", ".1%"),
    )
    ideal = alt.Chart(pd.DataFrame({"confidence": [0, 1], "accuracy": [0, 1]}))
    ideal = ideal.mark_line(strokeDash=[4, 4], opacity=0.6, color=theme.ink(theme.TRUTH)).encode(x, y)
    base = alt.Chart().encode(x, color)
    interval = base.mark_rule(strokeWidth=1.5, opacity=0.5)
    interval = interval.encode(share_axis("y", "accuracy_low", "Accuracy"), y2="accuracy_high")
    # A layer for each line: a scale of dashes would draw the outlines of the legend's marks dashed, too.
    lines = [
        base.transform_filter(alt.FieldEqualPredicate(field="name", equal=name))
        .mark_line(strokeWidth=2, strokeDash=dash)
        .encode(y)
        for name, dash in zip(names, run_styles.DASHES, strict=False)
    ]
    marks = base.mark_point(filled=True, size=80, opacity=1).encode(y, shape, tooltip=hover)
    chart = alt.layer(ideal, interval, *lines, marks, data=frame)
    clauses = "; ".join(f"{name}: {int(frame.loc[frame['name'] == name, 'n'].sum()):,} tokens" for name in names)
    words = f"Reliability of token predictions. {clauses}."
    return Figure(frame, chart.properties(height=420), words, "token-reliability")
