"""A claim's models are drawn with everything that names them inside the figure."""

import math
import re

import pandas as pd
import pytest
import vl_convert

from charts.claim import AT_THE_END, claim
from charts.figure import Figure

pytestmark = pytest.mark.quick

BASELINE = 3
"""Pixels from the middle of a small text down to its baseline."""


@pytest.mark.parametrize("scale", [{"percent": True}, {"log": True}, {}])
def test_the_axis_keeps_its_last_label_inside_the_figure(scale):
    points = pd.DataFrame({"model": ["one", "two", "three"], "x": [0.48, 0.58, 0.57], "y": [2.7, 1.9, 1.8]})
    figure = claim(points, "of-a-test", "Accuracy", **scale)
    layers = figure.chart.to_dict()["layer"]
    assert [layer["encoding"]["x"]["axis"]["labelFlush"] for layer in layers] == [AT_THE_END] * 2


def drawn(figure: Figure) -> str:
    """The figure as SVG, as wide as its column on the page."""
    return str(vl_convert.vegalite_to_svg(figure.chart.properties(width=270).to_dict()))


def test_a_name_is_nearer_to_its_own_mark_than_to_any_other():
    """Two models of nearly the same accuracy: the one with the larger sets stands above the other."""
    models = ["pocket-8m", "pocket-3m", "pocket-1m", "pocket-3m-instruct"]
    points = pd.DataFrame({"model": models, "x": [0.762, 0.377, 0.348, 0.357], "y": [1.5, 3.12, 3.40, 3.22]})
    svg = drawn(claim(points, "of-a-test", "Accuracy", percent=True))
    place = r"[^>]* transform=\"translate\(([\d.]+),([\d.]+)\)\"[^>]*"
    places = re.findall(f'<path aria-label="([\\w-]+): {place}>', svg)
    marks = {name: (float(x), float(y)) for name, x, y in places}
    places = re.findall(f"<text {place}>(pocket[^<]*)", svg)
    names = {name: (float(x), float(y) - BASELINE) for x, y, name in places}
    assert list(marks) == list(names) == models
    nearest = {name: min(marks, key=lambda mark, at=at: math.dist(at, marks[mark])) for name, at in names.items()}
    assert nearest == dict(zip(models, models, strict=True))


def test_parameters_are_counted_in_billions_and_shares_end_at_0_and_1():
    points = pd.DataFrame({"model": ["one", "two"], "x": [7.24e9, 7e10], "y": [2.7, 1.9]})
    figure = claim(points, "of-a-test", "Parameters", log=True)
    assert "one: 7.24 B, 2.70; two: 70 B, 1.90" in figure.alt
    svg = drawn(figure)
    assert ">10 B<" in svg
    assert 'aria-label="one: 7.24 B, 2.70"' in svg
    apart = pd.DataFrame({"model": ["a-long-name-of-one", "a-long-name-of-two"], "x": [0.3, 0.9], "y": [2.7, 1.9]})
    shares = drawn(claim(apart, "of-a-test", "Accuracy", percent=True))
    labels = re.findall(r">(-?\d+)%<", shares.replace("−", "-"))
    assert {"0", "100"} <= set(labels)
    assert all(0 <= int(label) <= 100 for label in labels)
