"""Inspect evaluates its mock model with known log-probabilities; the scorer's figures are those of core."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from core.conformal.probabilities import softmax
from core.reports.array_evaluation import of_arrays
from core.reports.report import report
from core.settings import ROOT
from tests.hedge.known_model import LABELS, LOGPS, SILENT, N

COUNTS = ("calibration_questions", "test_questions", "bounded_questions")
PAGE = (ROOT / "docs" / "text" / "inspect.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def inspected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The figures of Inspect, from a process of its own."""
    folder = tmp_path_factory.mktemp("inspect")
    command = [sys.executable, "-m", "tests.hedge.run_inspect", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads((folder / "figures.json").read_text())


def expected(alpha: int, *, name: str = "lac", share: float = 0.5, seed: int = 0) -> dict[str, float]:
    """The figures from what the model really gave."""
    rows = np.delete(np.arange(N), SILENT)
    p = softmax(LOGPS[rows].astype(np.float32))
    run = of_arrays(p, LABELS[rows], calibration=share, seed=seed)
    result = report(run, alpha, scores=(name,))
    sets = result.scores[name]
    return {
        "coverage": sets.coverage,
        "mean_set_size": sets.mean_set_size,
        "threshold": sets.threshold,
        "accuracy": result.accuracy,
        "ece": result.ece,
        "ece_beyond_luck": result.ece_excess,
        "brier": result.brier,
        **dict(zip(COUNTS, (len(run.calibration), len(run.test), 0), strict=True)),
    }


def test_figures_are_those_of_core_and_a_silent_sample_is_unscored(inspected):
    live = inspected["live"]
    assert live["figures"] == pytest.approx(expected(200), abs=1e-6)
    assert live["unscored"] == 1
    assert live["samples"][f"q{SILENT}"]["explanation"].startswith("No log-probabilities of an answer's letter")
    assert live["samples"]["q0"]["answer"] == "ABCD"[LOGPS[0].argmax()]
    assert live["samples"]["q0"]["explanation"].startswith(f"A {100 * softmax(LOGPS[:1])[0, 0]:.1f}%")


def test_a_finished_log_with_shuffled_choices_and_epochs_gives_the_same_figures(inspected):
    assert inspected["again"]["figures"] == pytest.approx(expected(100, name="aps", share=0.3, seed=5), abs=1e-6)
    assert "score it with --action append" in inspected["order lost"]


def test_without_log_probabilities_the_figures_are_nan(inspected):
    assert inspected["silent"]["unscored"] == 3
    assert len(inspected["silent"]["figures"]) == len(expected(100))
    assert all(np.isnan(value) for value in inspected["silent"]["figures"].values())


def test_wrong_arguments_are_refused_before_the_evaluation(inspected):
    alpha, score, calibration = inspected["wrong"]
    assert alpha == "alpha must lie in (0, 1), got 2"
    assert score.startswith("unknown score 'lacs'")
    assert "(0, 1), got 1" in calibration


def test_the_documentation_s_task_runs_and_its_table_names_every_figure(inspected):
    figures = inspected["documented"]["figures"]
    assert (figures["calibration_questions"], figures["test_questions"]) == (3, 3)
    assert all(f"`{name}`" in PAGE for name in figures)
    assert "--scorer hedge/hedge_sets" in PAGE
