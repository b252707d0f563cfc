"""``hedge plan``: its figures as text and as JSON, and what it refuses."""

import json
from pathlib import Path

import pytest

from core.reports import question_plan
from core.reports.compare.power import ROUGH
from core.reports.evaluation import load
from hedge.cli import main
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def test_the_text_has_the_questions_and_json_all_figures(capsys: pytest.CaptureFixture[str]):
    words = ["plan", "--width", "0.05", "--accuracy", "0.7", "0.75", "--questions", "500"]
    assert main([*words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["threshold"]["calibration"] == 9
    assert values["width"]["questions"] == question_plan.for_width(0.05, 100, 0.5).questions
    assert values["width"]["reached"] <= 0.05
    assert values["accuracy"]["wanted"] == pytest.approx(0.05)
    assert values["questions"]["set_size"] is None  # no pilot says how set sizes vary
    assert values["runs"] is None
    assert main(words) == 0
    text = capsys.readouterr().out
    for need in ("threshold", "width", "accuracy"):
        assert f"{values[need]['questions']:,} questions, {values[need]['calibration']:,} to calibrate" in text
    assert "independently" in text


def test_runs_say_what_they_could_have_shown(home: Path, capsys: pytest.CaptureFixture[str]):
    names = [synthetic_run(model=f"m-{i}", signal=2 + i, seed=4) for i in range(2)]
    assert main(["plan", "--runs", *names, "--difference", "0.1", "--size-difference", "0.3", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    pilot = question_plan.pilot_of([load(name) for name in names], 100)
    own = question_plan.figures_of(pilot, pilot.calibration, pilot.tests, 100)
    assert (values["runs"]["accuracy"], values["runs"]["set_size"]) == (own.accuracy, own.set_size)
    assert values["set_size"]["questions"] == question_plan.for_set_size(pilot, 0.3, 0.5).questions
    assert values["rough"]  # about ten of a hundred calibration questions are missed by each run
    assert main(["plan", "--runs", names[0]]) == 0
    text = capsys.readouterr().out
    assert "test questions show a difference of" in text
    assert ROUGH in text


def test_the_caveats_of_the_pilot_runs_stand_with_the_plan(home: Path, capsys: pytest.CaptureFixture[str]):
    name = synthetic_run(n=24)
    assert main(["plan", "--runs", name, "--json"]) == 0
    text = json.loads(capsys.readouterr().out)["caveats"][name]
    assert text.startswith("Only 12 calibration and 12 test questions")
    assert main(["plan", "--runs", name]) == 0
    assert f"{name}: {text}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--alpha", "1.2"], "alpha must lie in (0, 1), got 1.2"),
        (["--width", "nan"], "between 0 and 1, got nan"),
        (["--power", "1"], "the power must lie in (0, 1), got 1"),
        (["--power", "0.04"], "above the significance, 0.05, got 0.04"),
        (["--calibration-share", "0"], "must lie in (0, 1), got 0"),
        (["--questions", "1"], "from 2 to 1,000,000, got 1"),
        (["--size-difference", "0.2"], "name one or two finished runs"),
        (["--agreement", "0.9", "--difference", "0.5"], "differ by at most 0.1 in accuracy, got 0.5"),
        (["--accuracy", "0.7"], "an accuracy or an agreement alone asks for nothing"),
        (["--accuracy", "0.7", "0.7"], "both accuracies are 0.7, so there is no difference to find"),
        (["--runs", "nonesuch"], "there is no run 'nonesuch'"),
        (["--runs", "nonesuch", "--agreement", "0.8"], "leave out --accuracy and --agreement"),
    ],
)
def test_bad_values_are_one_sentence(home: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str):
    assert main(["plan", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert says in err


def test_a_plan_without_test_questions_says_so(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", "--questions", "30", "--calibration-share", "0.99"]) == 0
    assert "30 questions, 30 to calibrate and 0 to test, leave none to test." in capsys.readouterr().out
