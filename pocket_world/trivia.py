"""Short-answer questions with aliases, in the shape of TriviaQA, for a base model's free answers and their jurors.

One question for every fact of the tables, in the one of its training wordings that its checksum picks. The aliases are
whatever else is true, and numbers in words; an answer counts as right when it is one of
them after TriviaQA's normalisation (lower case, no punctuation, no articles).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import InputError
from core.models.generation import Generator
from core.questions.trivia import is_right, normalized
from core.settings import ASSETS
from pocket_world.relations import Fact, Relation, listed
from pocket_world.world import RELATIONS, tuned_on, world

PATH = ASSETS / "trivia" / "questions.jsonl"

_ONES = listed("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
""")
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")


@dataclass(frozen=True, slots=True)
class PocketShortQuestion:
    """A question with its answer and everything else that counts as right; ``fact`` names the relation and its x.

    ``tuning`` says that it is there to tune jurors, not to be judged.
    """

    id: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    normalized_aliases: tuple[str, ...]
    fact: tuple[str, str]
    tuning: bool

    def line(self) -> str:
        """The question as one line of JSON, keyed as in TriviaQA."""
        answer = {
            "value": self.answer,
            "aliases": list(self.aliases),
            "normalized_aliases": list(self.normalized_aliases),
        }
        values = {"question_id": self.id, "question": self.question, "answer": answer}
        return json.dumps(values | {"fact": list(self.fact), "tuning": self.tuning}, ensure_ascii=False)


def make() -> tuple[PocketShortQuestion, ...]:
    """All questions, in the order of the tables; questions with the same text are one."""
    by_name = {relation.name: relation for relation in RELATIONS}
    texts: dict[str, Fact] = {}
    for fact in world():
        wordings = [text for place, text in enumerate(fact.questions) if place != fact.bank_wording]
        texts.setdefault(wordings[fact.checksum // 7 % len(wordings)], fact)
    return tuple(
        _question(number, text, fact, by_name[fact.relation])
        for number, (text, fact) in enumerate(texts.items(), start=1)
    )


def in_words(number: int) -> str:
    """A number from 0 to 99 in words.

    >>> in_words(8), in_words(40), in_words(42)
    ('eight', 'forty', 'forty-two')
    """
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


def _question(number: int, text: str, fact: Fact, relation: Relation) -> PocketShortQuestion:
    true = dict.fromkeys((fact.answer, *relation.rows[fact.key], *relation.also.get(fact.key, ())))
    aliases = dict.fromkeys(form for value in true for form in _forms(value))
    shortened = tuple(dict.fromkeys(normalized(alias) for alias in aliases))
    return PocketShortQuestion(
        f"hw-{number:04d}", text, fact.answer, tuple(aliases), shortened, (fact.relation, fact.key), tuned_on(fact)
    )


def _forms(value: str) -> list[str]:
    """A value, and a number in words."""
    forms = [value]
    if value.isdigit() and int(value) < 100:
        forms += [in_words(int(value)), in_words(int(value)).replace("-", " ")]
    return forms


LONGEST = 12
"""Tokens of an answer at most."""


@dataclass(frozen=True, slots=True)
class FreeAnswer:
    """A free answer, and whether it is the question's or one of its aliases."""

    question_id: str
    answer: str
    correct: bool

    def line(self) -> str:
        """The answer as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def answers_path(model: str) -> Path:
    """Where the answers of a shipped model lie."""
    return ASSETS / "trivia" / f"answers-{model}.jsonl"


def answer(model: str, questions: Sequence[PocketShortQuestion]) -> list[FreeAnswer]:
    """What a shipped model says greedily, up to its end token, a new line or ``LONGEST`` tokens."""
    generator = Generator.load(model, dtype="float32", longest=LONGEST)
    texts = dict(generator.answers([f"Question: {question.question}\nAnswer:" for question in questions]))
    return [
        FreeAnswer(question.id, texts[place], is_right(texts[place], question.normalized_aliases))
        for place, question in enumerate(questions)
    ]


def read_answers(model: str) -> list[FreeAnswer]:
    """Answers that were written before; InputError where there are none."""
    path = answers_path(model)
    if not path.is_file():
        raise InputError(f"there are no answers in {path}; `python -m pocket_world answer` writes them")
    return [FreeAnswer(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
