"""A lesson has all its words, its data is that of the run, and a broken file is refused in one sentence."""

import re
from pathlib import Path

import numpy as np
import pytest

from core.conformal.mondrian import least_covered_p_values
from core.errors import InputError
from core.reports import evaluation, lesson
from core.reports.alpha_lab import covariate_shift
from core.reports.frames import lab_tables
from core.reports.report import report
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def both_sides(run_id: str) -> tuple[evaluation.Evaluation, covariate_shift.Shifted, covariate_shift.Search]:
    run = evaluation.load(run_id)
    sides = {name: covariate_shift.side(run, name, by="lac") for name in covariate_shift.subjects(run)}
    result = covariate_shift.search(list(sides.values()))
    assert result
    return run, covariate_shift.shifted(sides[result.source], sides[result.target]), result


def test_no_number_is_typed_into_the_lesson():
    for step in lesson.load().steps:
        for text in step.texts:
            assert not re.search(r"\d", re.sub(r"\{\w+\}", "", text)), step.name


def test_there_are_eight_steps_with_a_guess_each():
    steps = lesson.load().steps
    assert len(steps) == 8
    assert len({step.name for step in steps}) == 8
    assert len({step.guess.of for step in steps}) == 8
    for step in steps:
        assert step.guess.question.endswith("?")
        assert (step.guess.kind == "choice") == (len(step.guess.choices) > 1)


def test_the_data_is_the_labs_with_examples_of_both_sides(home: Path):
    run, shift, search = both_sides(synthetic_run(400, seed=3))
    sent, lab = lesson.lesson_tables(run, shift, search), lab_tables(run)
    assert sent["rows"].equals(lab["rows"])
    rows = sent["examples"]["row"].to_numpy()
    own = sent["rows"]["own"].to_numpy()[rows]
    assert (own.sum(), len(own)) == (lesson.EXAMPLES, 2 * lesson.EXAMPLES)
    assert (np.diff(rows) > 0).all()
    assert sent["questions"]["id"].to_pylist() == run.ids[sent["rows"]["place"].to_numpy()[rows]].tolist()
    assert sent["shift"] | {"p_value": 0} == {
        "source": search.source,
        "target": search.target,
        "n": 200,
        "m": 200,
        "pairs": 2,
        "p_value": 0,
        "searched_at": 100,
    }
    assert sent["curves"]["coverage"].to_pylist() == shift.coverage.tolist()
    again = lesson.lesson_tables(run, shift, search)
    assert again["examples"].equals(sent["examples"])
    assert again["least_covered"].equals(sent["least_covered"])


def test_the_least_covered_subject_has_its_p_value_at_every_alpha(home: Path):
    run = evaluation.load(synthetic_run(400, seed=3))
    p_values, draws = lesson.least_covered_by_alpha(run)
    assert (p_values.shape, draws) == ((999,), 999)
    for alpha in (1, 100, 255, 999):
        strata = report(run, alpha).scores["lac"].strata
        hits = np.rint([[stratum.coverage * stratum.m for stratum in strata]]).astype(np.int64)
        tested = np.array([stratum.m for stratum in strata])
        rng = np.random.default_rng([run.spec.seed, 0x1EA])
        assert p_values[alpha - 1] == least_covered_p_values(hits, tested, rng=rng, draws=draws)[0]


def test_large_runs_are_shuffled_less_often(home: Path, monkeypatch: pytest.MonkeyPatch):
    run = evaluation.load(synthetic_run(400, seed=3))
    monkeypatch.setattr(lesson, "MOST_WORK", 1000)
    assert lesson.least_covered_by_alpha(run)[1] == lesson.FEWEST_DRAWS


def test_a_run_of_one_subject_has_no_shift(home: Path):
    sent = lesson.lesson_tables(evaluation.load(synthetic_run()), None, None)
    assert sent["shift"] is None
    assert "curves" not in sent


STEP = "[[step]]\nname = 'a'\ntitle = 'b'\ntext = 'c'\nanswer = 'd'\nlearned = 'e'\n"
GUESS = "question = 'f'\nkind = 'share'\nof = 'g'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 'x", "can't be read .*; install Hedge again"),
        (b"title = '\xff'", "can't be read .*; install Hedge again"),
        ("title = 'x'\nsubtitle = 'y'", "needs a title, a subtitle and at least one step"),
        ("title = 'x'\n[[step]]\nname = 'a'", "step 1 of the lesson .* lacks title, text, answer, learned, guess"),
        (f"title = 'x'\n{STEP}[step.guess]\nkind = 'word'", "a guess of the kind 'word'; choose from share, score"),
        (f"title = 'x'\n{STEP}[step.guess]\nkind = 'share'", "can't be read .*question.*; install Hedge again"),
        (f"title = 'x'\n{STEP}tatle = 'x'\n[step.guess]\n{GUESS}", "can't be read .*tatle.*; install Hedge again"),
    ],
)
def test_a_broken_lesson_is_one_sentence(tmp_path: Path, text: str | bytes, message: str):
    path = tmp_path / "lesson.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        lesson.load(path)
