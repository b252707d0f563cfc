"""The panels of accuracy and set size draw what they are given and carry it all for the download."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from app.components.overview.scatter import published_frame
from charts import run_styles
from charts.accuracy_and_set_size import OPENED, accuracy_against_size, model_styles
from core.reports import evaluation, frames
from core.reports.evaluation import Evaluation
from core.reports.overview.published import SOURCES, results
from tests.conftest import synthetic_run

PRINTED = SOURCES["ye-2024"].printed


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
    panels = [accuracy_against_size(frames.overview(runs, alpha), "lac") for alpha in (50, 500)]
    for (panel,) in panels:
        figure = panel.figure
        assert len(figure.frame) == 3
        assert (panel.title, panel.options, figure.name) == ("Question answering", 6, "accuracy-and-lac-set-size")
        for layer in figure.spec["layer"]:
            assert layer["encoding"]["x"]["scale"]["domain"] == [0, 1]
            assert layer["encoding"]["y"]["scale"]["domain"] == [0, 6]
        assert fields(figure.spec) <= set(figure.frame.columns)
        (rows,) = figure.spec["datasets"].values()
        assert [row["accuracy"] for row in rows] == pytest.approx(figure.frame["accuracy"].tolist())
    sizes = [panel.figure.frame["lac_set_size"] for (panel,) in panels]
    assert (sizes[0] > sizes[1]).all()


def test_each_task_and_number_of_options_has_a_panel_and_an_axis_of_its_own(home: Path):
    ids = [synthetic_run(k=k, model=f"k{k}", n=60, task=task) for k in (4, 6) for task in ("rc", "qa")]
    panels = accuracy_against_size(frames.overview([evaluation.load(run) for run in ids], 100), "aps")
    assert [(panel.title, panel.options) for panel in panels] == [
        ("Question answering", 4),
        ("Question answering", 6),
        ("Reading comprehension", 4),
        ("Reading comprehension", 6),
    ]
    assert len({panel.figure.name for panel in panels}) == 4
    for panel in panels:
        assert panel.figure.frame["model"].tolist() == [f"k{panel.options}"]
        assert panel.figure.spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, panel.options]
        assert panel.figure.spec["layer"][0]["encoding"]["color"]["scale"]["domain"][:2] == ["k4", "k6"]


def test_a_click_names_the_run_on_a_page_only(runs: list[Evaluation]):
    (panel,) = accuracy_against_size(frames.overview(runs, 100), "lac")
    drawn = panel.figure.chart.to_dict()
    (chosen,) = drawn["params"]
    assert (chosen["name"], chosen["select"]["fields"]) == (OPENED, ["run"])
    assert "params" not in panel.figure.spec
    # The panels of a page share a legend beside them; a file has its own.
    assert drawn["layer"][2]["encoding"]["color"]["legend"] is None
    assert panel.figure.spec["layer"][2]["encoding"]["color"]["legend"]["values"] == ["model-0", "model-1", "model-2"]


def test_no_two_of_36_models_look_alike():
    styles = model_styles([f"model-{i}" for i in range(36)])
    assert [style.name for style in styles] == [f"model-{i}" for i in range(36)]
    assert {style.meaning for style in styles} == set(run_styles.COLORS)
    for style, other in itertools.combinations(styles, 2):
        assert (style.meaning, style.shape) != (other.meaning, other.shape)
    assert len({style.shape for style in styles[:8]}) == len({style.meaning for style in styles[:8]}) == 8


def test_the_legend_has_the_colours_of_the_marks(runs: list[Evaluation]):
    (panel,) = accuracy_against_size(frames.overview(runs, 100), "lac")
    encoding = panel.figure.spec["layer"][2]["encoding"]
    styles = model_styles([run.spec.model for run in runs])
    palette = dict(zip(encoding["color"]["scale"]["domain"], run_styles.theme.MEANINGS, strict=False))
    shapes = dict(zip(encoding["shape"]["scale"]["domain"], encoding["shape"]["scale"]["range"], strict=True))
    for style in styles:
        assert (palette[style.name], shapes[style.name]) == (style.meaning, style.shape)


def test_published_figures_are_hollow_in_the_panel_of_their_questions_or_in_one_of_their_own(runs: list[Evaluation]):
    printed = published_frame([entry for entry in results() if entry.task in ("qa", "rc")])
    here = frames.overview(runs, 100).assign(bank="MMLU 10k")
    together, alone = accuracy_against_size(here, "lac", printed)
    assert (together.title, together.opens) == ("Question answering · MMLU 10k", True)
    assert (alone.title, alone.opens) == ("Reading comprehension · CosmosQA 10k", False)
    for panel in (together, alone):
        drawn = panel.figure.spec
        layer = drawn["layer"][-1]
        assert (layer["mark"]["filled"], layer["mark"]["shape"]) == (False, "diamond")
        assert "Published, not computed here: " in panel.figure.alt
        (rows,) = [rows for rows in drawn["datasets"].values() if "published" in rows[0]]
        assert len(rows) == 16  # BLUQ prints no set size of a task
        assert {row["source"] for row in rows} == {f"Published by Ye et al. 2024 ({PRINTED}), not computed here"}
    assert together.figure.frame["model"].tolist() == ["model-0", "model-1", "model-2"]
    elsewhere = accuracy_against_size(frames.overview(runs, 100), "lac", printed)
    assert [panel.opens for panel in elsewhere] == [True, False, False]  # the questions are others
    assert len(elsewhere[0].figure.spec["layer"]) == 3


def test_no_chart_fixes_the_colour_of_a_mark(runs: list[Evaluation]):
    (panel,) = accuracy_against_size(frames.overview(runs, 100), "lac")
    assert "#" not in json.dumps({**panel.figure.spec, "datasets": {}})
