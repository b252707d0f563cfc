"""The drawn figures: specifications rendered as on a page, in a frame that legends and axes share with the plot."""

import re
from pathlib import Path

import pandas as pd
import pytest
import vl_convert

from app.state.fields import MOST_COMPARED
from charts import heat_map, run_styles, theme
from charts.bars import bars
from charts.figure import Figure
from charts.figure_files import standalone
from charts.figure_style import UNITS, FigureStyle
from charts.measures import MEASURES
from charts.risk_curves import risk_curves
from charts.run_figures import Drawing
from charts.token_reliability import token_reliability
from core.reports import evaluation, tokens
from core.reports.compare import benchmark
from core.reports.compare.benchmark import SetRule
from core.reports.report import DEFAULT_SCORES
from tests.conftest import synthetic_run

WIDTH = 800


def drawn(figure: Figure, *, mode: str = "light") -> str:
    """A figure as SVG in a fixed frame, as Streamlit fits it."""
    style = FigureStyle(WIDTH / UNITS, theme=mode)
    return str(vl_convert.vegalite_to_svg(standalone(Drawing(figure, ""), style)))


def words(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def rows(runs: int) -> pd.DataFrame:
    loaded = [evaluation.load(synthetic_run(model=f"model-{i}", seed=i)) for i in range(runs)]
    rule = SetRule(100, DEFAULT_SCORES, "exact", "allow")
    return benchmark.run_rows(loaded, benchmark.reports(loaded, rule))


@pytest.mark.parametrize("measure", MEASURES)
def test_the_bars_of_a_single_run_are_thick_enough_to_see(home: Path, measure: str):
    svg = drawn(bars(rows(1), measure))
    result = re.findall(r'<path aria-label[^>]*aria-roledescription="bar"[^>]*d="M[^h]*h([\d.]+)v([\d.]+)', svg)
    assert len(result) == (2 if measure in ("coverage", "mean_set_size", "uacc") else 1)
    assert all(float(height) > 9 for _, height in result)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_heat_map_begins_at_the_colour_of_the_page(mode: str):
    shares = pd.DataFrame({"name": "run", "size": [0, 1, 2], "share": [0.0, 0.5, 1.0]})
    svg = drawn(heat_map.set_sizes(shares), mode=mode)
    cells = re.findall(r'aria-roledescription="rect mark"[^>]*fill="(#\w+)"[^>]*fill-opacity="([\d.]+)"', svg)
    assert [color for color, _ in cells] == [theme.theme_colors(mode).colors[0]] * 3
    assert [float(opacity) for _, opacity in cells] == pytest.approx([0, theme.SHADE / 2, theme.SHADE])


def test_as_many_runs_as_can_be_compared_have_lines_of_their_own():
    names = [f"run {i}" for i in range(MOST_COMPARED)]
    colors, dashes = run_styles.color_scale(names)["domain"], run_styles.dash_scale(names)
    palette = theme.theme_colors("light").colors
    looks = {
        (palette[colors.index(name) % len(palette)], tuple(dashes["range"][dashes["domain"].index(name)]))
        for name in names
    }
    assert len(looks) == MOST_COMPARED
    assert {color for color, _ in looks} == {*palette[:3], *palette[len(theme.MEANINGS) :]}


def test_eleven_lines_have_eight_colours_and_a_legend(home: Path):
    names = [f"run {i}" for i in range(11)]
    curves = pd.DataFrame([{"name": n, "share": s, "risk": s / (i + 2)} for i, n in enumerate(names) for s in (0.1, 1)])
    svg = drawn(risk_curves(curves))
    lines = re.findall(
        r'aria-roledescription="line mark"[^>]*stroke="(#\w+)"[^>]*?(?:stroke-dasharray="([^"]*)")?/>', svg
    )
    assert len(lines) == len(set(lines)) == 11
    assert len({color for color, _ in lines}) == 8
    assert [word for word in words(svg) if word.startswith("run ")] == names  # once each: one legend, not two


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_legend_of_token_reliability_has_the_models_colours_and_marks(mode: str):
    token_results, _ = tokens.results()
    names = [entry.name for entry in token_results[:3]]
    svg = drawn(token_reliability(tokens.reliability_frame(tuple(token_results[:3]))), mode=mode)
    assert [word for word in words(svg) if word in names] == names
    symbols = re.findall(r'class="mark-symbol role-legend-symbol".*?d="([^"]*)" fill="(#\w+)"', svg)
    assert len({shape for shape, _ in symbols}) == 3
    assert [color for _, color in symbols] == list(theme.theme_colors(mode).colors[:3])
