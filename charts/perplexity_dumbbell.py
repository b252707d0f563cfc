"""Perplexities as dumbbells: one row per conversation, one mark per prompt. Altair layers marks, lines and names."""

from collections.abc import Mapping

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import Figure
from charts.measures import tips
from charts.prompt_marks import BETWEEN, UNIFORM_TITLE, WIDER, prompt_marks

MEASURES = {
    "perplexity": ("Perplexity", ",.1f"),
    "message_mean": ("Mean of the messages' perplexities", ",.1f"),
    "bits_per_byte": ("Bits per byte", ".3f"),
}
"""From a figure's column to its title and how it is written."""
UNIFORM = {"perplexity": "uniform", "message_mean": "uniform", "bits_per_byte": "uniform_bits_per_byte"}
"""From a figure's column to that of guessing all tokens alike."""
ROW = 30


def dumbbell(table: pd.DataFrame, measure: str, names: Mapping[str, str]) -> Figure:
    """One row per conversation, one mark per prompt, a line between A and B.

    ``table`` is of :func:`core.reports.perplexity.by_conversation`.
    """
    title, form = MEASURES[measure]
    order = list(dict.fromkeys(table["conversation"]))
    scale = alt.Scale(zero=False, nice=True)
    y = alt.Y("conversation:N", title=None, sort=order, axis=alt.Axis(labelLimit=240))
    base = alt.Chart().encode(
        alt.X(measure, type="quantitative", title=title, scale=scale, axis=alt.Axis(tickCount=6)), y
    )
    ends = [name for place, name in names.items() if place != "none"]
    between = base.transform_filter(alt.FieldOneOfPredicate(field="prompt", oneOf=ends))
    between = between.mark_line(strokeWidth=2, color=BETWEEN).encode(detail="conversation:N")
    hover = tips(
        ("conversation", "Conversation"),
        ("prompt", "Prompt"),
        (measure, title, form),
        ("messages", "Messages"),
        ("tokens", "Tokens"),
    )
    level: list[alt.Chart] = []
    if uniform_is_drawn(table, measure):
        uniform = alt.Chart().encode(alt.X(UNIFORM[measure], type="quantitative", title=title, scale=scale), y)
        level = _uniform_ticks(uniform, UNIFORM[measure], str(table["conversation"].iloc[0]))
    chart = alt.layer(between, *level, *prompt_marks(names, base.encode(tooltip=hover), lines=False), data=table)
    clauses = "; ".join(
        f"{row['conversation']}, {row['prompt']}: {row[measure]:.4g}" for row in table.head(30).to_dict("records")
    )
    chart = chart.properties(height=ROW * len(order) + 130)
    return Figure(table, chart, f"{title}. {clauses}.", f"perplexity-{measure.replace('_', '-')}")


def uniform_is_drawn(table: pd.DataFrame, measure: str) -> bool:
    """Whether the uniform level is known, and near enough to the figures to stand among them."""
    column = UNIFORM[measure]
    return column in table and bool(table[column].min() <= WIDER * table[measure].max())


def _uniform_ticks(base: alt.Chart, column: str, first: str) -> list[alt.Chart]:
    """A tick a conversation where guessing all tokens alike would be, and its name above the ``first``."""
    ticks = base.mark_tick(thickness=3, size=ROW - 2, color=BETWEEN)
    once = base.transform_filter(alt.FieldEqualPredicate(field="conversation", equal=first))
    once = once.transform_window(row="row_number()").transform_filter("datum.row === 1")
    name = once.mark_text(dy=-ROW // 2 - 4, color=theme.ink(), text=UNIFORM_TITLE)
    return [ticks.encode(tooltip=tips(("conversation", "Conversation"), (column, "Uniform"))), name]
