"""A juror's confidence in its own verdict, on five scales. Each is fitted on calibration rows only, for each juror.

``published``  1 − the smallest ε of .01 … .99 for which the (1 − ε) quantile of S = 1 − p(the true label) is below the
               verdict's probability, or 0 if there is none. This ε is the smallest error rate at which a conformal set
               would contain the verdict alone
``p-value``    the same idea without steps: 1 − the conformal p-value of the other verdict
``platt``      the probability of the verdict after Platt's sigmoid of the log-odds
``isotonic``   the probability of the verdict after isotonic regression on p
``raw``        the probability that the juror gave to its verdict

A published confidence is not the probability that the verdict is right. It says how rarely a wrong verdict looked as
good as this one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.calibration.binary import Isotonic, Sigmoid
from core.conformal.pvalues import p_values
from core.conformal.threshold import rank
from core.errors import InputError
from core.jury.judgements import Judgements, one_sided
from core.records import BoolArray, FloatArray

GRID = np.arange(1, 100) / 100
"""The error rates ε of the published map: the decimals .01 … .99."""
SMALLEST = 1e-8
"""Probabilities are raised to at least this before logarithms are taken."""


@dataclass(frozen=True, slots=True)
class JurorVerdicts:
    """One juror's judgements of n rows: ``p_true``, ``p_false`` and ``verdicts`` (1, 0, or ½ for a tie), (n,) each."""

    p_true: FloatArray
    p_false: FloatArray
    verdicts: FloatArray

    @property
    def top(self) -> FloatArray:
        """The probability of the verdict, (n,)."""
        return np.maximum(self.p_true, self.p_false)


def log_odds(p_true: FloatArray, p_false: FloatArray) -> FloatArray:
    """``log p_true − log p_false``, in the same shape; probabilities below 1e-8 count as 1e-8."""
    return np.asarray(np.log(np.maximum(p_true, SMALLEST)) - np.log(np.maximum(p_false, SMALLEST)), dtype=np.float64)


def nonconformity(p_true: FloatArray, p_false: FloatArray, labels: BoolArray) -> FloatArray:
    """``S = 1 − p(the true label)``, (n,)."""
    return 1 - np.where(labels, p_true, p_false)


def _published(fitted: JurorVerdicts, labels: BoolArray, judged: JurorVerdicts) -> FloatArray:
    s = nonconformity(fitted.p_true, fitted.p_false, labels)
    levels = np.asarray(rank(len(s), 10 * np.arange(1, 100))) / len(s)
    # The thresholds of :func:`core.conformal.threshold.paper` at all 99 levels at once, which is much faster. levels
    # and quantiles are (99,), below is (n, 99).
    possible = levels <= 1
    quantiles = np.where(possible, np.quantile(s, np.minimum(levels, 1), method="higher"), np.inf)
    below = quantiles[None, :] < judged.top[:, None]
    return np.asarray(np.where(below.any(axis=1), 1 - GRID[below.argmax(axis=1)], 0.0), dtype=np.float64)


def _p_value(fitted: JurorVerdicts, labels: BoolArray, judged: JurorVerdicts) -> FloatArray:
    s = nonconformity(fitted.p_true, fitted.p_false, labels)
    return 1 - p_values(s, nonconformity(judged.p_true, judged.p_false, judged.verdicts == 0))


def _platt(fitted: JurorVerdicts, labels: BoolArray, judged: JurorVerdicts) -> FloatArray:
    true = Sigmoid.fit(log_odds(fitted.p_true, fitted.p_false), labels)(log_odds(judged.p_true, judged.p_false))
    return _in_verdict(true, judged)


def _isotonic(fitted: JurorVerdicts, labels: BoolArray, judged: JurorVerdicts) -> FloatArray:
    true = Isotonic.fit(fitted.p_true, labels)(judged.p_true)
    return _in_verdict(true, judged)


def _in_verdict(true: FloatArray, judged: JurorVerdicts) -> FloatArray:
    """The probability (n,) of each verdict from that of True; ½ for a tie."""
    return np.select([judged.verdicts == 1, judged.verdicts == 0], [true, 1 - true], 0.5)


def _raw(fitted: JurorVerdicts, labels: BoolArray, judged: JurorVerdicts) -> FloatArray:
    return judged.top


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale of confidence: its title, a sentence about it, and the function that computes it."""

    title: str
    sentence: str
    compute: Callable[[JurorVerdicts, BoolArray, JurorVerdicts], FloatArray]


CONFIDENCES = {
    "published": Scale(
        "Published",
        "1 minus the smallest error rate, in steps of 0.01, at which a conformal set would hold this verdict alone.",
        _published,
    ),
    "p-value": Scale("Conformal p-value", "1 minus the conformal p-value of the opposite verdict.", _p_value),
    "platt": Scale("Platt", "The probability of the verdict from a sigmoid fitted to the juror's log-odds.", _platt),
    "isotonic": Scale(
        "Isotonic",
        "The probability of the verdict from an isotonic (never falling) fit to the juror's probabilities.",
        _isotonic,
    ),
    "raw": Scale("Raw", "The probability that the juror itself gave to its verdict.", _raw),
}
"""Every confidence scale, by name."""


def confidence(name: str, calibration: Judgements, judged: Judgements) -> FloatArray:
    """Each juror's confidence in its own verdicts on ``judged``, from 0 to 1, (n, j), fitted on ``calibration``.

    Raises :class:`InputError` for an unknown scale, or if the calibration answers are all right or all wrong.
    """
    if name not in CONFIDENCES:
        raise InputError(f"unknown confidence {name!r}; choose from {', '.join(CONFIDENCES)}")
    check_both_classes(calibration)
    columns = [
        CONFIDENCES[name].compute(_verdicts_of(calibration, juror), calibration.labels, _verdicts_of(judged, juror))
        for juror in range(len(judged.jurors))
    ]
    return np.column_stack(columns)


def check_both_classes(calibration: Judgements) -> None:
    """Raises :class:`InputError` if the answers to fit on are all right or all wrong."""
    if calibration.labels.all() or not calibration.labels.any():
        raise InputError(
            f"for calibration, {one_sided(calibration)}, so nothing can be learned from them; take more answers, "
            "another share or another seed"
        )


def _verdicts_of(judgements: Judgements, juror: int) -> JurorVerdicts:
    return JurorVerdicts(judgements.p_true[:, juror], judgements.p_false[:, juror], judgements.verdicts[:, juror])
