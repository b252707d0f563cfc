"""Short-answer questions, their aliases, and free answers to them."""

from __future__ import annotations

import json

import pytest

from core.errors import InputError
from pocket_world import answers, trivia
from pocket_world.trivia import right

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def questions():
    return trivia.make()


def test_the_file_is_what_the_maker_makes(questions, tmp_path) -> None:
    trivia.write(questions, tmp_path / "made.jsonl")
    assert (tmp_path / "made.jsonl").read_bytes() == trivia.PATH.read_bytes()


def test_shape(questions) -> None:
    assert len(questions) >= 2000
    assert len({one.question for one in questions}) == len({one.id for one in questions}) == len(questions)
    for line in trivia.PATH.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        assert list(entry) == ["question_id", "question", "answer", "fact", "tuning"]
        assert entry["question"].endswith("?")
        assert entry["answer"]["value"] == entry["answer"]["aliases"][0]
        assert entry["answer"]["normalized_aliases"]
        assert all(entry["answer"]["normalized_aliases"])


def test_none_is_asked_in_the_banks_words(questions, made) -> None:
    assert not {one.question for one in questions} & {entry.question.question for entry in made}


def test_what_counts_as_right(questions) -> None:
    by_fact = {one.fact: one for one in questions}
    sweden = by_fact["currency", "Sweden"]
    assert right("The krona.", sweden)
    assert right("Krone", sweden)
    assert not right("euro", sweden)
    spider = by_fact["legs", "spider"]
    assert right("8", spider)
    assert right("Eight", spider)
    assert not right("six", spider)


def test_free_answers_end_and_do_not_depend_on_the_batch(model, tokenizer, questions) -> None:
    prompts = [f"Question: {one.question}\nAnswer:" for one in questions[:30]]
    together = answers.generate(model, tokenizer, prompts)
    assert together == answers.generate(model, tokenizer, prompts, rows=1)
    assert all("\n" not in text and "<|" not in text for text in together)
    assert any(right(text, one) for text, one in zip(together, questions, strict=False))


def test_an_unknown_model_does_not_answer() -> None:
    with pytest.raises(InputError, match="pocket-9t"):
        answers.answer("pocket-9t")
