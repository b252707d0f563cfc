"""Figures as files: not blank, titled, with their axes and source; the report has the app's own scripts and figures."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from app.components.alpha_lab import lab_view
from app.state.alpha_lab import AlphaLabView
from charts import figure_files, run_names, static_report
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.reports.report import report
from tests.conftest import synthetic_run

NAMES = {
    "accuracy-and-lac-set-size-qa-6",
    "accuracy-and-lac-set-size-rc-6",
    "heat-map-accuracy",
    "heat-map-coverage",
    "heat-map-mean-set-size",
    "bars-accuracy",
    "bars-coverage",
    "bars-mean-set-size",
    "bars-uacc",
    "bars-ece-excess",
    "radar",
    "set-sizes",
    "sizes-when-right",
    "risk-coverage",
}


@pytest.fixture
def drawings(home) -> list[figure_files.Drawing]:
    names = [synthetic_run(seed=i, model=f"model-{i}", task=("qa", "rc")[i % 2]) for i in range(3)]
    return figure_files.drawings([load(name) for name in names], SetRule())


def test_every_figure_has_its_title_axes_and_source_and_is_not_blank(drawings):
    assert {one.figure.name for one in drawings} == NAMES
    for one in drawings:
        drawn = figure_files.svg(one).decode()
        assert one.title in drawn
        assert "3 runs, 300 test questions" in drawn
        marks = drawn.count("<path") + drawn.count("<text")
        assert marks > 15, one.figure.name
        axes = re.findall(r'"title": "([^"]+)"', json.dumps({**one.figure.spec, "datasets": {}}))
        assert one.figure.name == "radar" or any(title in drawn for title in axes), one.figure.name
        pixels = np.asarray(Image.open(io.BytesIO(figure_files.png(one))).convert("L"))
        assert pixels.shape[1] > 600
        assert 0.002 < (pixels < 200).mean() < 0.9, one.figure.name


def test_titles_name_alpha_only_where_it_changes_the_figure(drawings):
    titles = {one.figure.name: one.title for one in drawings}
    assert titles["bars-accuracy"] == titles["heat-map-accuracy"] == "Accuracy"
    assert titles["bars-ece-excess"] == "ECE beyond luck"
    assert titles["bars-uacc"] == "UAcc at alpha 0.100"
    assert titles["heat-map-coverage"] == "Coverage by LAC, alpha 0.100"
    ours = titles["accuracy-and-lac-set-size-qa-6"]
    assert ours == "Accuracy, and set size at alpha 0.100, on Question answering"


def test_a_figure_as_html_asks_no_foreign_host(drawings):
    page = figure_files.page(drawings[0]).decode()
    assert "<script" in page
    assert not re.search(r'(src|href)="https?://', page)


def test_two_names_alike_are_told_apart():
    assert run_names.unique(["a", "b", "a"]) == ["a", "b", "a (2)"]


def test_the_report_has_the_figures_of_python_and_no_way_out(home):
    name = synthetic_run(model="<script>alert(1)</script>%%LABS%%")
    page = static_report.report_html([load(name)], SetRule()).decode()
    made = report(load(name), 100)
    of = made.scores["aps"]
    assert "{:.3f} ({:.3f} to {:.3f})".format(of.mean_set_size, *of.mean_set_size_interval) in page
    assert "{:.3f} ({:.3f} to {:.3f})".format(of.uacc, *of.uacc_interval) in page
    assert "<script>alert(1)" not in page
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="https?://', page)
    assert page.count("mountLab") == 2


def test_the_lab_of_the_report_starts_as_the_app_s():
    assert lab_view(AlphaLabView()) == static_report.START
