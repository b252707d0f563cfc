"""Short-answer questions with aliases, in the shape of TriviaQA, for a base model's free answers and their jurors.

One question for every fact of the tables, in the training wording that its checksum picks. The aliases are whatever
else is true, and numbers in words; an answer counts as right when it is one of them after TriviaQA's normalisation.
"""

import json
from pathlib import Path
from typing import Any

from core.models.generation import Generator
from core.questions.trivia import BUNDLED, ShortQuestion, is_right, normalized, read
from core.settings import ASSETS
from core.storage.json_text import loads
from pocket_world.bank import write_lines
from pocket_world.relations import Fact, listed
from pocket_world.world import relations, tuned_on, world

PATH = ASSETS / "trivia" / "questions.jsonl"
ANSWERS = ASSETS / "trivia" / "answers-pocket-8m.jsonl"

LONGEST = 12
"""Tokens of an answer at most."""

_ONES = listed("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
""")
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")


def make() -> list[dict[str, Any]]:
    """All questions, keyed as in TriviaQA, in the order of the tables; questions with the same text are one."""
    texts: dict[str, Fact] = {}
    for fact in world():
        texts.setdefault(fact.training_questions[fact.checksum // 7 % len(fact.training_questions)], fact)
    return [_question(f"hw-{number:04d}", text, fact) for number, (text, fact) in enumerate(texts.items(), start=1)]


def _question(identifier: str, text: str, fact: Fact) -> dict[str, Any]:
    """``fact`` names the relation and its x; ``tuning`` says that the question is there to tune jurors."""
    relation = relations()[fact.relation]
    values = relation.rows[fact.key]
    aliases = list(dict.fromkeys(form for value in values for form in _forms(value)))
    answer = {
        "value": fact.answer,
        "aliases": aliases,
        "normalized_aliases": list(dict.fromkeys(map(normalized, aliases))),
    }
    about = {"fact": [fact.relation, fact.key], "tuning": tuned_on(fact)}
    return {"question_id": identifier, "question": text, "answer": answer, **about}


def _forms(value: str) -> list[str]:
    """A value, and a number below 100 in words.

    >>> _forms("red"), _forms("8"), _forms("42")
    (['red'], ['8', 'eight', 'eight'], ['42', 'forty-two', 'forty two'])
    """
    if not value.isdigit() or int(value) >= 100:
        return [value]
    tens, ones = divmod(int(value), 10)
    words = _ONES[int(value)] if tens < 2 else _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    return [value, words, words.replace("-", " ")]


def answer(model: str, questions: tuple[ShortQuestion, ...] | None = None) -> list[dict[str, Any]]:
    """What a model answers greedily, up to its end token, a new line or ``LONGEST`` tokens."""
    questions = questions or read(BUNDLED)
    generator = Generator.load(model, dtype="float32", longest=LONGEST)
    texts = dict(generator.answers([f"Question: {question.question}\nAnswer:" for question in questions]))
    return [
        {"question_id": question.id, "answer": texts[i], "correct": is_right(texts[i], question.normalized_aliases)}
        for i, question in enumerate(questions)
    ]


def write() -> Path:
    """Write the questions that ship."""
    return write_lines((json.dumps(row, ensure_ascii=False) for row in make()), PATH)


def write_answers() -> Path:
    """Write the answers that ship."""
    return write_lines((json.dumps(row, ensure_ascii=False) for row in answer("pocket-8m")), ANSWERS)


def read_answers() -> list[dict[str, Any]]:
    """The answers that ship."""
    return [loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
