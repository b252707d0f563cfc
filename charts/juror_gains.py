"""The accuracy that each juror adds to a rule. Altair layers bars and their intervals."""

from typing import Any

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips
from core.estimates import interval_text


def juror_gains(table: pd.DataFrame) -> Figure:
    """Bars of what each juror adds to one rule's accuracy, in percentage points; left of 0 it takes away."""
    ends = ["gain_low", "gain_high"]
    frame = table[["juror", "gain", *ends, "accuracy", "without"]].assign(
        points=table["gain"] * 100, points_low=table["gain_low"] * 100, points_high=table["gain_high"] * 100
    )
    known = frame["points_low"].notna().any()
    reach = frame[["points", "points_low", "points_high"]]
    low, high = min(-1.0, float(reach.min().min())), max(1.0, float(reach.max().max()))
    across: dict[str, Any] = {
        "title": ["Accuracy added by the juror,", "percentage points"],
        "axis": alt.Axis(tickCount=run_styles.narrow(5, 10)),
        "scale": alt.Scale(domain=[low, high], nice=True, zero=True),
    }
    hover = tips(
        ("juror", "Juror"),
        ("accuracy", "With all", ".1%"),
        ("without", "Without", ".1%"),
        ("points", "Added (points)", "+.1f"),
        ("points_low", "from", "+.1f"),
        ("points_high", "to", "+.1f"),
    )
    base = alt.Chart().encode(alt.Y("juror:N", title=None, sort=None, axis=alt.Axis(labelLimit=200)), tooltip=hover)
    bars = base.mark_bar(height=alt.RelativeBandSize(band=0.6)).encode(alt.X("points:Q", stack=False, **across))
    interval = base.mark_rule(strokeWidth=2).encode(alt.X("points_low:Q", **across), x2="points_high")
    nothing = alt.Chart().mark_rule(strokeDash=[3, 4]).encode(x=alt.XDatum(0))
    chart = alt.layer(
        theme.painted(bars, theme.LAC),
        *([theme.painted(interval, theme.TRUTH)] if known else []),  # no empty layer, which has no name for a reader
        theme.painted(nothing, theme.TRUTH),
        data=frame,
    ).properties(height=36 * len(frame) + 70)
    clauses = "; ".join(
        f"{row['juror']} {row['points']:+.1f} ({interval_text(row['points_low'], row['points_high'], form='+.1f')})"
        for row in frame.to_dict("records")
    )
    return Figure(frame, chart, f"Percentage points of accuracy that each juror adds: {clauses}.", "jurors-gains")
