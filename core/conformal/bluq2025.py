"""APS as BLUQ's authors computed it, to the last bit of double precision.

An option's score is the sum, in the options' order, of the probabilities that are at least its own. The sets add up the
same probabilities in falling order. The two sums of all options differ in their last bit, so where the threshold is 1,
which options are kept is rounding noise, and only the same order of additions gives the published figures
(github.com/mani2001/BLUQ, ``src/conformal/scorers.py``).
"""

import numpy as np

from core.conformal.threshold import bluq
from core.records import BoolArray, FloatArray, IntArray


def aps_members(
    calibration: FloatArray, calibration_labels: IntArray, test: FloatArray, *, alpha: int
) -> tuple[BoolArray, float]:
    """The sets of the test rows (m, k) of ``test`` at ``alpha`` thousandths, and the threshold.

    ``calibration`` is (n, k) with ``calibration_labels`` (n,). Both tables are probabilities in double precision.
    """
    scores = np.array(
        [np.sum(p[p >= p[label]]) for p, label in zip(calibration, calibration_labels, strict=True)], dtype=np.float64
    )
    threshold = bluq(scores, alpha)
    # of equal options the later one comes first: a stable ascending order, read backwards
    order = np.argsort(test, axis=1, kind="stable")[:, ::-1]
    total = np.cumsum(np.take_along_axis(test, order, axis=1), axis=1)
    included = np.logical_and.accumulate(total <= threshold, axis=1)
    included[:, 0] = True
    members = np.zeros(test.shape, dtype=np.bool_)
    np.put_along_axis(members, order, included, axis=1)
    return members, threshold
