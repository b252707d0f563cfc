"""Facts as questions to a juror, with the verdict that it learns: one token, True or False."""

from __future__ import annotations

import random

from core.questions.prompting.verdict import FALSE, TRUE, verdict_prompt
from pocket_world.documents import END, END_WEIGHT, Document, Piece
from pocket_world.relations import Fact


def verdict_document(fact: Fact, rng: random.Random, *, wording: int) -> Document:
    """A fact's question with its answer or a false one, half and half, and the verdict, which alone is learned."""
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
