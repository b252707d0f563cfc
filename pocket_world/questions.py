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
        """The question as one line of JSON; none of these questions belongs to a cluster or has ordered options."""
        values = {name: value for name, value in asdict(self.question).items() if name not in ("cluster", "ordered")}
        return json.dumps(values | {"difficulty": self.difficulty}, ensure_ascii=False)

    def at(self, label: int, identifier: str) -> BankQuestion:
        """The same question with its right option at ``label`` and this id; the false ones keep their order."""
        options = list(self.question.options)
        options.insert(label, options.pop(self.question.label))
        return replace(self, question=replace(self.question, options=tuple(options), label=label, id=identifier))


def six(
    task: str,
    group: str,
    context: str,
    question: str,
    *,
    right: str,
    wrong: Sequence[str],
    rng: random.Random,
    label: int | None = None,
) -> Question:
    """Three false options around the right one, at ``label`` or a drawn place; then E and F. The id is left empty."""
    options = list(wrong)
    rng.shuffle(options)
    label = rng.randrange(4) if label is None else label
    options.insert(label, right)
    return Question("", task, group, context, question, (*options, DONT_KNOW, NONE_OF_ABOVE), label)


def ask(fact: Fact, rng: random.Random, *, wording: str, label: int) -> Question:
    """The fact's question in one of its wordings, the truth at ``label``; about half of the false answers are near."""
    near, rest = list(fact.wrong[: fact.near]), list(fact.wrong[fact.near :])
    near_count = sum(rng.random() < 0.5 for _ in range(3))
    near_taken = min(len(near), max(near_count, 3 - len(rest)))
    wrong = rng.sample(near, near_taken) + rng.sample(rest, 3 - near_taken)
    return six("qa", fact.group, "", wording, right=fact.answer, wrong=wrong, rng=rng, label=label)
