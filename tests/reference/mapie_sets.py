"""LAC sets as MAPIE forms them."""

from __future__ import annotations

import warnings

import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

from core.records import BoolArray, FloatArray, IntArray


class GivenProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are its probabilities."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.classes_ = np.arange(k)

    def fit(self, X: FloatArray, y: IntArray) -> GivenProbabilities:  # noqa: N803
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:  # noqa: N803
        return np.asarray(X)

    def predict(self, X: FloatArray) -> IntArray:  # noqa: N803
        return np.asarray(X).argmax(axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def mapie_sets(calibration: FloatArray, labels: IntArray, test: FloatArray, alpha: float) -> BoolArray:
    """Which options are in the set of each test question, (m, k), calibrated by probabilities (n, k)."""
    rival = SplitConformalClassifier(
        estimator=GivenProbabilities(test.shape[1]), confidence_level=1 - alpha, conformity_score="lac", prefit=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not every class has to be among the calibration questions
        rival.conformalize(calibration, labels)
    return rival.predict_set(test)[1][:, :, 0]
