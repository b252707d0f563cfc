"""A lettered question: made of a fact or of a scene, with options E and F, and its difficulty."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from core.records import DONT_KNOW, NONE_OF_ABOVE, Question
from pocket_world.relations import Difficulty, Fact


@dataclass(frozen=True, slots=True)
class BankQuestion:
    """A question with the difficulty it was made with."""

    question: Question
    difficulty: Difficulty

    def line(self) -> str:
        """The question as one line of JSON; none of the made ones belongs to a cluster."""
        values = {name: value for name, value in asdict(self.question).items() if name != "cluster"}
        return json.dumps(values | {"difficulty": self.difficulty}, ensure_ascii=False)

    def at(self, label: int, identifier: str) -> BankQuestion:
        """The same question with its right option at ``label`` and this id; the false ones keep their order."""
        options = list(self.question.options)
        truth = options.pop(self.question.label)
        options.insert(label, truth)
        return BankQuestion(replace(self.question, options=tuple(options), label=label, id=identifier), self.difficulty)


def six(
    task: str, group: str, context: str, question: str, *, right: str, wrong: Sequence[str], rng: random.Random
) -> Question:
    """Three false options around the right one at a drawn place, then E and F; the id is left empty."""
    options = list(wrong)
    rng.shuffle(options)
    label = rng.randrange(4)
    options.insert(label, right)
    return Question("", task, group, context, question, (*options, DONT_KNOW, NONE_OF_ABOVE), label)


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
