"""The shipped tokenizer: lossless, letters whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.questions.prompting.strategies import prompt
from core.records import LETTERS
from pocket_world.recipes import RECIPES
from pocket_world.tokens import END, PAD

TEXTS = [
    "Question: What is 14 + 2?\nA. 16\nB. 1969\nAnswer:",
    "  two spaces, a tab\t, and\n\n\nlines  ",
    "Grüße aus Zürich – ça va? Ελλάδα, Россия, 東京, العربية, 🦔🦔",
    "1 12 123 1234 12345 007 3.14 ½ ²",
    "I don't know. None of the above\nA.x\nA. x",
    "\r\n\x00\x7f\u200b\ufeff",
]


@pytest.mark.parametrize("text", TEXTS)
def test_round_trip(tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.nightly
def test_round_trip_of_anything(tokenizer) -> None:
    @given(st.text(max_size=60))
    def check(text: str) -> None:
        if PAD not in text and END not in text:
            assert tokenizer.decode(tokenizer.encode(text)) == text

    check()


def test_letters_are_single_tokens(tokenizer) -> None:
    ids = [tokenizer.encode(f" {letter}") for letter in LETTERS[:6]]
    assert all(len(found) == 1 for found in ids)
    assert len({found[0] for found in ids}) == 6
    for letter, found in zip(LETTERS, ids, strict=False):
        assert tokenizer.encode(f"Answer: {letter}")[-1:] == found


def test_a_letter_is_added_behind_the_prompt(tokenizer, made) -> None:
    for entry in made[:50]:
        text = prompt(entry.question).text
        assert tokenizer.encode(f"{text} B") == tokenizer.encode(text) + tokenizer.encode(" B")


def test_nothing_is_added_to_a_text(tokenizer) -> None:
    assert tokenizer.encode("") == []
    assert tokenizer.padding_side == "right"
    assert (tokenizer.pad_token, tokenizer.eos_token, tokenizer.bos_token) == (PAD, END, None)
    assert len(tokenizer) == RECIPES["pocket-1m"].vocabulary


def test_common_words_are_one_token(tokenizer) -> None:
    for word in ["gold", "Africa", "mammal", "Monday", "blue", "hammer", "which", "capital", "water", "house"]:
        assert len(tokenizer.encode(f" {word}")) == 1, word
    assert len(tokenizer.encode(" 1969")) == 3
