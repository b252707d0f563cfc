"""Figures in one column of a paper and on a slide: their texts stay readable, whole and apart, whatever the panels."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from charts.figure_files import FigureFile, figure
from charts.figure_style import WIDTHS, FigureStyle
from charts.run_figures import FIGURES, FigureRequest
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation, load
from tests.conftest import synthetic_run
from tests.parameters import rest_nightly

NAMES = ("a-model-with-a-long-name", "another-model", "a-third-model-of-7b", "the-last-one-instruct")
PANELS = ("reliability", "radar", "sets-by-size")


@pytest.fixture
def runs(home: Path) -> list[Evaluation]:
    """Four runs of 6 options whose sets have up to all of them."""
    return [load(synthetic_run(seed=i, model=name, signal=0.5 + i)) for i, name in enumerate(NAMES)]


def points(figure_file: FigureFile, width: str) -> set[float]:
    """The sizes of a figure's texts on paper, in points."""
    svg = figure_file.svg().decode()
    box = re.search(r'viewBox="0 0 ([\d.]+)', svg)
    assert box is not None
    return {float(size) * WIDTHS[width] * 72 / float(box[1]) for size in re.findall(r'font-size="([\d.]+)px"', svg)}


@pytest.mark.parametrize("name", [*PANELS, "set-sizes", "sizes-when-right", "forest"])
def test_texts_of_one_column_are_readable_and_whole(runs, name):
    figure_file = figure(name, runs, 100, FigureStyle("single"))
    assert min(points(figure_file, "single")) >= 5.9
    texts = re.findall(r"<text[^>]*>([^<]*)<", figure_file.svg().decode())
    assert not [text for text in texts if "…" in text]
    assert not [text for text in texts if re.search(r"(?<!\d)\.\d", text)]  # 0.072, not .072


@pytest.mark.parametrize("many", [1, 4])
@pytest.mark.parametrize("name", PANELS)
def test_texts_of_a_slide_are_not_shrunk_with_its_panels(runs, name, many):
    assert min(points(figure(name, runs[:many], 100, FigureStyle("slide")), "slide")) >= 12


def test_rows_of_panels_are_about_equally_full(runs):
    def columns(n: int, units: float) -> int:
        return FigureRequest([runs[0]] * n, SetRule(), units).columns

    assert [columns(n, 640) for n in (1, 3, 4, 5, 6, 8, 9)] == [1, 3, 4, 3, 3, 4, 3]
    assert [columns(n, 312) for n in (1, 2, 3, 4)] == [1, 2, 2, 2]
    assert columns(3, 100) == 1


@pytest.mark.parametrize("name", rest_nightly(list(FIGURES), now=["accuracy-and-set-size", "set-sizes"]))
def test_twelve_runs_fit_into_one_column(home: Path, name: str):
    """Texts have about seven points, and nothing is cut off at an edge."""
    runs = [load(synthetic_run(seed=i, model=f"{NAMES[i % 4]}-{i}", signal=0.5 + i / 4)) for i in range(12)]
    figure_file = figure(name, runs, 100, FigureStyle("single"))
    assert min(points(figure_file, "single")) >= 6.7
    ink = np.asarray(Image.open(io.BytesIO(figure_file.png())).convert("L")) < 180
    assert not any(edge.any() for edge in (ink[:3], ink[-3:], ink[:, :3], ink[:, -3:]))
