import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.questions.near_duplicates import likeness
from core.questions.rotation import rotations
from core.questions.split import draw
from core.records import Question
from tests.conftest import synthetic_questions

pytestmark = pytest.mark.quick


def again(question: Question, name: str) -> Question:
    """The same question with another id, its options turned round and shouted."""
    return Question(
        name,
        question.task,
        question.group,
        "",
        question.question.upper() + "!",
        question.options[::-1],
        len(question.options) - 1 - question.label,
    )


@settings(deadline=None)  # other work shares the processors
@given(st.integers(2, 60), st.integers(0, 5), st.integers(0, 3), st.floats(0.3, 0.7))
def test_demonstrations_are_in_no_split_and_every_question_is_used_once(samples, shots, seed, share):
    questions = synthetic_questions(70)
    drawn = draw(questions, samples=samples, shots=shots, calibration_share=share, seed=seed)
    ids = [q.id for q in drawn.questions]
    assert len(set(ids)) == len(ids) == samples + shots
    assert len(drawn.demonstrations) == shots
    assert not {q.id for q in drawn.demonstrations} & {q.id for q in drawn.scored}
    assert drawn.roles.count("calibration") == round(samples * share)


def test_the_same_seed_draws_the_same():
    questions = synthetic_questions(50)
    first = draw(questions, samples=20, shots=2, calibration_share=0.5, seed=1)
    assert first == draw(questions, samples=20, shots=2, calibration_share=0.5, seed=1)
    assert first != draw(questions, samples=20, shots=2, calibration_share=0.5, seed=2)
    assert first.demonstrations == draw(questions, samples=40, shots=2, calibration_share=0.5, seed=1).demonstrations


def test_questions_alike_stay_on_one_side_and_out_of_the_demonstrations():
    questions = synthetic_questions(30)
    questions += [again(q, f"again-{q.id}") for q in questions]
    for seed in range(10):
        drawn = draw(questions, samples=None, shots=3, calibration_share=0.5, seed=seed)
        sides: dict[str, set[str]] = {}
        for q, role in zip(drawn.questions, drawn.roles, strict=True):
            sides.setdefault(likeness(q), set()).add(role)
        assert all(len(roles) == 1 for roles in sides.values())


@pytest.mark.parametrize(("share", "samples"), [(0.01, 10), (0.99, 10), (0.5, 1)])
def test_a_side_of_nothing_is_refused(share, samples):
    with pytest.raises(InputError, match="calibration share"):
        draw(synthetic_questions(30), samples=samples, shots=0, calibration_share=share, seed=0)


def test_questions_alike_are_counted():
    questions = synthetic_questions(20)
    doubled = [*questions, again(questions[3], "x"), again(questions[3], "y"), again(questions[5], "z")]
    assert draw(doubled, samples=None, shots=0, calibration_share=0.5, seed=0).alike == 3
    assert draw(questions, samples=None, shots=0, calibration_share=0.5, seed=0).alike == 0


def test_a_question_asked_in_another_order_is_drawn_once():
    questions = synthetic_questions(20)
    twice = [*questions, *(rotations(question)[0] for question in questions)]
    drawn = draw(twice, samples=None, shots=2, calibration_share=0.5, seed=0)
    assert len(drawn.scored) == 18
    assert {question.id for question in drawn.questions} == {question.id for question in questions}
