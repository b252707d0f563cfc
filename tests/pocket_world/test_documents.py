"""Documents are the prompts of core.questions.prompting, cut only where the tokenizer cuts."""

from __future__ import annotations

import random
from typing import get_args

import pytest

from core.questions.prompting.cloze import cloze_text
from core.questions.prompting.strategies import STRATEGIES, prompt
from core.records import LETTERS
from pocket_world.documents import END, MIDDLE, RIGHT, WRONG, about, answered, lettered, said_about
from pocket_world.matching import found_questions, retold_questions
from pocket_world.scenes.activities import ACTIVITIES
from pocket_world.scenes.going_on import gone_through
from pocket_world.scenes.reading import readings
from pocket_world.scenes.replying import replies
from pocket_world.scenes.summing import summings
from pocket_world.stream import Form

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("shown", [0, 1, 3])
def test_lettered_text_is_the_prompt_and_its_letter(stream, strategy: str, shown: int) -> None:
    rng = random.Random(4)
    questions = [stream.question(rng) for _ in range(shown + 1)]
    document = lettered(questions, strategy=strategy)
    *demonstrations, last = questions
    expected = prompt(last, strategy=strategy, demonstrations=demonstrations).text
    assert document.text == f"{expected} {last.letter}{END}"
    learnt = [piece.text for piece in document.pieces if piece.weight == 1.0]
    assert learnt == [f" {question.letter}" for question in questions]


def test_the_answer_is_expected_behind_its_question(stream) -> None:
    rng = random.Random(5)
    known, *read = stream.question(rng), *readings(rng, count=3)
    documents = (lettered([known, known]), about(read), said_about(read), answered(known.question, "red", weight=1.0))
    for document, questions in zip(documents, ([known, known], read, read, [known]), strict=True):
        asked = [piece for piece in document.pieces if len(piece.expected) == 1]
        for piece, question in zip(asked, questions, strict=True):
            assert piece.text.endswith(f"Question: {question.question}")
            assert piece.weight == 0
            right = "red" if len(questions) == 1 else question.options[question.label]
            assert piece.expected == (f" {right}",)
    assert not any(len(piece.expected) == 1 for piece in about(replies(rng, count=3)).pieces)


def test_each_option_is_expected_and_judged_where_it_ends(stream, tokenizer) -> None:
    rng = random.Random(7)
    asked = {task: [stream.question(rng, task) for _ in range(2)] for task in ("qa", "rc", "ci", "drs", "ds")}
    for questions in asked.values():
        judged = [piece for piece in lettered(questions, strategy="shared").pieces if len(piece.expected) == MIDDLE]
        options = [(question, place) for question in questions for place in range(len(question.options))]
        for piece, (question, place) in zip(judged, options, strict=True):
            option = f" {question.options[place]}"
            assert piece.text.endswith(f"\n{LETTERS[place]}.{option}")
            assert piece.expected == ("", option, RIGHT if place == question.label else WRONG)
    assert all(len(piece.expected) < MIDDLE for piece in said_about(readings(rng, count=3)).pieces)
    assert tokenizer.encode(RIGHT)[0] != tokenizer.encode(WRONG)[0]


@pytest.mark.parametrize("form", get_args(Form))
def test_pieces_tokenize_as_the_whole(stream, tokenizer, form) -> None:
    rng = random.Random(6)
    for _ in range(50):
        document = stream.document(form, rng)
        pieces = [token for piece in document.pieces for token in tokenizer.encode(piece.text)]
        assert pieces == tokenizer.encode(document.text)
        assert len(pieces) <= 512


@pytest.mark.parametrize("draw", [found_questions, retold_questions, readings, replies, summings])
def test_several_questions_are_about_one_context_that_is_read_once(draw) -> None:
    several = 0
    for seed in range(60):
        questions = draw(random.Random(seed), count=3)
        assert len({question.context for question in questions}) == 1
        assert all(len(set(question.options)) == 6 for question in questions)
        document = about(questions)
        assert document.text.count(f": {questions[0].context}\n") == 1
        assert [piece.text for piece in document.pieces if piece.weight == 1.0] == [f" {q.letter}" for q in questions]
        several += len(questions) > 1
    assert several > 30


def test_several_questions_are_answered_in_words_as_a_cloze_prompt_asks() -> None:
    for seed in range(60):
        first, *rest = readings(random.Random(seed), count=5)
        document = said_about([first, *rest])
        assert document.text.startswith(f"{cloze_text(first)} {first.options[first.label]}")
        assert document.text.count(first.context) == 1
        learned = [piece.text for piece in document.pieces if piece.weight == 1.0]
        assert learned == [f" {question.options[question.label]}" for question in (first, *rest)]


def test_a_passage_holds_what_each_of_its_questions_needs() -> None:
    """Of questions that are not worked out the answer is named in the passage."""
    named = [
        str(question.options[question.label]).lower() in question.context.lower()
        for seed in range(100)
        for question in readings(random.Random(seed), count=3)
    ]
    assert sum(named) / len(named) > 0.85


def test_an_activity_is_told_in_its_order() -> None:
    for seed in range(60):
        aim, *told = gone_through(random.Random(seed))
        assert aim
        activity = next(one for one in ACTIVITIES if one.steps[-1].split("{")[0] in told[-1])
        last = activity.steps[-len(told) :]
        assert all(step.split("{")[0].strip() in sentence for step, sentence in zip(last, told, strict=True))
