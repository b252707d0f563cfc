"""The browser's arithmetic equals core's: Node's test runner beside golden values that Python writes."""

import re
from pathlib import Path

import pytest

from core.conformal.scores import SCORES, offered_scores
from core.settings import ROOT
from tests.app import golden
from tests.app.javascript import passed_tests
from tests.parameters import rest_nightly

SCRIPTS = ROOT / "app" / "components"
ARITHMETIC = (
    "shared/random_numbers.js",
    "shared/scores.js",
    *(f"shared/scores/{path.name}" for path in sorted((SCRIPTS / "shared" / "scores").glob("*.js"))),
    "shared/sets.js",
    "shared/coverage_distributions.js",
    "alpha_lab/splits.js",
    "alpha_lab/redraw.js",
)
TESTS = ("arithmetic.test.mjs", "coverage_distributions.test.mjs", "looks.test.mjs")


@pytest.mark.parametrize("short", rest_nightly([True, False], now=[True]))
def test_the_browsers_arithmetic_equals_pythons(home: Path, tmp_path: Path, short: bool):
    path = golden.write(tmp_path, short=short)
    here = Path(__file__).parent
    passed = passed_tests([here / name for name in TESTS], HEDGE_GOLDEN=str(path))
    looks = sum(
        len(views) * (1 + len(offered_scores(ordered=golden.CASES[name].ordered)))
        for name, views in golden.views(short=short).items()
    )
    # A test for each look and for each score on it, four more of arithmetic, those of laws and of looks.
    laws = len(re.findall(r"^test\(", (here / "coverage_distributions.test.mjs").read_text(), re.MULTILINE)) + len(
        golden.BAND_SIZES
    )
    refusals = len(re.findall(r"^test\(", (here / "looks.test.mjs").read_text(), re.MULTILINE))
    assert passed == looks + 4 + laws + refusals


def test_the_arithmetic_knows_no_page():
    for name in ARITHMETIC:
        text = (SCRIPTS / name).read_text(encoding="utf-8")
        assert not re.search(r"\b(document|window|HTMLElement)\b", text), name


def test_a_score_is_made_of_what_both_languages_round_alike():
    for name in SCORES:
        text = (SCRIPTS / "shared" / "scores" / f"{name.replace('-', '_')}.js").read_text(encoding="utf-8")
        assert set(re.findall(r"Math\.(\w+)", text)) <= {"max", "min", "abs", "floor", "sqrt"}, name
        assert "**" not in text, name
