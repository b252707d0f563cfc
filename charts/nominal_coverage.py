"""Coverage against target coverage, at every alpha."""

from __future__ import annotations

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips
from charts.reliability_diagram import share_axis

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [3, 5])


def nominal_and_actual(frame: pd.DataFrame) -> Figure:
    """Coverage against target coverage, one line per run and score, on the guarantee's band."""
    shown = frame.assign(method=frame["score"].map(theme.score_meaning))
    names = list(dict.fromkeys(shown["name"]))
    shown = shown.assign(first=shown["name"] == names[0])
    band_score = shown.loc[shown["first"], "score"].iloc[0]
    x, y = share_axis("x", "nominal", "Target coverage, 1 − alpha"), share_axis("y", "coverage", "Coverage")
    band = alt.Chart().transform_filter(f"datum.first && datum.score == '{band_score}'").mark_area(opacity=0.6)
    band = band.encode(x, share_axis("y", "low", "Coverage"), y2="high")
    hover = tips(
        ("name", "Run"),
        ("method", "Score"),
        ("nominal", "Target", ".1%"),
        ("coverage", "Coverage", ".1%"),
        ("low", "Band from", ".1%"),
        ("high", "Band to", ".1%"),
    )
    methods = alt.Legend(title=None, orient="bottom", values=sorted(set(shown["method"])))
    runs = alt.Legend(title=None, orient="top", columns=run_styles.narrow(1, 2), labelLimit=run_styles.narrow(280, 330))
    dashes = alt.Scale(domain=names, range=[DASHES[i % len(DASHES)] for i in range(len(names))])
    lines = (
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(
            x,
            y,
            alt.Color("method:N", scale=theme.COLOR_SCALE, legend=methods),
            alt.StrokeDash("name:N", scale=dashes, legend=runs if len(names) > 1 else None),
            tooltip=hover,
        )
    )
    # A scale of its own: the band's colour has no legend, and would take that of the lines away.
    chart = alt.layer(theme.painted(band, theme.GUARANTEE), lines, data=shown).resolve_scale(color="independent")
    worst = (shown["nominal"] - shown["coverage"]).max()
    short = f"it falls short by {max(worst, 0):.1%} at most"
    said = f"Coverage against target coverage, for {', '.join(names)}; {short}."
    return Figure(shown, chart.properties(height=380), said, "nominal-and-actual-coverage")
