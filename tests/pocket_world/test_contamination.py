"""Nothing of the bank is in the training text, and the two finders find it when it is."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import get_args

import pytest

from core.records import Question
from pocket_world import bank
from pocket_world.audit import audit
from pocket_world.bank import BankQuestion
from pocket_world.computed import kept_for_bank
from pocket_world.contamination import Guard, words
from pocket_world.curriculum import all_documents
from pocket_world.documents import Document, Piece, lettered
from pocket_world.recipes import RECIPES
from pocket_world.stream import Form, Stream
from pocket_world.tokens import one_token_words
from pocket_world.world import frequency, only_stated, world

pytestmark = pytest.mark.nightly

Bank = tuple[BankQuestion, ...]


def test_a_sample_of_the_real_training_text_is_clean(stream: Stream, tokenizer) -> None:
    documents = all_documents(stream, RECIPES["pocket-1m"], values=one_token_words(tokenizer), every=31)
    found = audit(documents, bank.questions())
    assert found.documents > 3000
    assert found.clean, found


def test_both_finders_find_a_passage_under_another_question() -> None:
    questions = bank.questions()
    guard = Guard.of(questions)
    documents: list[Document] = []
    for task in ("rc", "ci", "drs", "ds"):
        chosen = [question for question in questions if question.task == task]
        for question in random.Random(2).sample(chosen, 20):
            documents.append(Document((Piece(f"Something else first. {question.context} And then?", 1.0),)))
            assert guard.find(documents[-1].text) is not None
    assert audit(documents, questions).runs_found >= len(documents)


def test_a_long_option_is_found_without_its_context() -> None:
    long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    question = Question("q", "ds", "g", "A short document here.", "Which?", (long, "b", "c", "d", "E", "F"), 0)
    assert Guard.of([question]).find(f"He said: {long}.") is not None
    assert Guard.of([question]).find("He said: one two three four.") is None
    assert audit([Document((Piece(long, 1.0),))], [question]).runs_found == 2  # runs begin at word 1 and at word 2


def test_both_finders_find_a_bank_question(made: Bank) -> None:
    questions = [entry.question for entry in made]
    guard = Guard.of(questions)
    for question in random.Random(1).sample(questions, 50):
        document = lettered([question])
        assert guard.find(document.text) is not None
        found = audit([document], questions)
        assert found.questions_found == 1
        assert found.runs_found >= 1


def test_options_alone_are_found_by_their_run() -> None:
    options = ("the first long option", "the second long option", "the third long option", "the fourth long option")
    question = Question("q", "qa", "g", "", "What would you say to that?", (*options, "E", "F"), 0)
    text = "Something else.\n" + "\n".join(
        f"{letter}. {option}" for letter, option in zip("ABCD", options, strict=True)
    )
    assert Guard.of([question]).find(text) is not None
    assert audit([Document((Piece(text, 1.0),))], [question]).runs_found > 0


def test_an_initial_is_no_option_letter() -> None:
    """The guard left it out of the bank's options, and so missed runs that hold it."""
    options = ("J. J. Thomson", "Alexander Graham Bell", "Alfred Nobel", "William Herschel")
    question = Question("q", "qa", "g", "", "Who is known for the patent for the telephone?", (*options, "E", "F"), 1)
    document = lettered([replace(question, question="Whom do we remember for the patent for the telephone?")])
    assert Guard.of([question]).find(document.text) is not None
    assert audit([document], [question]).runs_found > 0


def test_words_leave_out_letters_and_the_fixed_options() -> None:
    assert words("A. Red\nB. Dark blue\nE. I don't know\nF. None of the above\nAnswer: A") == (
        "red",
        "dark",
        "blue",
        "answer",
        "a",
    )


def test_the_stream_keeps_the_banks_wording_back(stream: Stream) -> None:
    held = {fact.questions[fact.bank_wording] for fact in world()}
    lettered_away = {text for fact in world() if only_stated(fact) or not frequency(fact) for text in fact.questions}
    rng = random.Random(5)
    asked = {stream.question(rng).question for _ in range(3000)}
    assert not asked & held
    assert not asked & lettered_away
    assert len(asked) > 1500


@pytest.mark.parametrize("form", get_args(Form))
def test_the_same_generator_gives_the_same_document(stream: Stream, form) -> None:
    assert stream.document(form, random.Random(8)) == stream.document(form, random.Random(8))


def test_about_a_fifth_of_the_computed_facts_is_kept() -> None:
    from pocket_world.computed.arithmetic import addition

    rng = random.Random(2)
    facts = {fact.key: fact for fact in (addition(rng) for _ in range(3000))}
    assert 0.15 < sum(kept_for_bank(fact) for fact in facts.values()) / len(facts) < 0.25
