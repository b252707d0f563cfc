"""Figures as files, without a server and without a browser: SVG, PNG and HTML by vl-convert.

A figure is drawn from its Altair form, in the light theme's colours, with a title and its source. Radars and heat maps
are Plotly's on a page, and Plotly draws into files only with a browser's help: their Altair form stands in for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from charts import heat_map
from charts.accuracy_and_set_size import accuracy_against_size
from charts.bars import BY_SCORE, bars
from charts.figure import Figure
from charts.measures import MEASURES
from charts.radar import radar
from charts.risk_curves import risk_curves
from charts.run_names import full_names
from charts.sizes_when_right import sizes_when_right
from charts.theme import theme_colors
from core.conformal.scores import SCORES
from core.reports import frames
from core.reports.compare import benchmark, selective, side_by_side
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation

WIDTH = 640
SCALE = 2


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with what it needs away from its page: a title and where its figures come from."""

    figure: Figure
    title: str
    source: str


def drawings(runs: Sequence[Evaluation], asked: SetRule) -> list[Drawing]:
    """Every figure of a benchmark's runs."""
    made = benchmark.reports(runs, asked)
    rows = benchmark.run_rows(runs, made)
    score = asked.scores[0]
    of_score = rows[rows["score"] == score]
    names = full_names(of_score)
    source = source_of(runs, asked)
    alpha, by = f"alpha {asked.alpha / 1000:.3f}", f"by {SCORES[score].title}"
    panels = accuracy_against_size(frames.overview(runs, asked.alpha, asked.scores), score)
    of_task = [f", on {panel.title}" if len(panels) > 1 else "" for panel in panels]
    found = [
        Drawing(panel.figure, f"Accuracy, and set size at {alpha}{of}", source)
        for panel, of in zip(panels, of_task, strict=True)
    ]
    titles = {measure: title for measure, (title, _) in MEASURES.items()}

    def title(measure: str, of_sets: str) -> str:
        """Only figures of sets depend on alpha and the score."""
        return titles[measure] + (of_sets if measure in BY_SCORE else "")

    found += [
        Drawing(heat_map.heat_map(of_score, measure), title(measure, f" {by}, {alpha}"), source)
        for measure in ("accuracy", "coverage", "mean_set_size")
    ]
    found += [Drawing(bars(rows, measure), title(measure, f" at {alpha}"), source) for measure in MEASURES]
    found.append(Drawing(radar(of_score), f"Five figures of each run, those of sets {by}, {alpha}", source))
    shares = side_by_side.size_shares(runs, names, asked.alpha, score)
    found.append(Drawing(heat_map.set_sizes(shares), f"How large sets are {by}, {alpha}", source))
    when = side_by_side.sizes_when_right(runs, names, asked.alpha, score)
    found.append(Drawing(sizes_when_right(when), f"Set size where right and where wrong, {alpha}", source))
    curves = pd.concat([risk_frame(run, name) for run, name in zip(runs, names, strict=True)])
    found.append(Drawing(risk_curves(curves), "Error where only the surest are answered", source))
    return found


def risk_frame(run: Evaluation, name: str, *, points: int = 200) -> pd.DataFrame:
    """A run's risk–coverage curve, thinned to some points: ``name``, ``share``, ``risk``."""
    made = selective.risk_coverage(run)
    m = len(made.share)
    at = np.unique(np.linspace(0, m - 1, min(points, m)).round().astype(int))
    return pd.DataFrame({"name": name, "share": made.share[at], "risk": made.risk[at]})


def source_of(runs: Sequence[Evaluation], asked: SetRule) -> str:
    questions = sum(len(run.test) for run in runs)
    return (
        f"Hedge · {len(runs)} runs, {questions:,} test questions · {asked.method} threshold · empty sets: {asked.empty}"
    )


def standalone(drawing: Drawing, *, name: str = "light") -> dict[str, Any]:
    """The figure's Vega-Lite specification with its data, title, source and a theme's colours."""
    look = theme_colors(name)
    drawn = drawing.figure.spec
    spec = {
        **drawn,
        "title": {"text": drawing.title, "subtitle": drawing.source, "anchor": "start", "offset": 14},
        "description": drawing.figure.alt,
        "background": look.background,
        "padding": 14,
    }
    if "facet" not in spec:
        spec["width"] = WIDTH
    axis = {"labelColor": look.text, "titleColor": look.text, "gridColor": look.border, "domainColor": look.border}
    spec["config"] = {
        "font": "DejaVu Sans, Arial, sans-serif",
        "range": {"category": list(look.colors)},
        "title": {"color": look.text, "subtitleColor": look.text, "fontSize": 16, "subtitleFontSize": 11},
        "axis": {**axis, "tickColor": look.border, "labelFontSize": 11, "titleFontSize": 12},
        "legend": {"labelColor": look.text, "titleColor": look.text},
        "header": {"labelColor": look.text, "labelFontSize": 12},
        "view": {"stroke": None},
        **drawn["config"],
    }
    return spec


def svg(drawing: Drawing) -> bytes:
    """The figure as SVG."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(standalone(drawing))).encode()


def png(drawing: Drawing) -> bytes:
    """The figure as PNG, two pixels a unit."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(standalone(drawing), scale=SCALE))


def page(drawing: Drawing) -> bytes:
    """The figure as an HTML file of its own, with its scripts inside: hovers work offline."""
    import vl_convert

    return str(vl_convert.vegalite_to_html(standalone(drawing), bundle=True)).encode()


KINDS: dict[str, Callable[[Drawing], bytes]] = {"svg": svg, "png": png, "html": page}
"""From a file's ending to what draws it."""
