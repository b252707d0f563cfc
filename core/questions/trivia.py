"""Short-answer questions with aliases, in the shape of TriviaQA (Joshi et al. 2017), and what counts as right.

A row has ``question`` and ``answer``: an object with ``normalized_aliases`` or ``aliases`` and ``value``, or the answer
itself with ``aliases`` beside it. ``question_id`` names it. ``fact``, where there is one, names what it is about, so
that a fact and its inverse stay on one side of a split. ``tuning``, where it is true, says that a question is there to
tune jurors and not to be judged.
"""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core import access
from core.errors import InputError
from core.questions.rows import Row, read_dataset, read_file
from core.questions.shipped import shipped_lines
from core.settings import ASSETS
from core.storage.json_text import loads
from core.storage.names import named

BUNDLED = "trivia"
HUB = {"trivia_qa@hub": ("mandarjoshi/trivia_qa", "rc.nocontext", "validation")}
"""Data sets of the hub by name: where they lie, which configuration, which part."""

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, slots=True)
class ShortQuestion:
    """A question, and every normalised text that counts as right; ``cluster`` is alike for what must not be split.

    ``tuning`` says that it is kept for tuning jurors.
    """

    id: str
    question: str
    normalized_aliases: tuple[str, ...]
    cluster: str
    tuning: bool = False


def normalized(text: str) -> str:
    """TriviaQA's normalisation: lower case, no punctuation, no articles, single spaces.

    >>> normalized("The  Butcher's shop.")
    'butchers shop'
    """
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def is_right(answer: str, normalized_aliases: Sequence[str]) -> bool:
    """Whether an answer equals one of the aliases, after normalising both."""
    return normalized(answer) in normalized_aliases


def read(source: str) -> tuple[ShortQuestion, ...]:
    """The questions that ``source`` names: ``trivia``, which ships, ``trivia_qa@hub``, or a file in its shape. Raises
    :class:`InputError` that names the row which is none, or what can't be reached."""
    if source == BUNDLED:
        rows: Sequence[Row] = shipped_rows()
        where = source
    elif source in HUB:
        location, configuration, part = HUB[source]
        rows, where = read_dataset(location, configuration=configuration, split=part), source
    else:
        access.check_path(source)
        rows, where = read_file(named(source)), source
    questions = [_question(row, f"{where}, question {number}", number) for number, row in enumerate(rows, start=1)]
    seen: dict[str, int] = {}
    for number, question in enumerate(questions, start=1):
        if question.id in seen:
            raise InputError(
                f"{where}, question {number}: the id {question.id!r} is that of question {seen[question.id]}"
            )
        seen[question.id] = number
    return tuple(questions)


def shipped_rows() -> list[Row]:
    """The rows of ``assets/trivia``. Raises :class:`InputError` if the file is missing or damaged."""
    return [loads(line) for line in shipped_lines(ASSETS / "trivia" / "questions.jsonl")]


def _question(row: Row, where: str, number: int) -> ShortQuestion:
    question = str(row.get("question") or "").strip()
    if not question:
        raise InputError(f"{where}: expected a question, found the columns {', '.join(map(str, row))}")
    answer = row.get("answer")
    values: dict[str, Any] = (
        answer if isinstance(answer, dict) else {"value": answer, "aliases": row.get("aliases") or []}
    )
    texts = values.get("normalized_aliases") or values.get("aliases") or []
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: expected aliases as a list of texts, found {str(texts)[:60]!r}")
    value = str(values.get("value") or "")
    aliases = tuple(dict.fromkeys(normalized(text) for text in [*texts, value] if normalized(text)))
    if not aliases:
        raise InputError(f"{where}: expected an answer or aliases, found none")
    fact = row.get("fact")
    about = sorted([str(fact[1]).lower(), value.lower()]) if isinstance(fact, list) and len(fact) == 2 else [question]
    name, cluster = str(row.get("question_id") or number), normalized(" ".join(about))
    return ShortQuestion(name, question, aliases, cluster, row.get("tuning") is True)
