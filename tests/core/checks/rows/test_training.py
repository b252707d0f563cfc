"""What a training must come to."""

import math

import pytest

from core.checks.outcome import Place
from core.checks.rows import training
from core.checks.rows.training import STEPS, trained
from tests.core.checks.planted import assert_fails

FALLING = [3.0 - step / STEPS for step in range(STEPS)]


@pytest.mark.parametrize(
    ("losses", "used", "says"),
    [
        (FALLING[:-1], "", "19 steps were made and not 20"),
        ([*FALLING[:-1], math.nan], "", "no finite number"),
        (FALLING[::-1], "", "The loss did not fall"),
        ([2.0] * STEPS, "", "The loss did not fall"),
        (FALLING, "The stored juror does not judge.", "does not judge"),
    ],
)
def test_each_fault_fails_the_row(losses, used, says):
    assert trained(FALLING, used="", what="It judges.").passed
    assert_fails(trained(losses, used=used, what="It judges."), says)


def test_an_ard_lora_is_trained_and_read_again(home):
    found = training.ard_lora(Place("cpu"))
    assert found.passed, found.says
    assert "ranks are active" in found.says
