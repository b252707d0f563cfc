"""The line that says how a file was read: as what its rows, options, answers and figures were read."""

from collections import Counter
from collections.abc import Mapping, Sequence

from core.records import Question


def line(
    questions: Sequence[Question], *parts: str, repeated: int = 0, left_out: Mapping[str, int] | None = None
) -> str:
    """What was read, in one line: the questions, their options, and further ``parts`` that are not empty.

    ``repeated`` rows say the same as earlier ones; ``left_out`` counts rows that are in no run, by what they are.

    >>> line([], "answers as letters", repeated=5, left_out={"of training": 311})
    '0 questions, answers as letters, 5 rows twice, 311 rows of training left out'
    """
    counts = [len(question.options) for question in questions]
    options = f"{span(counts)} options" if counts else ""
    if ordered := sum(question.ordered for question in questions):
        options += " in order" if ordered == len(questions) else f", in order in {counted(ordered, 'question')}"
    named = [counted(len(questions), "question"), options, *parts]
    named.append(f"{counted(repeated, 'row')} twice" if repeated else "")
    named += [f"{counted(number, 'row')} {what} left out" for what, number in (left_out or {}).items() if number]
    return ", ".join(part for part in named if part)


def kind_words(kind: str) -> str:
    """How the figures were read."""
    return {"percentages": "probabilities in per cent", "counts": "counts of picks"}.get(kind, kind)


def repeats(rows: Sequence[object]) -> int:
    """How many of these rows say the same as an earlier one."""
    return sum(number - 1 for number in Counter(rows).values())


def span(numbers: Sequence[int]) -> str:
    """The least and the most of some numbers: "4", or "4 to 6"."""
    least, most = min(numbers), max(numbers)
    return f"{least}" if least == most else f"{least} to {most}"


def counted(number: int, singular: str, many: str = "") -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(2000, "question")
    ('1 row', '2,000 questions')
    """
    return f"{number:,} {singular if number == 1 else many or singular + 's'}"
