"""A person's own questions: JSON lines, CSV or Parquet.

A row has ``question``, ``options`` and ``label``, and may have ``context``, ``subject``, ``id`` and ``cluster``: rows
of one cluster, such as the questions about one passage, belong together (:mod:`core.clusters`). Options are a list (in
CSV: a list in JSON, or one column per letter: ``A``, ``B``, …). The label is the right option's letter, or its
number counted from 0. No two options of a question are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.json_text import loads
from core.records import LETTERS, MOST_ASKED, Question
from core.tasks.identity import cluster_name
from core.tasks.recipes import letter_index
from core.tasks.rows import Row

TASK = "local"


def read(rows: Sequence[Row], *, path: Path) -> tuple[Question, ...]:
    """The questions of a file; :class:`InputError` names the first row that is none."""
    questions = [_question(row, number, path) for number, row in enumerate(rows, start=1)]
    seen: dict[str, int] = {}
    for number, question in enumerate(questions, start=1):
        if question.id in seen:
            raise InputError(
                f"{path}, question {number}: the id {question.id!r} is that of question {seen[question.id]}"
            )
        seen[question.id] = number
    return tuple(questions)


def _question(row: Row, number: int, path: Path) -> Question:
    where = f"{path}, question {number}"
    asked = str(row.get("question") or "").strip()
    if not asked:
        raise InputError(f"{where}: expected a question, found the columns {', '.join(map(str, row))}")
    options = _options(row, where)
    label = _label(row.get("label", row.get("answer")), options, where)
    doubled = [option for option in options if options.count(option) > 1]
    if options[label] in doubled:
        raise InputError(f"{where}: the right answer {options[label]!r} is there twice; keep one of them")
    if doubled:
        raise InputError(f"{where}: the option {doubled[0]!r} is there twice; keep one of them")
    name = str(row.get("id") or f"{path.stem}-{number}")
    group = str(row.get("subject") or row.get("group") or "")
    context = str(row.get("context") or "").strip()
    return Question(name, TASK, group, context, asked, options, label, cluster_name(row.get("cluster")))


def _options(row: Row, where: str) -> tuple[str, ...]:
    found: Any = row.get("options", row.get("choices"))
    if isinstance(found, str):
        try:
            found = loads(found)
        except ValueError as error:
            raise InputError(f"{where}: expected options as a list in JSON, found {found[:60]!r}") from error
    if found is None:
        found = [row[letter] for letter in LETTERS if row.get(letter) not in (None, "")]
    options = tuple(str(option).strip() for option in found)
    if len(options) < 2 or not all(options):
        raise InputError(f"{where}: expected at least two options, none of them empty, found {list(options)}")
    if len(options) > len(LETTERS):
        raise InputError(f"{where}: has {len(options)} options, but {MOST_ASKED}")
    return options


def _label(found: Any, options: tuple[str, ...], where: str) -> int:
    last = LETTERS[len(options) - 1]
    rule = f"expected one right answer, a letter from A to {last} or a number from 0 to {len(options) - 1}"
    if isinstance(found, (list, tuple)) or "," in str(found):
        raise InputError(f"{where}: {rule}, found {found!r}")
    text = str(found).strip().removesuffix(".0")
    label = int(text) if text.isdecimal() else letter_index(text.upper())
    if not 0 <= label < len(options):
        raise InputError(f"{where}: {rule}, found {found!r}")
    return label
