"""Sets and p-values of 2 to 1,000 classes beside MAPIE (live), TorchCP and crepes (recorded by
``tests/golden/make_class_rivals.py``)."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

import hedge
from tests.golden.make_class_rivals import ALPHAS, ASKED, CLASSES, RAPS_PARAMETERS, N, data, described

pytestmark = pytest.mark.nightly

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "class_rivals.json").read_text())


@cache
def sets(k, name, by):
    p, labels = data(k)
    rows = N + ASKED
    parameters = RAPS_PARAMETERS if name == "raps" else None
    found = hedge.sets(
        p[:rows], labels[:rows], score=name, by=by, alpha=ALPHAS, calibration=range(N), parameters=parameters
    )
    return dict(zip(ALPHAS, found, strict=True))


@pytest.mark.parametrize("k", CLASSES)
def test_torchcp(k):
    rows = [row[2:] for row in GOLDEN if row[:2] == ["torchcp", k]]
    assert len(rows) == 12
    for alpha, name, by, sizes, places in rows:
        found = sets(k, name, by)[alpha]
        members = found.members
        if by == "class":
            members = members & np.isfinite([*found.thresholds.values()])
        if name == "raps" and k == 2 and found.figures.mean_set_size == k:
            continue  # TorchCP's sums of all probabilities end next to 1, and options fall out of full sets by chance
        assert described(members) == [sizes, places], (alpha, name, by)


@pytest.mark.parametrize("k", CLASSES)
def test_p_values_of_crepes(k):
    rows = [row[3:] for row in GOLDEN if row[:2] == ["crepes", k]]
    assert len(rows) == 4
    for name, by, total, largest in rows:
        p_values = sets(k, name, by)[0.1].p_values
        assert p_values.sum(axis=1) == pytest.approx(np.array(total), abs=1e-9)
        assert p_values.max(axis=1) == pytest.approx(np.array(largest), abs=1e-12)


@pytest.mark.parametrize("k", CLASSES)
def test_mapie(k):
    class Given(ClassifierMixin, BaseEstimator):
        """A classifier whose inputs are its probabilities."""

        classes_ = np.arange(k)

        def fit(self, X, y):  # noqa: N803
            return self

        def predict_proba(self, X):  # noqa: N803
            return np.asarray(X)

        def predict(self, X):  # noqa: N803
            return np.asarray(X).argmax(axis=1)

        def __sklearn_is_fitted__(self):
            return True

    p, labels = data(k)
    for alpha in ALPHAS:
        rival = SplitConformalClassifier(
            estimator=Given(), confidence_level=1 - alpha, conformity_score="lac", prefit=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not every class is among the calibration questions
            rival.conformalize(p[:N], labels[:N])
        _, members = rival.predict_set(p[N : N + ASKED])
        assert np.array_equal(sets(k, "lac", "all")[alpha].members, members[:, :, 0])
