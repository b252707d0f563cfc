"""All 999 alphas here against one alpha in MAPIE, LAC and APS, interleaved in one process.

    python tests/benchmarks/conformal_vs_mapie.py

10,000 calibration and 10,000 test questions of six options. Ours: scores of all options, then threshold, coverage,
mean size and the histogram of sizes at 1 to 999 thousandths. MAPIE's: ``conformalize`` and ``predict_set`` at
alpha 0.1. CPU time of one process; the median of the rounds, and the ratio of the two sums.
"""

import json
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.conformal.curve import alpha_curve
from core.conformal.probabilities import softmax
from core.conformal.scores import score, true_scores

N, K, ROUNDS = 10_000, 6, 15


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are its probabilities."""

    classes_ = np.arange(K)

    def fit(self, X, y):  # noqa: N803
        return self

    def predict_proba(self, X):  # noqa: N803
        return np.asarray(X)

    def predict(self, X):  # noqa: N803
        return np.asarray(X).argmax(axis=1)

    def __sklearn_is_fitted__(self):
        return True


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, K, 2 * N)
    logits = rng.normal(size=(2 * N, K)) * 1.2
    logits[np.arange(2 * N), labels] += 1.3
    p = softmax(logits)

    def ours(name: str) -> None:
        calibration, test = score(name, p[:N]), score(name, p[N:])
        alpha_curve(true_scores(calibration, labels[:N]), test, labels[N:])

    def mapie(name: str) -> None:
        rival = SplitConformalClassifier(
            estimator=Given(), confidence_level=0.9, conformity_score=name, prefit=True, random_state=0
        )
        rival.conformalize(p[:N], labels[:N])
        rival.predict_set(p[N:], conformity_score_params={"include_last_label": True} if name == "aps" else {})

    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name in ("lac", "aps"):
            for who, call in (("ours", ours), ("mapie", mapie)):
                begun = time.process_time()
                call(name)
                times.setdefault(f"{who} {name}", []).append(1000 * (time.process_time() - begun))
    medians = {key: round(statistics.median(values), 2) for key, values in times.items()}
    ratio = (medians["ours lac"] + medians["ours aps"]) / (medians["mapie lac"] + medians["mapie aps"])
    print(json.dumps({"milliseconds": medians, "ours_999_alphas_to_mapie_one": round(ratio, 2)}))


if __name__ == "__main__":
    main()
