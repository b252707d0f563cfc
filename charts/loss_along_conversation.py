"""Loss along a conversation, one line per prompt. Altair layers lines and the uniform level."""

import math
from collections.abc import Mapping

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import Figure
from charts.measures import tips
from charts.prompt_marks import BETWEEN, UNIFORM_TITLE, WIDER, prompt_marks


def loss_along(frame: pd.DataFrame, names: Mapping[str, str], *, vocabulary: int | None = None) -> Figure:
    """Mean loss of the counselor's first message that was scored, the second, and so on, one line per prompt.

    The level of guessing all tokens of the ``vocabulary`` alike, ln V, is drawn where it is known and near.
    """
    hover = tips(
        ("prompt", "Prompt"), ("place", "Message"), ("loss", "Nats per token", ".3f"), ("messages", "Conversations")
    )
    base = alt.Chart().encode(
        alt.X("place:Q", title="Counselor's message in the conversation", axis=alt.Axis(tickMinStep=1, format="d")),
        alt.Y("loss:Q", title="Loss, nats per token", scale=alt.Scale(zero=False)),
        tooltip=hover,
    )
    marks = prompt_marks(names, base, lines=True)
    layers = marks
    if vocabulary and math.log(vocabulary) <= WIDER * frame["loss"].max():
        level = alt.Chart(pd.DataFrame({"uniform": [math.log(vocabulary)]})).encode(
            alt.Y("uniform:Q", title="Loss, nats per token", scale=alt.Scale(zero=False))
        )
        rule = level.mark_rule(strokeWidth=2, strokeDash=[2, 3], color=BETWEEN)
        layers = [rule, *marks]
    clauses = "; ".join(
        f"{r['prompt']}, message {r['place']}: {r['loss']:.3f}" for r in frame.head(36).to_dict("records")
    )
    chart = alt.layer(*layers, data=frame).properties(height=360)
    if len(layers) > len(marks):
        # Inside the figure, the words would lie on marks.
        chart = chart.properties(
            title=alt.Title(
                f"dotted: {UNIFORM_TITLE}", anchor="end", color=theme.ink(), fontSize=11, fontWeight="normal"
            )
        )
    return Figure(frame, chart, f"Loss. {clauses}.", "loss-along")
