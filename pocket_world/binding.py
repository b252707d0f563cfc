"""Text that teaches binding only: find the option that states a value, and give the letter before it.

It begins with pairs, bare lines of options of one token each, beside other bare forms (:mod:`pocket_world.matching`);
the whole form, with options E and F, longer values and many wordings, follows when that stands. Lists with many queries
("so red is B") were tried beside it and held the rise back: their letters drew most of the gradient and stayed at
chance.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE, Question
from pocket_world.documents import Document, Piece, lettered
from pocket_world.relations import Fact

_WORDINGS = (
    "Which option says {x}?",
    "Which letter stands before {x}?",
    "Where in the options is {x}?",
    "Find {x} among these options.",
)


def pair_document(values: Sequence[str], rng: random.Random) -> Document:
    """The barest form: four values, and which letter stands before one of them; at times with options E and F."""
    options = rng.sample(values, 4)
    return pair_find(options, [*options, DONT_KNOW, NONE_OF_ABOVE] if rng.random() < 0.3 else options, rng)


def pair_find(options: Sequence[str], shown: Sequence[str], rng: random.Random) -> Document:
    """Which letter stands before one of ``options``, the first of the lines ``shown``; the letter is learned alone."""
    place = rng.randrange(len(options))
    lines = "".join(f"\n{letter}. {value}" for letter, value in zip(LETTERS, shown, strict=False))
    return Document(
        (Piece(f"Which option says {options[place]}?{lines}\nAnswer:", 0.0), Piece(f" {LETTERS[place]}", 1.0))
    )


def binding_document(facts: Sequence[Fact], rng: random.Random) -> Document:
    """A lettered question that asks for one of its own options, drawn from the answers of one fact or of four."""
    return lettered([binding_question(facts, rng)])


def binding_question(facts: Sequence[Fact], rng: random.Random) -> Question:
    """A question that asks for one of its own options."""
    return _question(_options(facts, rng), rng)


def _options(facts: Sequence[Fact], rng: random.Random) -> list[str]:
    if rng.random() < 0.5:
        fact = rng.choice(facts)
        return rng.sample([fact.answer, *fact.wrong], 4)
    options: list[str] = []
    while len(options) < 4:
        value = rng.choice(facts).answer if rng.random() < 0.8 else str(rng.randint(0, 200))
        if value not in options:
            options.append(value)
    return options


def _question(options: list[str], rng: random.Random) -> Question:
    label = rng.randrange(4)
    text = rng.choice(_WORDINGS).format(x=options[label])
    return Question("", "qa", "binding", "", text, (*options, DONT_KNOW, NONE_OF_ABOVE), label)
