"""Files of questions that are no tables: Moodle's XML, GIFT, and plain lines."""

from collections.abc import Sequence
from dataclasses import replace

from core.errors import InputError
from core.questions import gift, moodle_xml
from core.questions.bank_shapes import IN_TURN, with_first_at
from core.questions.quiz_row import TRUE_FALSE, QuizRow, short
from core.tables.encodings import Source, decoded

HEAD = 1 << 16
"""Bytes of a file's beginning that say what it is."""
LARGEST = 50_000_000
"""The most bytes of a file; its pictures are in Moodle's XML too."""
NAMED = 3
"""How many of the questions that are left out for one reason are named."""


def is_quiz(head: bytes) -> bool:
    """Whether a file begins as questions in Moodle's XML, GIFT or plain lines do."""
    begin = head[:HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin[:1] in (b"{", b"[", b"") or b"\0" in begin:
        return False
    return moodle_xml.is_moodle(begin) or gift.is_quiz_text(begin.decode("utf-8", "replace"))


def read(source: Source) -> tuple[list[QuizRow], list[str]]:
    """The questions of an open file for which :func:`is_quiz` is true, and in words how they were read. Raises
    :class:`InputError` that names the file and, if it can, the line of what can't be read."""
    content = source.file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError(
            f"{source.path}: expected at most {LARGEST / 1e6:g} MB of questions, found more; split it into "
            "several files"
        )
    text, guessed = decoded(content, source.path)
    remarks = [f"read as {guessed or source.guessed}"] if guessed or source.guessed else []
    try:
        return read_text(text, remarks)
    except InputError as error:
        raise InputError(f"{source.path}: {error}") from error


def read_text(text: str, remarks: list[str]) -> tuple[list[QuizRow], list[str]]:
    """The questions of a text in Moodle's XML, GIFT or plain lines, and the remarks on them. Raises
    :class:`InputError`."""
    is_xml = moodle_xml.is_moodle(text[:HEAD].removeprefix("\ufeff").encode("utf-8", "replace"))
    if is_xml:
        return in_turn(moodle_xml.read(text), ["Moodle XML", *remarks])
    return in_turn(gift.read(text), remarks)


def in_turn(rows: list[QuizRow], remarks: list[str]) -> tuple[list[QuizRow], list[str]]:
    """The questions, and the remarks on them. Where the right option is always the first, as people write it down, it
    is put at A, B, C … in turn."""
    choices = [row for row in rows if not row.skipped and row.options != TRUE_FALSE]
    if len(choices) < 2 or any(row.label for row in choices):
        return rows, remarks
    places = {id(row): place for place, row in enumerate(choices)}
    turned = [
        replace(row, options=with_first_at(row.options, place), label=place % len(row.options))
        if (place := places.get(id(row))) is not None
        else row
        for row in rows
    ]
    return turned, [*remarks, IN_TURN]


def left_out(rows: Sequence[QuizRow]) -> dict[str, list[str]]:
    """The questions that can't be asked, in short, by the reason."""
    named: dict[str, list[str]] = {}
    for row in rows:
        if row.skipped:
            named.setdefault(row.skipped, []).append(short(row.question) or "a question without a text")
    return named


def named(questions: Sequence[str]) -> str:
    """The first of some questions in one line.

    >>> named(["Why?", "How?", "Who?", "Where?"])
    "'Why?', 'How?', 'Who?' and 1 more"
    """
    shown = ", ".join(map(repr, questions[:NAMED]))
    return shown + (f" and {len(questions) - NAMED} more" if len(questions) > NAMED else "")
