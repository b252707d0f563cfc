"""The palette: one colour a meaning, told apart in both themes and by colour-blind eyes."""

import itertools
import re
import tomllib

import altair as alt
import numpy as np
import pandas as pd
import pytest

from charts import run_styles
from charts.figure import Figure
from charts.figure_files import figures
from charts.figure_style import FigureStyle
from charts.theme import (
    APS,
    GUARANTEE,
    IN_SET,
    LAC,
    MEANINGS,
    MORE_RUNS,
    OUT_OF_SET,
    SHADE,
    TRUTH,
    text_config,
    theme_colors,
)
from core.reports.evaluation import load
from core.settings import ROOT
from tests.conftest import synthetic_run
from tests.parameters import rest_nightly

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
# How red, green and blue light is seen without one kind of cone (Machado, Oliveira & Fernandes 2009, severity 1).
EYES = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "no blue cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}
# Pairs that stand side by side in a figure and so have to be told apart by colour as well.
SIDE_BY_SIDE = [
    (LAC, APS),
    (LAC, GUARANTEE),
    (APS, GUARANTEE),
    (TRUTH, GUARANTEE),
    (IN_SET, GUARANTEE),
    (IN_SET, TRUTH),
    (TRUTH, OUT_OF_SET),
    (IN_SET, OUT_OF_SET),
    (LAC, OUT_OF_SET),
    (APS, OUT_OF_SET),
]
TOLD_APART = 18.0
"""Distance in CIELAB; a difference of 2.3 is just seen."""


