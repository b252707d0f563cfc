"""The answer in words: the bin that it is about, and the verdict on all answers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.calibration.reliability import ReliabilityBin
from core.reports.calibration.calibrated import CalibrationDiagram, CalibrationFigures, calibrated
from core.reports.calibration.in_words import (
    bin_in_words,
    telling_bin,
    verdict,
    verdict_in_words,
    verdicts_in_words,
)
from core.reports.evaluation import load
from tests.conftest import synthetic_run


def held(n: int, confidence: float, accuracy: float = 0.5) -> ReliabilityBin:
    return ReliabilityBin(0.0, 1.0, n, confidence, accuracy, accuracy - 0.1, accuracy + 0.1, 0.0, 1.0)


EMPTY = ReliabilityBin(0.0, 1.0, 0, *6 * [math.nan])


def diagram(*bins: ReliabilityBin) -> CalibrationDiagram:
    return CalibrationDiagram("run", "", sum(row.n for row in bins), 1, len(bins), "width", bins)


@pytest.mark.quick
def test_the_bin_is_the_one_nearest_to_90_percent_that_has_ten_answers_whatever_its_accuracy():
    bins = (EMPTY, held(40, 0.7), held(10, 0.88), held(9, 0.9), held(900, 0.99))
    assert telling_bin(diagram(*bins)) == 3
    assert telling_bin(diagram(*(row if not row.n else replace(row, accuracy=0.0) for row in bins))) == 3
    assert telling_bin(diagram(held(3, 0.9), EMPTY, held(9, 0.2))) == 3


@pytest.mark.quick
def test_a_bin_whose_interval_holds_its_confidence_tells_nothing():
    assert "can't tell" not in bin_in_words(held(28, 0.9, 0.54), "m")[1]
    assert bin_in_words(held(28, 0.9, 0.85), "m")[1].endswith(": can't tell if it is off")
    assert bin_in_words(replace(held(1, 0.9), accuracy_low=math.nan), "m") == (
        "When m says 90%, it is right 50% of the time",
        "1 answer, no interval: can't tell if it is off",
    )


def of_run(signal: float, power: float) -> CalibrationFigures:
    """The figures of a run whose probabilities are sharpened by ``power``: 1 is calibrated."""
    run = load(synthetic_run(2000, seed=3, signal=signal))
    sharp = run.probabilities**power
    sharp /= sharp.sum(axis=1, keepdims=True)
    (figures,) = calibrated(replace(run, probabilities=sharp, log_probabilities=np.log(sharp)))
    return figures


def test_the_verdict_is_that_of_the_test(home):
    over, under = of_run(2.0, 4.0), of_run(2.0, 0.4)
    assert (verdict(over), verdict(under)) == ("over", "under")
    assert verdict_in_words(over).endswith("overconfident.")
    assert verdict_in_words(under).endswith("underconfident.")
    calm = replace(over, test=replace(over.test, p_value=0.051))
    assert verdict_in_words(calm) == "Overall: calibrated, as far as we can tell."
    few = replace(over, test=replace(over.test, reason="few"))
    assert verdicts_in_words([over, over, under, calm, few]) == (
        "Of 5 diagrams, 2 show overconfidence, 1 shows underconfidence, 1 shows no error beyond chance and 1 has too "
        "few answers for a verdict."
    )
