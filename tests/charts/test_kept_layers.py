"""Figures whose layers are put together once: each keeps its own data, and is what it would be if drawn alone."""

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from charts import nominal_coverage, reliability_diagram
from charts.figure import Figure

pytestmark = pytest.mark.quick


def diagram(seed: int) -> Figure:
    rng = np.random.default_rng(seed)
    low = np.arange(5) / 5
    shares = {name: rng.uniform(size=5) for name in ("confidence", "accuracy", "accuracy_low", "accuracy_high")}
    bins = pd.DataFrame(
        {"bin": range(1, 6), "low": low, "high": low + 0.2, "n": rng.integers(1, 50, 5), **shares}
        | {"consistent_low": low, "consistent_high": low + 0.2}
    )
    return reliability_diagram.reliability_diagram(bins, f"run {seed}", f"reliability-{seed}", 1)


def lines(seed: int) -> Figure:
    rng = np.random.default_rng(seed)
    nominal = np.linspace(0.5, 0.9, 5)
    frame = pd.DataFrame(
        {"name": "a run", "score": "lac", "nominal": nominal, "coverage": nominal + rng.normal(size=5) / 50}
        | {"low": nominal - 0.05, "high": nominal + 0.05}
    )
    return nominal_coverage.coverage_minus_target(frame, "lac")


@pytest.mark.parametrize(("draw", "module"), [(diagram, reliability_diagram), (lines, nominal_coverage)])
def test_figures_share_their_layers_and_not_their_data(draw: Callable[[int], Figure], module):
    module._layers.cache_clear()
    alone = json.dumps(draw(0).spec)
    first, second = draw(0), draw(1)
    assert json.dumps(first.spec) == alone
    (own,), (other,) = (figure.page_spec()["datasets"] for figure in (first, second))
    assert own != other
    assert {**first.spec, "data": None, "datasets": None} == {**second.spec, "data": None, "datasets": None}
