"""What the shipped models were trained on and are tested on comes out again, letter by letter, without an overlap."""

import hashlib
import json
import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from core.models.perplexity import conversations
from core.questions.bank import bank_path
from core.records import Question
from core.settings import ASSETS
from pocket_world import bank, jury, trivia
from pocket_world.bank import BANK_TASKS
from pocket_world.contamination import Guard, audit, words
from pocket_world.curriculum import all_documents
from pocket_world.documents import Document, Piece, lettered
from pocket_world.recipes import RECIPES
from pocket_world.stream import Stream
from pocket_world.tokens import one_token_words, published_tokenizer, sampled_texts
from pocket_world.world import frequency, only_stated, tuned_on, world
from tests.parameters import rest_nightly

STEPS = {
    "pocket-1m": "9a81eae1986f1fd63d866f4c",
    "pocket-3m": "b580a0cd12ad6a5764d17f4f",
    "pocket-3m-instruct": "47fae116593544f80f5eaaf9",
    "pocket-8m": "525cb0154b18b204a00370f3",
}
"""The digest of what each model read in every 250th step of its training."""

JURORS = {
    "juror-3m": "8e8bd337f9e1b84c574b9d41",
    "juror-3m-instruct": "0f59dddc5ec18a8dae36bcb6",
    "juror-8m": "9ac30f4fe1f2314849ab2af2",
}


@pytest.fixture(scope="module")
def stream() -> Stream:
    return Stream(Guard.of(bank.questions(), conversations.bundled()))


def digest(texts: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for text in texts:
        whole.update(text.encode() + b"\0")
    return whole.hexdigest()[:24]


def pieces(document: Document) -> str:
    return repr([(piece.text, piece.weight, piece.expected) for piece in document.pieces])


@pytest.mark.parametrize("task", BANK_TASKS)
def test_the_bank_comes_out_again(task: str) -> None:
    assert "".join(f"{question.line()}\n" for question in bank.make(task)) == bank_path(task).read_text("utf-8")


def test_short_questions_come_out_again() -> None:
    assert trivia.make() == [json.loads(line) for line in trivia.PATH.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", rest_nightly(STEPS, now=["pocket-3m-instruct"]))
def test_what_a_model_read_comes_out_again(stream: Stream, name: str) -> None:
    training_stream = Stream(stream.guard, chat=RECIPES[name].chat)
    values = one_token_words(published_tokenizer(ASSETS / "models" / name))
    assert digest(map(pieces, all_documents(training_stream, RECIPES[name], values, every=250))) == STEPS[name]


@pytest.mark.nightly
def test_what_the_tokenizer_and_the_jurors_read_comes_out_again(stream: Stream) -> None:
    assert digest(sampled_texts(stream, 2000)) == "1cd6392b8faad2fa886eebfd"
    for name, (_, tuning) in jury.JURORS.items():
        assert digest(map(repr, jury.tuning_examples(tuning.seed))) == JURORS[name]


def test_training_never_asks_in_the_banks_words(stream: Stream) -> None:
    held = {fact.questions[fact.bank_wording] for fact in world()}
    held |= {text for fact in world() if only_stated(fact) or not frequency(fact) for text in fact.questions}
    rng = random.Random(5)
    questions = {stream.question(rng).question for _ in range(3000)}
    assert not questions & held
    assert len(questions) > 1500


def test_nothing_that_tunes_a_juror_is_asked_later() -> None:
    tuning, later = jury.answered(tuning=True), jury.answered(tuning=False)
    assert len(tuning) + len(later) == len(trivia.make())
    read = {example.question for example in jury.tuning_examples(seed=32)}
    assert read >= {example.question for example in tuning}
    assert not read & {example.question for example in later}
    sides: dict[str, set[bool]] = {}
    for fact in world():
        sides.setdefault(fact.twin, set()).add(tuned_on(fact))
    assert all(len(side) == 1 for side in sides.values())


@pytest.mark.nightly
def test_both_finders_find_a_bank_question_and_a_conversation() -> None:
    """In ``qa`` the whole question, in the others the text under another question, and eight words of a message."""
    questions, talks = bank.questions(), conversations.bundled()
    guard = Guard.of(questions, talks)
    for task in BANK_TASKS:
        for question in random.Random(2).sample([other for other in questions if other.task == task], 20):
            context = Document((Piece(f"Something else first. {question.context} And then?", 1.0),))
            document = context if question.context else lettered([question])
            assert guard.find(document.text)
            counts = audit([document], [question])
            assert counts["runs of the bank"]
            assert bool(counts["bank questions"]) == (task == "qa")
    echo = Document((Piece(" ".join(talks[0].messages[3].text.split()[:9]), 1.0),))
    assert guard.find(echo.text)
    assert audit([echo], [], talks)["runs of conversations"]


def test_runs_of_a_hand_made_question() -> None:
    long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    question = Question("q", "ds", "g", "A short document here.", "Which?", (long, "b", "c", "d", "E", "F"), 0)
    assert Guard.of([question]).find(f"He said: {long}.")
    assert Guard.of([question]).find("He said: one two three four.") is None
    assert (
        audit([Document((Piece(long, 1.0),))], [question])["runs of the bank"] == 2
    )  # runs begin at word 1 and at word 2

    # An initial is no option letter, and options alone are found by their run.
    names = ("J. J. Thomson", "Alexander Graham Bell", "Alfred Nobel", "William Herschel")
    question = Question("q", "qa", "g", "", "Who is known for the patent for the telephone?", (*names, "E", "F"), 1)
    document = lettered([replace(question, question="Whom do we remember for the patent for the telephone?")])
    assert Guard.of([question]).find(document.text)
    assert audit([document], [question])["runs of the bank"]
    assert words("A. Red\nB. Dark blue\nE. I don't know\nAnswer: A") == ("red", "dark", "blue", "answer", "a")
