"""Short-answer questions: TriviaQA's shapes, what counts as right, and invalid rows."""

import json

import pytest

from core.errors import InputError
from core.questions.trivia import is_right, normalized, read

pytestmark = pytest.mark.quick


def test_normalisation_by_hand() -> None:
    assert normalized("  The U.S.A. ") == "usa"
    assert normalized("an Andean theatre") == "andean theatre"
    assert is_right("The Beatles!", ("beatles",))
    assert not is_right("Beetles", ("beatles",))


def test_the_shipped_questions_keep_a_fact_and_its_inverse_together() -> None:
    questions = read("trivia")
    assert len(questions) > 2000
    assert len({question.id for question in questions}) == len(questions)
    about = {question.cluster for question in questions if "paris" in question.cluster.split()}
    assert "france paris" in about
    assert sum(question.cluster == "france paris" for question in questions) >= 2


def test_a_file_in_the_shape_of_trivia_qa(tmp_path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [
        {"question_id": "a", "question": "Who?", "answer": {"value": "Ann", "normalized_aliases": ["ann", "anna"]}},
        {"question_id": "b", "question": "What?", "answer": {"value": "The Moon", "aliases": ["Luna"]}},
        {"question": "Where?", "answer": "Here", "aliases": ["over here"]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reading = read(str(path))
    assert [question.normalized_aliases for question in reading] == [
        ("ann", "anna"),
        ("luna", "moon"),
        ("over here", "here"),
    ]
    assert [question.id for question in reading] == ["a", "b", "3"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"answer": "x"}, "question 1: expected a question"),
        ({"question": "Who?"}, "expected an answer or aliases, found none"),
        ({"question": "Who?", "answer": {"value": "x", "aliases": "x"}}, "expected aliases as a list of texts"),
    ],
)
def test_rows_that_are_no_questions(tmp_path, row, says) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=says):
        read(str(path))


def test_an_id_that_comes_twice(tmp_path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"question_id": "a", "question": "Who?", "answer": "x"}\n' * 2)
    with pytest.raises(InputError, match="question 2: the id 'a' is that of question 1"):
        read(str(path))
