"""How narrow the interval of a share gets with more human labels, with each judge and without one."""

import altair as alt
import pandas as pd

from charts import run_styles
from charts.figure import Figure


def label_widths(rows: pd.DataFrame) -> Figure:
    """The width of the 95% interval by the number of labels: ``name``, ``n``, ``width``. Judges differ by colour, then
    by dash."""
    names = list(dict.fromkeys(rows["name"]))
    round_numbers = [digit * 10**power for power in range(1, 6) for digit in (1, 2, 5)]
    axis = alt.Axis(values=[n for n in round_numbers if n <= rows["n"].max()], format=",")
    legend = run_styles.legend(names, narrow_limit=200, symbolSize=500)
    chart = (
        alt.Chart(rows)
        .mark_line(strokeWidth=2)
        .encode(
            alt.X("n:Q", title="Human labels", scale=alt.Scale(type="log", nice=False), axis=axis),
            alt.Y("width:Q", title="Width of the 95% interval", axis=alt.Axis(format=".0%")),
            alt.Color("name:N", legend=legend, scale=run_styles.color_scale(names)),
            alt.StrokeDash("name:N", legend=legend, scale=run_styles.dash_scale(names)),
        )
        .properties(height=260)
    )
    last = rows.groupby("name", sort=False).last()
    clauses = "; ".join(f"{name}: {row['width']:.1%} with {row['n']:,.0f} labels" for name, row in last.iterrows())
    return Figure(rows, chart, f"Width of the interval by the number of labels: {clauses}.", "jury-labels")
