"""The line that says how a file was read: what its rows, options, answers and figures were taken for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.records import Question
from core.tables.labels import Labels


def line(
    questions: Sequence[Question], *parts: str, repeated: int = 0, left_out: Mapping[str, int] | None = None
) -> str:
    """What was read, in one line: the questions, their options, and further ``parts`` that are not empty.

    ``repeated`` rows say the same as earlier ones; ``left_out`` counts rows that are in no run, by what they are.

    >>> line([], "answers as letters", repeated=5, left_out={"of training": 311})
    '0 questions, answers as letters, 5 rows twice, 311 rows of training left out'
    """
    counts = [len(question.options) for question in questions]
    named = [_counted(len(questions), "question"), f"{_span(counts)} options" if counts else "", *parts]
    named.append(f"{_counted(repeated, 'row')} twice" if repeated else "")
    named += [f"{_counted(number, 'row')} {what} left out" for what, number in (left_out or {}).items() if number]
    return ", ".join(part for part in named if part)


def described(labels: Labels) -> str:
    """What the answers were taken for, and why where the numbers alone do not say it."""
    return f"answers as {labels.form}" + (f" ({labels.reason})" if labels.reason else "")


def kind_words(kind: str) -> str:
    """What the figures were taken for."""
    return {"percentages": "probabilities in per cent", "counts": "counts of picks"}.get(kind, kind)


def repeats(rows: Sequence[object]) -> int:
    """How many of these rows say the same as an earlier one."""
    return sum(number - 1 for number in Counter(rows).values())


def _span(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least}" if least == most else f"{least} to {most}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"
