"""Questions to a juror: is this answer to this question true? The answer is one token, True or False."""

from __future__ import annotations

import random

from core.pocket.documents import END, END_WEIGHT, Document, Piece
from core.pocket.relations import Fact

TRUE, FALSE = "True", "False"


def verdict_prompt(question: str, answer: str) -> str:
    """What a juror reads; its verdict is the next token.

    >>> print(verdict_prompt("What is the capital of Peru?", "Lima"))
    Question: What is the capital of Peru?
    Proposed answer: Lima
    Is the proposed answer right, True or False?
    Answer:
    """
    return f"Question: {question}\nProposed answer: {answer}\nIs the proposed answer right, True or False?\nAnswer:"


def verdict_document(fact: Fact, rng: random.Random, *, wording: int) -> Document:
    """A fact's question with its answer or a false one, half and half, and the verdict, which alone is learnt."""
    right = rng.random() < 0.5
    near = fact.wrong[: fact.near] if fact.near and rng.random() < 0.5 else fact.wrong
    answer = fact.answer if right else rng.choice(near)
    return Document(
        (
            Piece(verdict_prompt(fact.questions[wording], answer), 0.0),
            Piece(f" {TRUE if right else FALSE}", 1.0),
            Piece(END, END_WEIGHT),
        )
    )
