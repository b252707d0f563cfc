"""``hedge pass``: the confidence or the set size from which runs answer."""

import json

import numpy as np
import pytest

from core.reports import answer_or_pass
from core.reports.evaluation import load
from hedge.cli import main
from tests.conftest import synthetic_run


def test_a_run_answers_from_a_confidence(home, capsys):
    name = synthetic_run(n=400, signal=4.0)
    assert main(["pass", name, "--alpha", "0.2", "--delta", "0.05", "--json"]) == 0
    (values,) = json.loads(capsys.readouterr().out)
    result = answer_or_pass.run_sides(load(name)).selected(200, 50)
    (stage,) = values["stages"]
    assert (stage["judge"], stage["threshold"], values["by"]) == (name, result.stages[0].threshold, "confidence")
    assert (values["answered"], values["wrong"], values["error_high"]) == (
        result.answered,
        result.wrong,
        result.error_high,
    )
    assert (values["n_calibration"], values["n_judged"], values["alpha"], values["delta"]) == (200, 200, 0.2, 0.05)
    assert main(["pass", name, "--alpha", "0.2", "--delta", "0.05"]) == 0
    text = capsys.readouterr().out
    assert f"{result.share:.1%} of the questions are answered" in text
    assert "with confidence 95%, at most 20.0% of the answers are wrong, for questions like the 200" in text


def test_a_run_answers_up_to_a_set_size(home, capsys):
    name = synthetic_run(n=400, signal=4.0)
    assert main(["pass", name, "--alpha", "0.2", "--by", "set-size", "--set-alpha", "0.1", "--score", "aps"]) == 0
    text = capsys.readouterr().out
    assert "Answer if the set has 1" in text
    assert "a random half of the test questions calibrates this rule" in text
    sides = answer_or_pass.run_sides(load(name), by="set-size", score="aps")
    assert (len(sides.calibration), len(sides.judged), sides.k) == (100, 100, 6)
    (stage,) = sides.selected(200, 100).stages
    assert answer_or_pass.threshold_words(stage.threshold, 6) in text
    sizes = 7 - sides.judged.confidence[sides.judged.confidence > 0]
    assert set(sizes.tolist()) <= {1, 2, 3, 4, 5, 6}


def test_an_empty_set_is_passed_or_gets_the_top_option(home, capsys):
    name = synthetic_run(n=400, signal=4.0)
    answered = {}
    for empty in ("allow", "top1"):
        flags = ["--alpha", "0.5", "--by", "set-size", "--set-alpha", "0.4", "--empty", empty, "--json"]
        assert main(["pass", name, *flags]) == 0
        (values,) = json.loads(capsys.readouterr().out)
        sides = answer_or_pass.run_sides(load(name), by="set-size", sets_alpha=400, empty=empty)
        answered[empty] = values["answered"]
        assert values["answered"] == sides.selected(500, 100).answered
    assert answered["allow"] < answered["top1"] == values["n_judged"]


def test_sets_that_say_nothing_are_called_sets(home, capsys):
    """By set size, an empty set and sets of one size are no matter of confidence."""
    name = synthetic_run(k=3, signal=50.0)
    assert main(["pass", name, "--by", "set-size"]) == 0
    assert "All its sets have the same size" in capsys.readouterr().out
    nothing = answer_or_pass.SelectiveAnswers(np.zeros((60, 1)), np.zeros((60, 1)))
    result = answer_or_pass.selective(nothing, nothing, 100, 100)
    assert "All sets are empty." in answer_or_pass.text_lines(result, k=3)


def test_no_threshold_is_said_with_the_least_share_to_pass(home, capsys):
    name = synthetic_run(signal=0.0)
    assert main(["pass", name, "--alpha", "0.1"]) == 0
    text = capsys.readouterr().out
    assert "No threshold keeps this promise." in text
    run = load(name)
    base = answer_or_pass.run_sides(run).judged.wrong.mean()
    assert f"so about {(base - 0.1) / 0.9:.1%} must be passed at least" in text


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--alpha", "0"], "alpha must lie in (0, 1), got 0"),
        (["--delta", "2"], "delta must lie in (0, 1), got 2"),
        (["--delta", "0.999"], "delta must be at most 0.5, got 0.999"),
        (["--set-alpha", "0.00001"], "the alpha of the sets counts in thousandths"),
    ],
)
def test_wrong_numbers_are_refused(home, capsys, flags, says):
    assert main(["pass", synthetic_run(), *flags]) == 2
    assert says in capsys.readouterr().err


def test_a_single_test_question_has_no_half_that_calibrates_set_sizes(home, capsys):
    name = synthetic_run(n=2)
    assert main(["pass", name, "--by", "set-size"]) == 2
    assert "half of the test questions calibrate, and this run has only one; answer by confidence" in (
        capsys.readouterr().err
    )
