"""The temperature slider's arithmetic equals core's: Node's test runner beside golden values that Python writes."""

import re
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.app import golden_temperature
from tests.app.javascript import passed_tests

SCRIPTS = ROOT / "app" / "components" / "calibration" / "temperature"


def test_the_browsers_arithmetic_equals_pythons(home: Path, tmp_path: Path):
    passed = passed_tests(
        [Path(__file__).with_name("temperature.test.mjs")],
        HEDGE_GOLDEN=str(golden_temperature.write(tmp_path)),
    )
    cases = len(golden_temperature.CASE_NAMES)
    each = len(golden_temperature.TEMPERATURES) * len(golden_temperature.BINS) + 1
    assert passed == cases * each + 6


@pytest.mark.quick
def test_the_arithmetic_knows_no_page():
    text = (SCRIPTS / "tempering.js").read_text(encoding="utf-8")
    assert not re.search(r"\b(document|window|HTMLElement)\b", text)
