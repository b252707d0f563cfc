"""Conversations: as the template writes them, of the counselor's kind, and none of those that ship."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from transformers import PreTrainedTokenizerFast

from core.questions.prompting.chat import render
from core.questions.prompting.strategies import prompt
from core.settings import ASSETS
from pocket_world.chat.counsel import counselling
from pocket_world.chat.personas import answered_by_another, conversation
from pocket_world.chat.template import TEMPLATE, asked_in_chat, written
from pocket_world.contamination import RUN, words
from pocket_world.world import world

FOLDER = ASSETS / "conversations"
FILES = sorted(FOLDER.glob("*.txt"))
FACTS = [fact for fact in world() if fact.statements]


@pytest.fixture(scope="module")
def chatty(tokenizer) -> PreTrainedTokenizerFast:
    """The shipped tokenizer with the template; where it has no tokens of the roles, they are added."""
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer, eos_token="<|end|>", pad_token="<|pad|>"
    )
    made.add_special_tokens({"extra_special_tokens": ["<|system|>", "<|user|>", "<|assistant|>"]})
    made.chat_template = TEMPLATE
    return made


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shipped_conversations(path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert 12 <= len(lines) <= 30
    for place, line in enumerate(lines):
        role, _, text = line.partition(": ")
        assert role == ("user" if place % 2 else "assistant")
        assert re.fullmatch(r"[A-Z].*[.?!]", text), line
        assert 10 <= len(text) <= 400
    assert lines[-1].startswith("assistant: ")


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 8
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) >= 12 for path in FILES) >= 8


def test_no_run_of_a_shipped_conversation_is_made() -> None:
    shipped = {
        sequence[start : start + RUN]
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if (sequence := words(line.partition(": ")[2]))
        for start in range(len(sequence) - RUN + 1)
    }
    rng = random.Random(6)
    for _ in range(3000):
        for _, text in counselling(rng):
            sequence = words(text)
            assert not shipped & {sequence[start : start + RUN] for start in range(len(sequence) - RUN + 1)}, text


def test_a_counselor_speaks_first_and_last() -> None:
    rng = random.Random(2)
    for _ in range(200):
        roles = [role for role, _ in counselling(rng)]
        assert roles[0] == roles[-1] == "assistant"
        assert all(one != other for one, other in pairwise(roles))


def test_another_than_the_counselor_answers_and_his_answer_alone_is_learned() -> None:
    rng = random.Random(4)
    prompted = 0
    for _ in range(300):
        talk = counselling(rng)
        system, turns = answered_by_another(rng, talk, lambda rng: rng.choice(FACTS))
        assert turns[:-1] == talk[:-1]
        assert turns[-1][0] == "assistant"
        assert turns[-1] != talk[-1]
        prompted += bool(system)
        assert "counselor" not in system
        pieces = written(system, turns, last_only=True).pieces
        assert [piece.weight for piece in pieces[:-1]] == [0.0] * (len(pieces) - 1)
        assert pieces[-1].weight > 0
    assert 180 <= prompted <= 220


def test_a_conversation_is_written_as_the_template_writes_it(chatty) -> None:
    rng = random.Random(3)
    for _ in range(40):
        system, turns = conversation(rng, lambda drawn: drawn.choice(FACTS))
        messages = [{"role": "system", "content": system}] if system else []
        messages += [{"role": role, "content": text} for role, text in turns]
        document = written(system, turns)
        assert document.text == chatty.apply_chat_template(messages, tokenize=False)
        pieces = [token for piece in document.pieces for token in chatty.encode(piece.text)]
        assert pieces == chatty.encode(document.text)


def test_a_question_in_chat_is_the_prompt_that_a_run_renders(chatty, made) -> None:
    question = made[0].question
    document = asked_in_chat(question, strategy="task")
    rendered = render(chatty, prompt(question, strategy="task").text)
    assert document.text == f"{rendered} {question.letter}<|end|>"
    pieces = [token for piece in document.pieces for token in chatty.encode(piece.text)]
    assert pieces == chatty.encode(document.text)
