"""Thresholds and sets beside MAPIE (live) and TorchCP (recorded by ``tests/golden/make_rivals.py``)."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.conformal.probabilities import softmax
from core.conformal.scores import Parameters, score, true_scores
from core.conformal.sets import prediction_sets
from core.conformal.threshold import threshold
from tests.reference.mapie_sets import mapie_sets

pytestmark = pytest.mark.quick

RIVALS = json.loads((Path(__file__).parents[2] / "golden" / "rivals.json").read_text())


@pytest.fixture(scope="module")
def problem():
    p, labels = softmax(np.array(RIVALS["logits"])), np.array(RIVALS["labels"])
    half = len(p) // 2
    return p[:half], labels[:half], p[half:], labels[half:]


@pytest.mark.parametrize("name", ["lac", "aps"])
def test_torchcp(problem, name):
    calibration, labels, test, _ = problem
    values = true_scores(score(name, calibration), labels)
    for alpha, golden in zip(RIVALS["alphas"], RIVALS["torchcp"][name], strict=True):
        q = threshold(values, alpha)
        assert q == pytest.approx(golden["threshold"], abs=1e-12)
        # A hair above, for an option that scores the threshold itself in both, apart in the last bit.
        members = prediction_sets(score(name, test), q + 1e-12).members
        assert members.astype(int).tolist() == golden["sets"]


@pytest.mark.parametrize("name", RIVALS["torchcp_scores"])
def test_torchcp_scores_of_all_options(name):
    parameters = {"raps": Parameters(weight=0.1, free_ranks=1), "saps": Parameters(weight=0.2)}
    ours = score(name, softmax(np.array(RIVALS["logits"])), parameters=parameters.get(name, Parameters()))
    assert ours == pytest.approx(np.array(RIVALS["torchcp_scores"][name]), abs=1e-12)


@pytest.mark.parametrize("alpha", [50, 100, 200, 500])
def test_mapie_lac(problem, alpha):
    calibration, labels, test, _ = problem
    q = threshold(true_scores(score("lac", calibration), labels), alpha)
    members = prediction_sets(score("lac", test), q).members
    assert np.array_equal(members, mapie_sets(calibration, labels, test, alpha / 1000))
