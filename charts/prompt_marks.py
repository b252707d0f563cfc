"""Marks and lines of system prompts, and the uniform level, as the figures of perplexity share them."""

from collections.abc import Mapping

import altair as alt

from charts import run_styles

UNIFORM_TITLE = "uniform guessing"
WIDER = 1.5
"""The uniform level is drawn where it lies within this many times the largest figure; farther out it would squeeze all
differences into the edge."""
SHAPES = {"A": "circle", "B": "square", "none": "triangle-up"}
"""A prompt's mark by its place. In this order they have the theme's first colours: those of LAC, APS and the truth."""
SIZES = {"A": 190, "B": 85, "none": 28}
"""A mark's area by its place. Each is smaller than the one below it, so that equal figures hide no mark."""
DASHES = {"A": [1, 0], "B": [6, 3], "none": [2, 2]}
BETWEEN = "#8a93a0"
"""The line between two marks, a grey that both themes show."""


def prompt_marks(names: Mapping[str, str], base: alt.Chart, *, lines: bool) -> list[alt.Chart]:
    """A layer of marks a prompt, and before it one of lines; ``names`` goes from a prompt's place to its name."""
    legend = alt.Legend(
        orient="top", columns=run_styles.narrow(1, len(names)), title=None, labelLimit=300, symbolSize=90
    )
    domain = list(names.values())
    color = alt.Color("prompt:N", legend=legend, scale=alt.Scale(domain=domain))
    shapes = alt.Scale(domain=domain, range=[SHAPES[place] for place in names])
    layers: list[alt.Chart] = []
    for place, name in names.items():
        only = base.transform_filter(alt.FieldEqualPredicate(field="prompt", equal=name)).encode(color)
        if lines:
            layers.append(only.mark_line(strokeWidth=2, strokeDash=DASHES[place]))
        marks = only.mark_point(filled=True, size=SIZES[place], opacity=1)
        layers.append(marks.encode(alt.Shape("prompt:N", legend=legend, scale=shapes)))
    return layers
