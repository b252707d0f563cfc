"""Questions as lecturers type them: Moodle's GIFT, or plain lines.

Plain lines are the question, then one option a line with ``*`` before the right one. GIFT
(https://docs.moodle.org/en/GIFT_format) has the options in braces: ``Capital of France? {=Paris ~Lyon}``. In both,
an empty line stands between questions. Questions of GIFT with more than one right answer, or without options, are
named with the reason.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from core.errors import InputError
from core.questions.bank_shapes import without_marks
from core.questions.html_text import text_of
from core.questions.moodle_xml import last_category
from core.questions.quiz_row import NO_RIGHT, TRUE_FALSE, QuizRow, right_one, short
from core.tables.encodings import LINE_END

CATEGORY = re.compile(r"\$CATEGORY:\s*(.*)", re.IGNORECASE)
TITLE = re.compile(r"\s*::(?:\\.|[^\\])*?::", re.DOTALL)
FORMAT = re.compile(r"\s*\[(html|moodle|plain|markdown)\]", re.IGNORECASE)
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
MARK = re.compile(r"\\.|[~=]", re.DOTALL)
FEEDBACK = re.compile(r"(?:\\.|[^\\#])*", re.DOTALL)
"""What stands before feedback."""
WEIGHT = re.compile(r"\s*%(-?\d{1,3}(?:\.\d*)?)%")
ESCAPED = re.compile(r"\\([~=#{}:n\\])")
ANSWERS = re.compile(
    r"(?<!\\)\{\s*[=~]\s*[^\s}]|(?<![\\\w}^])\{\s*(?:T|TRUE|F|FALSE)\s*(?:#[^{}]*)?\}\s*\Z", re.IGNORECASE
)
"""How the answers of GIFT begin, as no formula does."""
PERHAPS = re.compile(r"(?<!\\)\{(?:[^{}]*[=~]|\s*[#}]|\s*(?:T|TRUE|F|FALSE)\s*[#}])", re.IGNORECASE)
"""The same, where nothing else in the question says how it is written."""
WORDS = {"T": 0, "TRUE": 0, "F": 1, "FALSE": 1}
GAP = "_____"
"""What stands in a sentence for the missing word."""
LOOKED_AT = 20
"""Questions that say whether a text is one of questions."""


def is_quiz_text(text: str) -> bool:
    """Whether the first questions of a text are plain lines, or one of them is GIFT."""
    blocks = [lines for _, lines in islice(_blocks(text), LOOKED_AT) if not CATEGORY.match(lines[0])]
    return any(map(_is_gift, blocks)) or (bool(blocks) and all(map(_is_plain, blocks)))


def _is_gift(lines: list[str]) -> bool:
    return bool(ANSWERS.search("\n".join(lines)))


def _is_plain(lines: list[str]) -> bool:
    return len(lines) > 2 and not lines[0].startswith("*") and sum(line.startswith("*") for line in lines) == 1


def read(text: str) -> list[QuizRow]:
    """The questions of a text. Raises :class:`InputError` that names the line of what can't be read."""
    rows, subject = [], ""
    blocks = list(_blocks(text))
    has_gift = any(_is_gift(lines) for _, lines in blocks)
    for number, lines in blocks:
        if category := CATEGORY.match(lines[0]):
            subject = last_category(_unescaped(category[1]))
            lines = lines[1:]
            number += 1
        if lines:
            rows.append(replace(_row(lines, number, has_gift=has_gift), subject=subject))
    return rows


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines between empty lines, without comments, and the number of the first of them."""
    first = 1
    lines: list[str] = []
    for number, line in enumerate([*LINE_END.split(text.removeprefix("\ufeff")), ""], start=1):
        stripped = line.strip()
        if stripped.startswith("//"):
            continue
        if stripped:
            first = first if lines else number
            lines.append(stripped)
        elif lines:
            yield first, lines
            lines = []


def _row(lines: list[str], number: int, *, has_gift: bool) -> QuizRow:
    """A question. ``has_gift``: whether any of the text is GIFT, where a text without options is no mistake."""
    block, starred = "\n".join(lines), [line.startswith("*") for line in lines]
    if ANSWERS.search(block) or (PERHAPS.search(block) and not any(starred)):
        return _gift(block, number)
    if not any(starred) and has_gift:
        return QuizRow(_text(block)[0], skipped="description without a question")
    if starred[0]:
        raise InputError(f"line {number}: expected a question before its options, found {short(lines[0])!r}")
    question, options = lines[0], [line.removeprefix("*").strip() for line in lines[1:]]
    label, problem = right_one(list(map(int, starred[1:])))
    if problem == NO_RIGHT:
        raise InputError(f"line {number}: {short(question)!r} has no right answer; put * before the right option")
    if problem:
        raise InputError(f"line {number}: {short(question)!r} has {problem}; put * before one option")
    return _checked(QuizRow(question, without_marks(tuple(options)), label), number)


def _gift(block: str, number: int) -> QuizRow:
    """A question of GIFT."""
    title = TITLE.match(block)
    block = block[title.end() :] if title else block
    braces = [brace for brace in BRACE.finditer(block) if brace[0] in "{}"]
    marks = "".join(brace[0] for brace in braces)
    if marks != "{}":
        raise InputError(
            f"line {number}: expected one {{ and one }}, found {short(marks)!r} in {short(block)!r}; put an empty line "
            "between questions, and write \\{ and \\} for braces in a text"
        )
    form = FORMAT.match(block)
    kind = form[1].lower() if form else "moodle"
    before, inside, after = (
        block[form.end() if form else 0 : braces[0].start()],
        block[braces[0].end() : braces[1].start()].strip(),
        block[braces[1].end() :],
    )
    question, beyond = _text(f"{before.rstrip()} {GAP} {after.lstrip()}" if after.strip() else before, kind)
    if not question:
        raise InputError(f"line {number}: expected a question before the {{, found none")
    word = FEEDBACK.match(inside)[0].strip().upper()  # type: ignore[index]
    if word in WORDS:
        return QuizRow(question, TRUE_FALSE, WORDS[word], skipped=beyond)
    if problem := beyond or _not_a_choice(inside):
        return QuizRow(question, skipped=problem)
    return _choice(question, inside, number, kind)


def _not_a_choice(inside: str) -> str:
    """The kind of a question whose answers are no options to choose from; empty if they are."""
    marks = [mark[0] for mark in MARK.finditer(inside) if mark[0] in "~="]
    if not inside:
        return "essay"
    if inside.startswith("#"):
        return "numerical"
    if "~" in marks:
        return ""
    return "matching" if "->" in inside else "short answer"


def _choice(question: str, inside: str, number: int, kind: str) -> QuizRow:
    marks = [mark for mark in MARK.finditer(inside) if mark[0] in "~="]
    if begin := inside[: marks[0].start()].strip():
        raise InputError(f"line {number}: expected ~ or = before each option, found {short(begin)!r}")
    ends = [mark.start() for mark in marks[1:]] + [len(inside)]
    texts, weights, beyond = [], [], ""
    for mark, end in zip(marks, ends, strict=True):
        option = FEEDBACK.match(inside[mark.end() : end])[0]  # type: ignore[index]
        weight = WEIGHT.match(option)
        weights.append(float(weight[1]) if weight else 100.0 * (mark[0] == "="))
        option = option[weight.end() :] if weight else option
        form = FORMAT.match(option)
        text, more = _text(option[form.end() :] if form else option, form[1].lower() if form else kind)
        beyond = beyond or more
        texts.append(text)
    label, problem = right_one(weights)
    if problem == NO_RIGHT:
        raise InputError(f"line {number}: {short(question)!r} has no right answer; put = before the right option")
    if problem := beyond or problem:
        return QuizRow(question, skipped=problem)
    return _checked(QuizRow(question, tuple(texts), label), number)


def _checked(row: QuizRow, number: int) -> QuizRow:
    """The question. Raises :class:`InputError` if its options are too few, empty or alike."""
    where = f"line {number}: {short(row.question)!r}"
    if len(row.options) < 2:
        raise InputError(f"{where} has one option; give at least two")
    if not all(row.options):
        raise InputError(f"{where} has an empty option; give it a text, or leave it out")
    twice = next((text for text in row.options if row.options.count(text) > 1), "")
    if twice:
        raise InputError(f"{where} has the option {short(twice)!r} twice; keep one of them")
    return row


def _text(text: str, kind: str = "moodle") -> tuple[str, str]:
    return text_of(_unescaped(text), kind)


def _unescaped(text: str) -> str:
    r"""The text with each character that is escaped in GIFT as itself; ``\n`` is a line end.

    >>> _unescaped(r"a \= b \{c\} \\ \frac")
    'a = b {c} \\ \\frac'
    """
    return ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], text)
