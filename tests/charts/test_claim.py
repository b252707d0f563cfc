"""A claim's models are drawn with everything that names them inside the figure."""

import pandas as pd
import pytest

from charts.claim import AT_THE_END, claim

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("scale", [{"percent": True}, {"log": True}, {}])
def test_the_axis_keeps_its_last_label_inside_the_figure(scale):
    points = pd.DataFrame({"model": ["one", "two", "three"], "x": [0.48, 0.58, 0.57], "y": [2.7, 1.9, 1.8]})
    figure = claim(points, "of-a-test", "Accuracy", **scale)
    layers = figure.chart.to_dict()["layer"]
    assert [layer["encoding"]["x"]["axis"]["labelFlush"] for layer in layers] == [AT_THE_END] * 2
