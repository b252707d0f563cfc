"""Mean set size where the top option is right and where it is wrong. Altair layers marks and the lines between them."""

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import Figure
from charts.measures import tips

ROW = 34


def sizes_when_right(frame: pd.DataFrame) -> Figure:
    """Two marks a run and a line between them, of a frame with ``name``, ``right`` and ``wrong``."""
    long = frame.melt(id_vars="name", value_vars=["right", "wrong"], var_name="when", value_name="size")
    base = alt.Chart().encode(
        alt.X(
            "size:Q",
            title="Mean set size, options",
            scale=alt.Scale(zero=False, padding=14),
            axis=alt.Axis(tickCount=6),
        ),
        alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=run_styles.narrow(150, 260))),
    )
    shape = alt.Shape(
        "when:N",
        scale=alt.Scale(domain=["right", "wrong"], range=["circle", "cross"]),
        legend=alt.Legend(orient="top", title="Where the top option is", **theme.legend_symbols(theme.LAC)),
    )
    hover = tips(("name", "Run"), ("when", "Top option"), ("size", "Mean set size", ".2f"))
    between = base.mark_line(strokeWidth=1.5, opacity=0.6).encode(detail="name:N")
    marks = base.mark_point(filled=True, size=120, opacity=1).encode(shape, tooltip=hover)
    layers = (theme.painted(between, theme.TRUTH), theme.painted(marks, theme.LAC))
    chart = alt.layer(*layers, data=long).properties(height=ROW * len(frame) + 90)
    clauses = "; ".join(
        f"{row['name']}: {row['right']:.2f} where right, {row['wrong']:.2f} where wrong"
        for row in frame.to_dict("records")
    )
    return Figure(long, chart, f"Mean set size. {clauses}.", "sizes-when-right")
