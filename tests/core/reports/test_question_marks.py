"""The marks of questions tell a question from every other, and are made once for a set of questions."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError
from core.records import NOT_PUBLISHED
from core.reports import kept, question_identity, question_marks
from core.reports.question_marks import holds, mark_of, marks
from core.runs import store
from tests.conftest import synthetic_questions, synthetic_run

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def forgotten() -> None:
    question_marks._marks.cache_clear()


asked = store.read_question


def test_a_question_is_found_as_it_is_used_and_never_by_its_id_alone(home: Path):
    first, second = synthetic_run(20, model="a"), synthetic_run(40, model="b")
    other_options = marks(synthetic_run(20, model="c", k=4))
    assert len(marks(first)) == 20
    for name, tested in (("q0", False), ("q15", True)):  # the first ten calibrate
        assert holds(marks(first), mark_of(first, asked(first, name), tested=tested))
        assert not holds(marks(first), mark_of(first, asked(first, name), tested=not tested))
        assert not any(
            holds(other_options, mark_of(first, asked(first, name), tested=as_test)) for as_test in (True, False)
        )
    assert holds(marks(second), mark_of(first, asked(first, "q15"), tested=False))  # there the first twenty calibrate


def test_another_order_of_the_options_is_another_question_here(home: Path):
    run_id = synthetic_run(20)
    mark = mark_of(run_id, asked(run_id, "q15"), tested=True)
    turned = [replace(q, options=(*q.options[1:4], q.options[0], *q.options[4:])) for q in synthetic_questions(20)]
    store.write_questions(home / "runs" / run_id, turned, ["calibration"] * 10 + ["test"] * 10)
    assert not holds(marks(run_id), mark)


def test_questions_without_their_texts_are_found_by_their_source(home: Path):
    run_id = synthetic_run(20)
    untold = [replace(q, options=(NOT_PUBLISHED,) * 6) for q in synthetic_questions(20)]
    store.write_questions(home / "runs" / run_id, untold, ["calibration"] * 10 + ["test"] * 10)
    assert holds(marks(run_id), mark_of(run_id, asked(run_id, "q15"), tested=True))


def test_kept_marks_are_used_and_damaged_ones_made_again(home: Path, monkeypatch: pytest.MonkeyPatch):
    run_id = synthetic_run(20)
    first = marks(run_id)
    question_marks._marks.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(question_marks, "named_rows", lambda *_: pytest.fail("the questions were read"))
        assert marks(run_id).tolist() == first.tolist()
    (path,) = (home / "cache" / question_marks.KIND).iterdir()
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    question_marks._marks.cache_clear()
    assert marks(run_id).tolist() == first.tolist()
    question_marks._marks.cache_clear()
    monkeypatch.setattr(kept, "code", lambda: "other code")
    monkeypatch.setattr(question_marks, "named_rows", lambda *_: iter(()))
    assert marks(run_id).tolist() == []


def test_a_question_that_a_run_does_not_ask_is_refused(home: Path):
    with pytest.raises(InputError, match="has no question 'q99'"):
        asked(synthetic_run(20), "q99")


def test_a_question_is_read_whole_from_any_row(home: Path):
    questions = {q.id: q for q in synthetic_questions(40)}
    run_id = synthetic_run(40)
    for name in ("q0", "q21", "q39"):
        assert asked(run_id, name) == questions[name]
    assert question_identity.tests(run_id) == 20
