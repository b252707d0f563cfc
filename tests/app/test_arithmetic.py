"""The browser's arithmetic equals core's: Node's test runner beside golden values that Python writes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from app.components import alpha_lab, learn
from app.components.alpha_lab import shift
from app.components.calibration import temperature
from app.components.compare import comparison, inspector
from app.components.one_question import option_bars
from charts.scripts import bundle, scripts
from core.conformal.scores import SCORES
from core.settings import ROOT
from tests.app import golden
from tests.app.javascript import node, passed_tests

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


def test_the_browsers_arithmetic_equals_pythons(home: Path, tmp_path: Path):
    path = golden.write(tmp_path)
    here = Path(__file__).parent
    passed = passed_tests([here / name for name in TESTS], HEDGE_GOLDEN=str(path), HEDGE_SCRIPTS=str(SCRIPTS))
    looks = sum(len(case.views) for case in golden.CASES.values())
    # A test for each look and for each score on it, four more of arithmetic, those of laws and of looks.
    laws = len(re.findall(r"^test\(", (here / "coverage_distributions.test.mjs").read_text(), re.MULTILINE)) + len(
        golden.BAND_SIZES
    )
    refusals = len(re.findall(r"^test\(", (here / "looks.test.mjs").read_text(), re.MULTILINE))
    assert passed == looks * (1 + len(golden.SCORE_NAMES)) + 4 + laws + refusals


@pytest.mark.parametrize(
    "component",
    [alpha_lab, shift, option_bars, temperature, learn, comparison, inspector],
    ids=lambda component: component.HERE.name,
)
def test_a_components_scripts_are_parts_of_one_module(component: ModuleType, tmp_path: Path):
    """They are joined into one, where no two may declare the same name and none is left out."""
    joined = tmp_path / "joined.mjs"
    text = bundle(component.SCRIPT)
    joined.write_text(text, encoding="utf-8")
    done = subprocess.run([node(), "--check", str(joined)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"^import\b", text, re.MULTILINE)
    for script in scripts(component.SCRIPT):
        for names in re.findall(r"^import \{([^}]*)\}", script.read_text(encoding="utf-8"), re.MULTILINE):
            for name in filter(None, map(str.strip, names.split(","))):
                declared = rf"^(?:export )?(?:async )?(?:function|const|class) {name}\b"
                assert re.search(declared, text, re.MULTILINE), (script.name, name)


def test_the_arithmetic_knows_no_page():
    for name in ARITHMETIC:
        text = (SCRIPTS / name).read_text(encoding="utf-8")
        assert not re.search(r"\b(document|window|HTMLElement)\b", text), name


def test_a_score_is_made_of_what_both_languages_round_alike():
    for name in SCORES:
        text = (SCRIPTS / "shared" / "scores" / f"{name.replace('-', '_')}.js").read_text(encoding="utf-8")
        assert "only + - * / and square roots, in rank order" in text, name
        assert set(re.findall(r"Math\.(\w+)", text)) <= {"max", "min", "abs", "floor", "sqrt"}, name
        assert "**" not in text, name


def test_no_line_begins_with_a_per_cent_sign():
    """A number and its per cent sign are joined by a space that no line breaks at."""
    for component in (alpha_lab, shift, option_bars, temperature, learn):
        for path in (*scripts(component.SCRIPT), *component.HERE.glob("*.html")):
            shown = [
                line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("//")
            ]
            assert not [line for line in shown if re.search(r"[\d}] %", re.sub(r"// .*", "", line))], path.name
