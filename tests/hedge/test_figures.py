"""A notebook shows the figures that core computes, and an error is one sentence."""

import json

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import hedge
from app.caches import alpha_lab_cache, overview_cache
from app.state.alpha_lab import AlphaLabView
from core.conformal.scores import SCORES, score, true_scores
from core.conformal.threshold import threshold
from core.errors import InputError
from core.reports import exports, frames
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.reports.overview.matrix import matrix
from core.reports.prompting.experiments import PromptingMethod, figures
from core.reports.report import report
from core.runs import store
from hedge.cli import main
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

BUNDLED = "pocket-8m-qa-base-0shot-float32-69717be8bc"

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, 300)
LOGITS = RNG.normal(size=(300, 4)) + 1.5 * np.eye(4)[LABELS]
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)


def test_sets_are_those_of_the_definition():
    figures = hedge.sets(PROBABILITIES, LABELS, alpha=0.2, score="aps", calibration=range(100))
    scores = score("aps", PROBABILITIES)
    limit = threshold(true_scores(scores[:100], LABELS[:100]), 200)
    members = scores[100:] <= limit
    assert figures.threshold == limit
    assert figures.sets == [tuple(np.flatnonzero(row)) for row in members]
    assert figures.coverage == members[np.arange(200), LABELS[100:]].mean()
    assert figures.mean_set_size == members.sum(axis=1).mean()
    assert figures.test.tolist() == list(range(100, 300))
    assert f"coverage {figures.coverage:.3f}" in repr(figures)
    assert f"{figures.coverage:.3f} (" in figures._repr_html_()


def test_the_report_of_a_run_is_its_report(home):
    name = synthetic_run(model="<b>model")
    result = hedge.report(name, alpha=0.15, scores=["raps"])
    assert repr(result.figures) == repr(report(load(name), 150, scores=("raps",)))  # a NaN does not equal itself
    assert result.frame["coverage"].item() == result.figures.scores["raps"].coverage
    assert result.to_json()["raps"]["coverage"] == result.figures.scores["raps"].coverage
    page = result._repr_html_()
    assert "Brier score" in page
    assert "<b>" not in page
    assert "color" not in page  # the notebook's own, light or dark


@pytest.mark.parametrize("name", [name for name, score in SCORES.items() if score.tuned])
def test_a_tuned_score_has_the_same_intervals_everywhere(home, capsys, name):
    """Without redrawing the choice of parameters, an interval of this run is a third as wide."""
    run = load(BUNDLED)
    expected = report(run, 250, scores=(name,)).scores[name]
    keys = ("coverage_band", "mean_set_size_interval", "uacc_interval")
    ends = [end for key in keys for end in getattr(expected, key)]
    by_command = {}
    for command in ("report", "compare"):
        assert main([command, BUNDLED, "--alpha", "0.25", "--score", name, "--json"]) == 0
        by_command[command] = json.loads(capsys.readouterr().out)
    of_report = by_command["report"][0][name]
    table, _ = overview_cache.overview([store.read_record(BUNDLED)], 250, name)
    cell = matrix(table, {BUNDLED: run.spec}, frozenset(), name).cells[0, 0]
    assert [*cell.coverage_band, *cell.set_size.ends] == ends[:4]
    view = AlphaLabView(alpha=250, left=name, right="lac")
    lab = frames.score_table(alpha_lab_cache.lab_report(BUNDLED, alpha_lab_cache.sets_of(BUNDLED, view)))
    rule = SetRule(250, (name,))
    of_arrays = hedge.sets(
        run.option_probabilities,
        run.labels,
        alpha=0.25,
        score=name,
        calibration=np.isin(np.arange(len(run.labels)), run.calibration),
        seed=run.spec.seed,
    )
    sizes = (("coverage", "mean_set_size", "uacc"), ("coverage", "set_size", "uacc"))
    places = {
        "hedge report": [end for key in keys for end in of_report[key]],
        "hedge compare": _ends(by_command["compare"]["runs"][0], sizes[1]),
        "Overview": _ends(table.iloc[0], [f"{name}_{figure}" for figure in sizes[1]]),
        "figure of accuracy and set size": _ends(
            frames.overview([run], 250, (name,)).iloc[0], [f"{name}_{figure}" for figure in sizes[1]]
        ),
        "Alpha lab": _ends(lab.iloc[0], sizes[0]),
        "Compare and exports": _ends(exports.rows([run], rule).iloc[0], sizes[1]),
        "Prompting": _ends(figures([PromptingMethod(BUNDLED, "letters", 0)], [run], rule).iloc[0], sizes[1]),
        "hedge.report": _ends(hedge.report(BUNDLED, alpha=0.25, scores=[name]).frame.iloc[0], sizes[0]),
        "hedge.sets": _ends(of_arrays.frame.iloc[0], sizes[0]),
    }
    assert all(shown == ends for shown in places.values()), places