def linear(color: str) -> np.ndarray:
    shares = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (to_xyz @ light.clip(0, 1)) / np.array([0.95047, 1, 1.08883])
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(first: str, other: str) -> float:
    lights = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(color)) for color in (first, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_meaning_has_a_colour_of_its_own(mode: str):
    colors = THEME[mode]["chartCategoricalColors"]
    assert len(colors) == len(set(colors)) == len(MEANINGS) + len(MORE_RUNS)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
def test_colours_side_by_side_are_told_apart(mode: str, eyes: str):
    seen = {
        meaning: lab(EYES[eyes] @ linear(color))
        for meaning, color in zip(MEANINGS, THEME[mode]["chartCategoricalColors"], strict=False)
    }
    for first, other in SIDE_BY_SIDE:
        assert np.linalg.norm(seen[first] - seen[other]) > TOLD_APART, (first, other)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
def test_the_colours_of_runs_are_told_apart(mode: str, eyes: str):
    assert len(run_styles.COLORS) == 8
    colors = dict(zip([*MEANINGS, *MORE_RUNS], THEME[mode]["chartCategoricalColors"], strict=True))
    for meaning in MORE_RUNS:
        assert contrast(colors[meaning], THEME[mode]["backgroundColor"]) > 3, meaning  # WCAG 2.2, 1.4.11
    for first, other in itertools.combinations(run_styles.COLORS, 2):
        distance = np.linalg.norm(lab(EYES[eyes] @ linear(colors[first])) - lab(EYES[eyes] @ linear(colors[other])))
        assert distance > TOLD_APART, (first, other)


@pytest.mark.parametrize("mode", rest_nightly(["light", "dark"], now=["dark"]))
def test_figures_for_files_take_every_colour_from_the_theme(home, mode: str):
    runs = [load(synthetic_run(seed=i, model=f"model-{i}")) for i in range(4)]
    names = ["reliability", "coverage-by-alpha", "set-size-by-alpha", "sets-by-size", "forest"]
    look = theme_colors(mode)
    known = {*look.colors, look.background, look.text, look.border}
    for figure_file in figures(names, runs, 100, FigureStyle("double", theme=mode)):
        drawn = set(re.findall(r'(?:fill|stroke)="(#\w{6})"', figure_file.svg().decode()))
        assert drawn <= known, figure_file.name
        assert len(drawn & set(look.colors)) >= 1, figure_file.name


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_marks_stand_out_from_the_page(mode: str):
    page = THEME[mode]["backgroundColor"]
    colors = dict(zip(MEANINGS, THEME[mode]["chartCategoricalColors"], strict=False))
    for meaning in (LAC, APS, TRUTH, IN_SET):
        assert contrast(colors[meaning], page) > 4.5, meaning
    assert contrast(colors[IN_SET], page) > 4.5  # the word in a filled cell has the page's colour


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_texts_and_buttons_can_be_read(mode: str):
    theme = THEME[mode]
    for surface, text in itertools.product(("backgroundColor", "secondaryBackgroundColor"), ("textColor", "linkColor")):
        assert contrast(theme[surface], theme[text]) > 7
    assert contrast(theme["primaryColor"], theme["backgroundColor"]) > 7


def mixed(text: str, page: str, opacity: float) -> str:
    """The colour that is seen where a text of this opacity stands on the page."""
    shares = [(int(text[i : i + 2], 16), int(page[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * above + (1 - opacity) * below):02x}" for above, below in shares)


def chosen(expression: str, page: str) -> str:
    """The value of the expression of :func:`charts.theme.ink` in a browser whose page has this colour."""
    result = re.fullmatch(r"luminance\(background\) > ([\d.]+) \? '(#\w{6})' : '(#\w{6})'", expression)
    assert result, expression
    luminance = float(np.array([0.2126, 0.7152, 0.0722]) @ linear(page))
    return result[2] if luminance > float(result[1]) else result[3]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_words_of_charts_have_4_5_to_1(mode: str):
    page = THEME[mode]["backgroundColor"]
    for part, config in text_config().items():
        for what in ("label", "title"):
            text = chosen(config[f"{what}Color"].expr, page)
            assert text == THEME[mode]["textColor"]
            assert contrast(mixed(text, page, config.get(f"{what}Opacity", 1.0)), page) >= 4.5, (part, what)


def test_every_chart_is_drawn_by_the_one_function_that_takes_the_themes_words():
    drawn_in = [
        str(path.relative_to(ROOT))
        for path in [*(ROOT / "app").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
        if re.search(r"\b(vega_lite|altair)_chart\(", path.read_text(encoding="utf-8"))
    ]
    assert drawn_in == ["app/components/shared/figures.py"]


def test_a_figures_own_configuration_is_kept():
    chart = alt.Chart(pd.DataFrame({"x": [1]})).mark_point().configure_view(stroke=None)
    config = Figure(pd.DataFrame(), chart, "", "").page_spec()["config"]
    assert config["view"]["stroke"] is None
    assert config["axis"]["labelOpacity"] == text_config()["axis"]["labelOpacity"]
    assert config["legend"]["titleColor"] == text_config()["legend"]["titleColor"].to_dict()


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("strength", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_figure_in_a_cell_of_a_heat_map_can_be_read(mode: str, strength: float):
    theme = THEME[mode]
    colors = dict(zip(MEANINGS, theme["chartCategoricalColors"], strict=False))
    opacity = SHADE * strength
    ends = [(int(colors[LAC][i : i + 2], 16), int(theme["backgroundColor"][i : i + 2], 16)) for i in (1, 3, 5)]
    cell = "#" + "".join(f"{round(opacity * blue + (1 - opacity) * page):02x}" for blue, page in ends)
    assert contrast(colors[TRUTH], cell) > 4.5


def test_no_button_is_a_primary_one():
    # Streamlit writes their labels in white, which the dark theme's light primary colour does not carry.
    for path in [*(ROOT / "app").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        assert 'type="primary"' not in path.read_text(encoding="utf-8"), path


def test_the_two_themes_set_the_same_things_and_no_font_is_fetched():
    assert THEME["light"].keys() == THEME["dark"].keys()
    assert "http" not in THEME["font"] + THEME["codeFont"]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("meaning", [LAC, APS])
def test_a_cell_of_the_overview_can_be_read_at_its_strongest(mode: str, meaning: str):
    style = (ROOT / "app/components/overview/first_page/first_page.css").read_text(encoding="utf-8")
    strongest = re.search(r"--strongest: ([\d.]+);", style)
    assert strongest is not None
    colors = dict(zip(MEANINGS, THEME[mode]["chartCategoricalColors"], strict=False))
    cell = mixed(colors[meaning], THEME[mode]["backgroundColor"], float(strongest[1]))
    assert contrast(THEME[mode]["textColor"], cell) >= 4.5
