"""When two questions are one: whatever their ids, their place in a file and the order of their options."""

import pytest

from core.questions import bank
from core.questions.identity import identity, set_digest
from core.questions.rotation import answers_only, reorderings, rotations
from core.records import DONT_KNOW, NONE_OF_ABOVE, Question

pytestmark = pytest.mark.quick

ASKED = Question("q1", "qa", "sums", "Of sums.", "1 + 1?", ("2", "3", "4", DONT_KNOW, NONE_OF_ABOVE), 0)


def of(question: Question) -> str:
    return identity(question.context, question.question, question.options, question.label)


def test_a_question_in_another_order_is_the_same_one():
    others = [*rotations(ASKED), *reorderings(ASKED, seed=0), answers_only(ASKED)]
    assert len(others) == 8
    assert {of(question) for question in others} == {of(ASKED)}


@pytest.mark.parametrize(
    "change",
    [
        {"context": "Of other sums."},
        {"question": "1 + 2?"},
        {"options": ("2", "3", "5")},
        {"options": ("2", "3")},
        {"label": 1},
    ],
)
def test_another_text_answer_or_truth_makes_another_question(change):
    values = {"context": ASKED.context, "question": ASKED.question, "options": ASKED.options, "label": 0} | change
    assert identity(**values) != of(ASKED)


def test_space_around_a_text_does_not_count():
    assert identity(" Of sums.\n", "1 + 1? ", ("4 ", "2", " 3"), 1) == of(ASKED)


def test_no_two_questions_of_the_bank_are_one_but_where_they_read_the_same():
    for task in bank.available():
        questions = bank.load(task)
        texts = {(q.context, q.question, tuple(sorted(q.options)), q.options[q.label]) for q in questions}
        assert len({of(q) for q in questions}) == len(texts)


def test_a_set_has_no_order_and_counts_what_stands_twice():
    assert set_digest(["a", "b"]) == set_digest(["b", "a"]) != set_digest(["a", "b", "b"])