def _ends(row, figures):
    return [row[f"{figure}_{end}"] for figure in figures for end in ("low", "high")]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hedge.sets(PROBABILITIES, LABELS, alpha=1.5), r"alpha must lie in \(0, 1\), got 1\.5"),
        (lambda: hedge.sets(PROBABILITIES, LABELS, alpha="0.1"), r"alpha must be a number, got '0\.1' \(str\)"),
        (lambda: hedge.report(PROBABILITIES, LABELS, alpha=None), r"alpha must be a number, got 'None' \(NoneType\)"),
        (lambda: hedge.lab(PROBABILITIES, LABELS, alpha=[0.1]), r"alpha must be a number, got '\[0\.1\]' \(list\)"),
        (lambda: hedge.sets(PROBABILITIES, LABELS, alpha=True), r"alpha must be a number, got 'True' \(bool\)"),
        (lambda: hedge.sets(PROBABILITIES, LABELS, alpha=float("nan")), r"alpha must lie in \(0, 1\), got nan"),
        (lambda: hedge.sets(PROBABILITIES, LABELS, score=["lac"]), r"unknown score \['lac'\]"),
        (lambda: hedge.report(PROBABILITIES, LABELS, scores="lac"), "scores must be a list of names"),
        (lambda: hedge.report(PROBABILITIES, LABELS, scores=None), "scores must be a list of names"),
        (lambda: hedge.sets(PROBABILITIES, LABELS, empty=None), "unknown policy for empty sets None"),
        (lambda: hedge.lab(PROBABILITIES, LABELS, name=5), "name must be a text, got 5"),
        (lambda: hedge.lab(PROBABILITIES, LABELS, questions=None), "questions must be a list of texts"),
        (lambda: hedge.report(PROBABILITIES), "probabilities need labels"),
        (lambda: hedge.report("some-run", LABELS), "has its own labels"),
        (lambda: hedge.report("some-run"), "some-run"),
        (lambda: hedge.lab(PROBABILITIES, LABELS, scores=["lac"]), "two scores side by side, got 1: lac"),
        (lambda: hedge.lab(PROBABILITIES, LABELS, empty="fill"), "unknown policy for empty sets"),
    ],
)
def test_an_error_is_one_sentence(home, call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_no_set_is_empty_where_empty_sets_take_the_top_option():
    rng = np.random.default_rng(2)
    p, labels = np.repeat([[0.9, 0.1], [0.6, 0.4]], 50, axis=0), np.zeros(100, dtype=int)
    order = rng.permutation(100)
    left, filled = (
        hedge.sets(p[order], labels, alpha=0.6, calibration=range(50), empty=empty) for empty in ("allow", "top1")
    )
    assert left.figures.empty_rate == left.figures.sizes[0] / 50 > 0.3
    assert filled.figures.empty_rate == filled.figures.sizes[0] == 0
    assert "<td" in filled._repr_html_()
    assert "0.0%" in filled._repr_html_()


def test_numbers_of_numpy_are_numbers():
    expected = hedge.sets(PROBABILITIES, LABELS, alpha=0.2, seed=3)
    for alpha in (np.float32(0.2), np.float64(0.2), np.array(0.2)):
        result = hedge.sets(PROBABILITIES, LABELS, alpha=alpha, seed=np.int64(3))
        assert (result.sets, result.alpha) == (expected.sets, 0.2)


def test_a_notebook_shows_no_traceback(capsys):
    shell = InteractiveShell.instance()
    try:
        shell.run_cell("from core.errors import InputError\nraise InputError('alpha must lie in (0, 1), got 7')")
        assert capsys.readouterr().out.strip() == "InputError: alpha must lie in (0, 1), got 7"
    finally:
        InteractiveShell.clear_instance()
