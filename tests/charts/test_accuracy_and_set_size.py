"""Charts draw what they are given and carry it all for the download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from charts.accuracy_and_set_size import accuracy_against_size
from core.reports import evaluation, frames
from core.reports.evaluation import Evaluation
from tests.conftest import synthetic_run


@pytest.fixture
def runs(home: Path) -> list[Evaluation]:
    return [evaluation.load(synthetic_run(seed=i, model=f"model-{i}", signal=i + 0.5)) for i in range(3)]


def fields(spec: Any) -> set[str]:
    """Every column that a specification names."""
    if isinstance(spec, dict):
        own = {spec["field"]} if isinstance(spec.get("field"), str) else set()
        return own.union(*map(fields, spec.values()))
    return set().union(*map(fields, spec)) if isinstance(spec, list) else set()


def test_a_mark_a_run_on_axes_that_stand_still(runs: list[Evaluation]):
    figures = [accuracy_against_size(frames.overview(runs, alpha), "lac") for alpha in (50, 500)]
    assert len(figures[0].frame) == 3
    for figure in figures:
        encoding = figure.spec["layer"][1]["encoding"]
        assert encoding["x"]["scale"]["domain"] == [0, 1]
        assert encoding["y"]["scale"]["domain"] == [0, 6]
        assert fields(figure.spec) - {"meaning"} <= set(figure.frame.columns)
        (rows,) = figure.spec["datasets"].values()
        assert [row["accuracy"] for row in rows] == pytest.approx(figure.frame["accuracy"].tolist())
    assert (figures[0].frame["height"] > figures[1].frame["height"]).all()


def test_runs_of_unlike_options_are_compared_by_their_share(home: Path):
    loaded = [evaluation.load(synthetic_run(k=k, model=f"k{k}", n=60)) for k in (3, 6)]
    figure = accuracy_against_size(frames.overview(loaded, 100), "aps")
    assert figure.spec["layer"][1]["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert (figure.frame["height"] == figure.frame["aps_set_size"] / figure.frame["k"]).all()


def test_labels_that_would_cover_each_other_are_left_to_the_hover(home: Path):
    twins = [evaluation.load(synthetic_run(model=name, seed=1)) for name in ("one", "two")]
    labels = accuracy_against_size(frames.overview(twins, 100), "lac").frame["label"].tolist()
    assert labels == ["one", ""]


def test_no_chart_names_a_colour(runs: list[Evaluation]):
    figure = accuracy_against_size(frames.overview(runs, 100), "lac")
    assert "#" not in json.dumps({**figure.spec, "datasets": {}})
