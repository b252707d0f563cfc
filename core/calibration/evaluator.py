"""The four methods of the published ARD-LoRA evaluator, under their published names.

As in the published code, NLL is clipped (the probability of a true class counts as at least 1e-8), and if several
classes are equally probable, the first is the predicted one. Everywhere else Hedge computes NLL from log-probabilities
without a floor (:mod:`core.calibration.metrics`) and takes the last of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.calibration.bins import ECE_BINS, check_bins
from core.calibration.metrics import accuracy, expected_calibration_error
from core.conformal.probabilities import check_labels, check_probabilities
from core.errors import InputError
from core.records import FloatArray, IntArray

PUBLISHED_FLOOR = 1e-8
"""The published NLL replaces smaller probabilities of a true class by this one."""


class UncertaintyEvaluator:
    """Accuracy, NLL and ECE of predicted probabilities ``y_probs`` (n, classes) with labels ``y_true`` (n,).

    Every method raises :class:`InputError` for arrays of wrong shapes or values.

    >>> found = UncertaintyEvaluator().evaluate_predictions([0, 1], [[0.75, 0.25], [0.75, 0.25]])
    >>> found["accuracy"], found["ece"], found["n_samples"], found["n_classes"]
    (0.5, 0.25, 2, 2)
    """

    def __init__(self, n_bins: int = ECE_BINS) -> None:
        self.n_bins = check_bins(n_bins)

    def compute_accuracy(self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> float:
        """The share of predicted classes ``y_pred`` (n,) that are the true ones."""
        true, predicted = np.asarray(y_true), np.asarray(y_pred)
        if true.ndim != 1 or true.shape != predicted.shape or len(true) == 0:
            raise InputError(
                f"labels have shape {true.shape} and predictions {predicted.shape}; expected (n,) for both, n ≥ 1"
            )
        return float((true == predicted).mean())

    def compute_nll(self, y_true: npt.ArrayLike, y_probs: npt.ArrayLike) -> float:
        """The published, clipped NLL: the mean of −log max(p(true), 1e-8), in nats."""
        p, y = _checked(y_true, y_probs)
        return float(-np.log(np.maximum(p[np.arange(len(y)), y], PUBLISHED_FLOOR)).mean())

    def compute_ece(self, y_true: npt.ArrayLike, y_probs: npt.ArrayLike) -> float:
        """The expected calibration error of the top class in equal-width bins."""
        p, y = _checked(y_true, y_probs)
        return expected_calibration_error(p, y, bins=self.n_bins, ties="first")

    def evaluate_predictions(self, y_true: npt.ArrayLike, y_probs: npt.ArrayLike) -> dict[str, float]:
        """A dictionary of ``accuracy, nll, ece, n_samples, n_classes``."""
        p, y = _checked(y_true, y_probs)
        return {
            "accuracy": accuracy(p, y, ties="first"),
            "nll": self.compute_nll(y, p),
            "ece": self.compute_ece(y, p),
            "n_samples": len(y),
            "n_classes": p.shape[1],
        }


def _checked(y_true: npt.ArrayLike, y_probs: npt.ArrayLike) -> tuple[FloatArray, IntArray]:
    p = check_probabilities(np.asarray(y_probs, dtype=np.float64))
    if len(p) == 0:
        raise InputError("there are no predictions; an evaluation needs at least one")
    return p, check_labels(np.asarray(y_true), n=len(p), k=p.shape[1])
