"""How often sets have each size, a small figure for each run. Altair layers bars and their numbers."""

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import AltairChart, Figure
from charts.reliability_diagram import in_panels

SIDE = 150
SAID = 30
LEAST = 0.005
"""The smallest share that has a number: a smaller one would be 0% in whole percent."""


def sets_by_size(frame: pd.DataFrame, score: str, columns: int) -> Figure:
    """Bars of the share of sets of each size, of a frame with ``name``, ``size`` and ``share``; sets of one option, and
    empty ones, count too."""
    most = float(frame["share"].max())
    scale = alt.Scale(domain=[0, min(1.0, most * 1.12)])
    base = alt.Chart().encode(alt.X("size:O", title="Options in the set", axis=alt.Axis(labelAngle=0)))
    y = alt.Y("share:Q", title="Share of sets", scale=scale, axis=alt.Axis(format=".0%", tickCount=4))
    bars = base.mark_bar(width=alt.RelativeBandSize(band=0.75)).encode(y)
    texts = (
        base.transform_filter(f"datum.share >= {LEAST}")
        .mark_text(dy=-5, fontSize=9)
        .encode(y, text=alt.Text("share:Q", format=".0%"))
    )
    layers = (theme.painted(bars, theme.score_meaning(score)), theme.painted(texts, theme.TRUTH))
    panel: AltairChart = alt.layer(*layers, data=frame).properties(width=SIDE, height=SIDE * 0.75)
    rows = frame.head(SAID).to_dict("records")
    clauses = "; ".join(f"{row['name']}, {row['size']} options: {row['share']:.1%}" for row in rows)
    chart = in_panels(panel, frame["name"], columns) if frame["name"].nunique() > 1 else panel
    return Figure(frame, chart, f"Share of sets of each size: {clauses}.", "sets-by-size")
