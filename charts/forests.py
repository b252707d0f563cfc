"""Forests: a row for each run, rule or juror, with its figures and their 95% intervals.

Altair sets the panels side by side.
"""

from typing import Any

import altair as alt
import pandas as pd

from charts import theme
from charts.figure import AltairChart, Figure
from core.conformal.scores import SCORES
from core.estimates import interval_text
from core.jury.judgements import in_words

ROW, LINE = 17, 12
"""Units of a row's height, and of a line of its name."""
AROUND = 20
SAID = 24


def run_forest(rows: pd.DataFrame, score: str, alpha: float) -> Figure:
    """Accuracy, coverage and mean set size of runs, side by side: ``rows`` with ``name`` and the figures of one score.

    A line is a 95% interval; that of coverage is the gold band in which it lies if the guarantee holds, around the
    dashed line of what is promised.
    """
    title = SCORES[score].title
    shown = rows.assign(promised=1 - alpha)
    sizes = alt.Scale(zero=False, nice=True, padding=4)
    shares = alt.Scale(zero=False, nice=True, padding=4)
    percent = alt.Axis(format=".0%", tickCount=4)
    panels = [
        _panel("accuracy", "accuracy_low", "accuracy_high", "Accuracy", shares, percent, named=True),
        _panel("coverage", "coverage_low", "coverage_high", f"{title} coverage", shares, percent, band=True),
        _panel("mean_set_size", "set_size_low", "set_size_high", f"{title} set size", sizes, alt.Axis(tickCount=4)),
    ]
    lines = max(str(name).count("\n") + 1 for name in rows["name"])
    height = max(ROW, LINE * lines + 5) * len(rows) + AROUND
    chart = alt.hconcat(*(panel.properties(height=height) for panel in panels), data=shown, spacing=8)
    clauses = "; ".join(
        f"{row['name']}: accuracy {row['accuracy']:.1%} ({row['accuracy_low']:.1%} to {row['accuracy_high']:.1%}), "
        f"coverage {row['coverage']:.1%}, set size {row['mean_set_size']:.2f} ({row['set_size_low']:.2f} to "
        f"{row['set_size_high']:.2f})"
        for row in rows.head(SAID).to_dict("records")
    )
    return Figure(shown, chart, f"{clauses}.", "forest")


def _panel(
    value: str,
    low: str,
    high: str,
    title: str,
    scale: alt.Scale,
    axis: alt.Axis,
    *,
    named: bool = False,
    band: bool = False,
) -> AltairChart:
    names = alt.Axis(labelLimit=alt.ExprRef("windowSize()[0] * 0.45"), ticks=False, domain=False) if named else None
    base = alt.Chart().encode(alt.Y("name:N", title=None, sort=None, axis=names))
    across: dict[str, Any] = {"type": "quantitative", "title": title, "scale": scale, "axis": axis}
    marks = base.mark_point(filled=True, size=45, opacity=1).encode(alt.X(value, **across))
    if not band:
        interval = base.mark_rule(strokeWidth=1.5).encode(alt.X(low, **across), x2=high)
        return alt.layer(theme.painted(interval, theme.LAC), theme.painted(marks, theme.LAC))
    luck = base.mark_bar(height=alt.RelativeBandSize(band=0.6), opacity=0.6).encode(alt.X(low, **across), x2=high)
    goal = base.mark_tick(thickness=1, height=ROW * 0.75).encode(alt.X("promised", **across))
    return alt.layer(
        theme.painted(luck, theme.GUARANTEE), theme.painted(goal, theme.TRUTH), theme.painted(marks, theme.LAC)
    )


def jury_forest(rows: pd.DataFrame, constant: float | None = None) -> Figure:
    """Accuracy of each rule (circles) and each juror (squares): ``name``, ``kind``, ``accuracy`` and its ends. A dashed
    line stands at the accuracy of the better ``constant`` rule."""
    kinds = ["rule", "single juror"]
    scale = alt.Scale(zero=False, nice=True, padding=4)
    across: dict[str, Any] = {"title": "Accuracy", "scale": scale, "axis": alt.Axis(format=".0%", tickCount=5)}
    base = alt.Chart().encode(alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=150, ticks=False)))
    color = alt.Color("meaning:N", scale=theme.COLOR_SCALE, legend=None)
    base = base.transform_calculate(meaning=f"datum.kind == 'rule' ? '{theme.LAC}' : '{theme.APS}'")
    interval = base.mark_rule(strokeWidth=1.5).encode(alt.X("low:Q", **across), color, x2="high")
    meanings = f"datum.value == 'rule' ? scale('color', '{theme.LAC}') : scale('color', '{theme.APS}')"
    legend = alt.Legend(orient="top", title=None, symbolFillColor=alt.ExprRef(meanings), symbolStrokeWidth=0)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=["circle", "square"]), legend=legend)
    marks = base.mark_point(filled=True, size=50, opacity=1).encode(alt.X("accuracy:Q", **across), color, shape)
    layers = [interval, marks]
    if constant is not None:
        dashed = alt.Chart().mark_rule(strokeDash=[4, 4], strokeWidth=1.5).encode(alt.XDatum(constant, scale=scale))
        layers.insert(0, theme.painted(dashed, theme.TRUTH))
    chart = alt.layer(*layers, data=rows).properties(height=ROW * len(rows) + AROUND + 50)
    clauses = "; ".join(
        f"{row['name']} {row['accuracy']:.1%} ({interval_text(row['low'], row['high'], form='.1%')})"
        for row in rows.head(SAID).to_dict("records")
    )
    return Figure(rows, chart, f"Accuracy: {clauses}.", "jury-forest")


def jury_votes(rows: pd.DataFrame, pairwise: bool) -> Figure:
    """How many jurors say True, and of how many such answers the label says True: ``votes``, ``label``, ``answers``."""
    titled, other = words = [in_words(word, pairwise=pairwise) for word in ("True", "False")]
    rows = rows.assign(label=rows["label"].map({"True": titled, "False": other}))
    # The first two colours of the palette, for the two labels.
    scale = alt.Scale(domain=[*words, *theme.MEANINGS[len(words) :]])
    legend = alt.Legend(orient="top", title="The label says", titleOrient="left", values=words)
    base = alt.Chart().encode(
        alt.X("votes:O", title=f"Jurors who say {titled}", axis=alt.Axis(labelAngle=0)),
        alt.Y("answers:Q", title="Pairs of answers" if pairwise else "Answers"),
        alt.XOffset("label:N", sort=words),
    )
    bars = base.mark_bar().encode(alt.Color("label:N", scale=scale, legend=legend))
    counts = base.mark_text(dy=-5, fontSize=9).encode(text=alt.Text("answers:Q", format=","))
    layers = alt.layer(bars, theme.painted(counts, theme.TRUTH), data=rows).resolve_scale(color="independent")
    chart = layers.properties(height=230)
    clauses = "; ".join(
        f"{row['votes']} jurors, label {row['label']}: {row['answers']}" for row in rows.to_dict("records")
    )
    return Figure(rows, chart, f"Answers by the number of jurors who say {titled}: {clauses}.", "jury-votes")
