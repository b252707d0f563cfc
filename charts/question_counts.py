"""What numbers of questions show: the band of coverage and the smallest difference. Altair layers lines."""

import math

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import Figure
from charts.measures import tips

HEIGHT = 300
LINES = {"width": "width of the band of coverage", "accuracy": "smallest difference in accuracy"}
"""From a column to the name of its line."""


def question_counts(frame: pd.DataFrame, chosen: int) -> Figure:
    """The lines of :func:`core.reports.question_plan.curve`, with a mark at the ``chosen`` number of questions.

    A rule under the pointer reads all figures at the nearest number.
    """
    lines = frame.melt(["questions"], list(LINES), "what", "value").dropna()
    lines["what"] = lines["what"].map(LINES)
    x = alt.X(
        "questions:Q",
        title="Questions",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~s", grid=False, tickCount=6),
    )
    y = alt.Y("value:Q", title="Share of questions", axis=alt.Axis(format=".0%"), scale=alt.Scale(domainMin=0))
    names = list(LINES.values())
    legend = alt.Legend(orient="top", title=None, columns=1, labelLimit=330, symbolStrokeWidth=2)
    dash = alt.StrokeDash("what:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 3]]), legend=legend)
    drawn = theme.painted(alt.Chart(lines).mark_line(strokeWidth=2), theme.LAC).encode(x, y, dash)
    here = alt.Chart(lines).transform_filter(f"datum.questions == {chosen}").mark_point(filled=True, size=60, opacity=1)
    pointed = alt.selection_point(
        name="pointed", fields=["questions"], nearest=True, on="pointerover", clear="pointerout", empty=False
    )
    hover = tips(
        ("questions", "Questions", ",d"),
        ("width", "Band of coverage", ".1%"),
        ("accuracy", "Difference in accuracy", ".1%"),
        *([] if frame["set_size"].isna().all() else [("set_size", "Difference in set size", ".2f")]),
    )
    rule = (
        alt.Chart(frame)
        .mark_rule(color=theme.ink())
        .encode(x, opacity=alt.condition(pointed, alt.value(0.5), alt.value(0)), tooltip=hover)
        .add_params(pointed)
    )
    chart = alt.layer(rule, drawn, theme.painted(here, theme.LAC).encode(x, y)).properties(height=HEIGHT)
    return Figure(frame, chart, _in_words(frame, chosen), "questions")


def _in_words(frame: pd.DataFrame, chosen: int) -> str:
    row = frame[frame["questions"] == chosen].iloc[0]
    shown = [f"{LINES[name]} {row[name]:.1%}" for name in LINES if not math.isnan(row[name])]
    return f"{chosen:,} questions: {'; '.join(shown) or 'too few for a band or a difference'}."
