"""Documents are the prompts of core.prompting, cut only where the tokenizer cuts."""

from __future__ import annotations

import random
from typing import get_args

import pytest

from core.prompting.strategies import STRATEGIES, prompt
from pocket_world.documents import END, lettered
from pocket_world.stream import Form


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


@pytest.mark.parametrize("form", get_args(Form))
def test_pieces_tokenize_as_the_whole(stream, tokenizer, form) -> None:
    rng = random.Random(6)
    for _ in range(50):
        document = stream.document(form, rng)
        pieces = [token for piece in document.pieces for token in tokenizer.encode(piece.text)]
        assert pieces == tokenizer.encode(document.text)
        assert len(pieces) <= 512
