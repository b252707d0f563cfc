"""A question as the pocket world makes it, with its difficulty and what it was made of."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from core.records import DONT_KNOW, NONE_OF_ABOVE, Question
from pocket_world.relations import Difficulty


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
