"""From a fact to a lettered question: three false answers beside the true one, then E and F."""

from __future__ import annotations

import random

from core.records import DONT_KNOW, NONE_OF_ABOVE, Question
from pocket_world.relations import Fact

NEAR_SHARE = 0.5
"""How often a false answer is taken from the near ones, where a fact has any."""


def false_answers(fact: Fact, rng: random.Random) -> list[str]:
    """Three different false answers, about half of them near the truth."""
    near, rest = list(fact.wrong[: fact.near]), list(fact.wrong[fact.near :])
    wanted = sum(rng.random() < NEAR_SHARE for _ in range(3))
    taken = min(len(near), max(wanted, 3 - len(rest)))
    return rng.sample(near, taken) + rng.sample(rest, 3 - taken)


def ask(fact: Fact, rng: random.Random, *, wording: int, label: int, identifier: str = "") -> Question:
    """The fact's question in one of its wordings, the truth at ``label`` (0 to 3), E and F the fixed two."""
    options = false_answers(fact, rng)
    rng.shuffle(options)
    options.insert(label, fact.answer)
    return Question(
        id=identifier,
        task="qa",
        group=fact.group,
        context="",
        question=fact.questions[wording],
        options=(*options, DONT_KNOW, NONE_OF_ABOVE),
        label=label,
    )
