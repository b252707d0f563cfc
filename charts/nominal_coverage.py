"""How far coverage is from its target, at every alpha. Altair layers lines and the range that chance alone gives."""

import functools

import altair as alt
import pandas as pd

from charts import run_styles, theme
from charts.figure import AltairChart, Figure
from charts.measures import tips
from charts.reliability_diagram import share_axis
from core.conformal.scores import SCORES

HEIGHT = 300


def coverage_minus_target(frame: pd.DataFrame, score: str) -> Figure:
    """Coverage minus target coverage against the target, a line a run, for one score.

    ``frame`` is of :func:`core.reports.calibration.calibrated.nominal_coverage` with a ``name`` for each run. The gold
    area is the band of the first run, in which the difference lies if the guarantee holds.
    """
    shown = frame[frame["score"] == score]
    shown = shown.assign(
        difference=100 * (shown["coverage"] - shown["nominal"]),
        below=100 * (shown["low"] - shown["nominal"]),
        above=100 * (shown["high"] - shown["nominal"]),
    )
    names = list(dict.fromkeys(shown["name"]))
    chart = _layers(tuple(names), SCORES[score].title).copy(deep=False)
    chart.data = shown
    short = "; ".join(
        f"{name} falls short by {max(-curve['difference'].min(), 0):.1f} points at most"
        for name, curve in shown.groupby("name", sort=False)
    )
    sentence = f"{SCORES[score].title} coverage minus target coverage. {short}."
    return Figure(shown, chart, sentence, f"coverage-minus-target-{score}")


@functools.lru_cache(maxsize=64)
def _layers(names: tuple[str, ...], score: str) -> AltairChart:
    """The figure of these runs without its data, which Altair takes longer to put together than a page for the rest."""
    x = share_axis("x", "nominal", "Target coverage, 1 − alpha")
    title = f"{score} coverage minus target, points"
    y = alt.Y("difference:Q", title=title, axis=alt.Axis(format="+~f", tickCount=6))
    first = alt.Chart().transform_filter(alt.FieldEqualPredicate(field="name", equal=names[0]))
    band = first.mark_area(opacity=0.6).encode(x, alt.Y("below:Q", title=title), y2="above")
    hover = tips(
        ("name", "Run"),
        ("nominal", "Target", ".1%"),
        ("coverage", "Coverage", ".1%"),
        ("low", "Band from", ".1%"),
        ("high", "Band to", ".1%"),
    )
    legend = run_styles.legend(list(names), half=True, symbolType="stroke", symbolSize=300) if len(names) > 1 else None
    lines = (
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(
            x,
            y,
            alt.Color("name:N", scale=run_styles.color_scale(names), legend=legend),
            alt.StrokeDash("name:N", scale=run_styles.dash_scale(names), legend=legend),
            tooltip=hover,
        )
    )
    target = alt.Chart().mark_rule(strokeDash=[4, 4]).encode(y=alt.YDatum(0))
    guarantee = alt.layer(theme.painted(band, theme.GUARANTEE), theme.painted(target, theme.TRUTH))
    layers: AltairChart = (
        alt.layer(guarantee, lines)
        .properties(height=HEIGHT)
        .resolve_scale(color="independent", strokeDash="independent")
    )
    return layers
