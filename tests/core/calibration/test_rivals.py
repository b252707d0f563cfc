"""Calibration errors beside torchmetrics, netcal and relplot (recorded by ``golden/make_calibration_rivals.py``), and
recalibration beside scikit-learn (live).

Where definitions part: netcal cuts bins of equal mass at interpolated quantiles, which are our edges only where the
bins divide the number of questions; relplot cuts its kernel off at half the axis, shares questions out between the
points of a finer grid, adds 1e-4 to the density and looks for the width in steps of 1/1024. torchmetrics sums in
float32.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from core.calibration import recalibration
from core.calibration.bins import TopLabel, top_label
from core.calibration.errors import top_errors
from core.calibration.reliability import reliability
from core.calibration.smooth import error_at, on_grid, smooth_error
from core.conformal.probabilities import softmax

pytestmark = pytest.mark.quick

RIVALS = json.loads((Path(__file__).parents[2] / "golden" / "calibration.json").read_text())
BINS = (1, 10, 15)


@pytest.fixture(params=RIVALS, scope="module")
def case(request):
    values = RIVALS[request.param]
    return top_label(np.array(values["probabilities"]), np.array(values["labels"])), values


@pytest.mark.parametrize("bins", BINS)
def test_torchmetrics(case, bins):
    top, expected = case
    result = top_errors(top, bins=bins)
    assert result.ece == pytest.approx(expected["torchmetrics"][f"l1 {bins}"], abs=1e-6)
    assert result.mce == pytest.approx(expected["torchmetrics"][f"max {bins}"], abs=1e-6)


@pytest.mark.parametrize("bins", BINS)
def test_netcal(case, bins):
    top, expected = case
    result = top_errors(top, bins=bins)
    assert result.ece == pytest.approx(expected["netcal"][f"ece {bins}"], abs=1e-9)
    assert result.mce == pytest.approx(expected["netcal"][f"mce {bins}"], abs=1e-9)
    if len(top) % bins == 0 and f"mass {bins}" in expected["netcal"]:
        mass = top_errors(top, bins=bins, by="mass").ece
        assert mass == pytest.approx(expected["netcal"][f"mass {bins}"], abs=1e-9)


@pytest.mark.parametrize(("width", "apart"), [("0.05", 5e-4), ("0.1", 5e-4)])
def test_relplot_at_a_width(case, width, apart):
    top, expected = case
    result = error_at(on_grid(top.confidence, top.gap), len(top), float(width))
    assert float(result) == pytest.approx(expected["relplot"][width], abs=apart)


def test_relplot_with_its_own_width(case):
    top, expected = case
    # Of four questions the width is .23, where half of relplot's kernel is cut off.
    apart = 0.01 if len(top) < 10 else 5e-4
    assert smooth_error(top) == pytest.approx(expected["relplot"]["automatic"], abs=apart)


def test_scikit_learns_calibration_curve():
    rng = np.random.default_rng(4)
    c = rng.random(500)
    top = TopLabel(c, (rng.random(500) < c).astype(float))
    for strategy, by in (("uniform", "width"), ("quantile", "mass")):
        accuracy, confidence = calibration_curve(top.correct, c, n_bins=10, strategy=strategy)
        filled = [b for b in reliability(top, rng=rng, bins=10, by=by, draws=5) if b.n]
        assert [b.accuracy for b in filled] == pytest.approx(accuracy.tolist(), abs=1e-9)
        assert [b.confidence for b in filled] == pytest.approx(confidence.tolist(), abs=1e-9)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(8)
    # Of 64 parts each has at least one: many equal probabilities, none of them equal but for rounding.
    p = (1 + rng.multinomial(60, rng.dirichlet(np.ones(4), size=600))) / 64
    return p, (p.cumsum(axis=1) ** 1.5 > rng.random((600, 1))).argmax(axis=1)


def test_isotonic_regression(problem):
    p, y = problem
    fitted = recalibration.fit_isotonic(np.log(p), y)
    points = np.linspace(0, 1, 301)
    for j, rising in enumerate(fitted.functions):
        rival = IsotonicRegression(out_of_bounds="clip").fit(p[:, j], y == j)
        assert rising(points) == pytest.approx(rival.predict(points), abs=1e-9)


def test_vector_scaling_is_no_worse_than_logistic_regression_of_each_option_alone(problem):
    p, y = problem
    logs = np.log(p)
    fitted = recalibration.fit_vector(logs, y)
    # Scikit-learn's full matrix of weights has ours among its own: it can only be better, and ours than no map at all.
    full = LogisticRegression(C=np.inf, max_iter=10_000, tol=1e-8).fit(logs, y).predict_proba(logs)
    rows = np.arange(len(y))
    losses = [-np.log(q[rows, y]).mean() for q in (full, softmax(fitted.logits(logs)), p)]
    assert losses[0] <= losses[1] + 1e-6 <= losses[2]


def test_platts_sigmoid(problem):
    p, y = problem
    fitted = recalibration.fit_platt(np.log(p), y)
    for j in range(p.shape[1]):
        x = (np.log(p[:, j]) - np.log1p(-p[:, j]))[:, None]
        n, true = len(y), int((y == j).sum())
        weights = np.where(y == j, (true + 1) / (true + 2), 1 / (n - true + 2))
        # A soft target is a true one of its weight and a false one of the rest.
        rival = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(
            np.concatenate([x, x]), np.repeat([1, 0], n), sample_weight=np.concatenate([weights, 1 - weights])
        )
        assert fitted.sigmoids[j].slope == pytest.approx(float(rival.coef_[0, 0]), rel=1e-3)
        assert fitted.sigmoids[j].intercept == pytest.approx(float(rival.intercept_[0]), rel=1e-3, abs=1e-4)
