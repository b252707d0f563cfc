"""The five finished files of LLM-Uncertainty-Bench: questions with lettered options and the answer's letter.

Their first five questions of odd number are the published demonstrations, which no published figure counts.
"""

from collections.abc import Sequence

from core.errors import InputError
from core.questions.recipes import QUESTIONS, letter_index
from core.questions.rows import Row
from core.records import Question

REPOSITORY = "ErikYip/LLM-Uncertainty-Bench"
FILES = {
    "qa": "mmlu_10k.json",
    "rc": "cosmosqa_10k.json",
    "ci": "hellaswag_10k.json",
    "drs": "halu_dialogue.json",
    "ds": "halu_summarization.json",
}
DEMONSTRATIONS = (1, 3, 5, 7, 9)
"""Ids of the published demonstrations, in the order in which they are shown."""


def is_finished(rows: Sequence[Row]) -> bool:
    """Whether these rows come from a finished file."""
    return bool(rows) and isinstance(rows[0].get("choices"), dict) and "answer" in rows[0] and "id" in rows[0]


def read(task: str, rows: Sequence[Row], *, place: str) -> tuple[Question, ...]:
    """The questions of a finished file; their ids are those of the published results. Raises :class:`InputError` for a
    row whose answer is not one of its options."""
    questions = []
    for number, row in enumerate(rows, start=1):
        try:
            letters, label = sorted(row["choices"]), letter_index(str(row["answer"]).strip())
            options = tuple(str(row["choices"][letter]) for letter in letters)
            if not 0 <= label < len(options):
                raise InputError(
                    f"{place}, question {number}: expected an answer from {letters[0]} to {letters[-1]}, "
                    f"found {row['answer']!r}"
                )
            text = str(row.get("question") or QUESTIONS.get(task, ""))
            questions.append(
                Question(str(row["id"]), task, str(row.get("subject", "")), _context(row), text, options, label)
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{place}, question {number}: expected id, choices and answer, found {list(row)}"
            ) from error
    return tuple(questions)


def demonstrations(questions: Sequence[Question]) -> tuple[str, ...]:
    """The ids of the published demonstrations that are among the questions."""
    there = {question.id for question in questions}
    return tuple(str(i) for i in DEMONSTRATIONS if str(i) in there)


def _context(row: Row) -> str:
    return str(next((row[key] for key in ("context", "dialogue", "document", "dialogue_history") if row.get(key)), ""))
