"""Moodle's XML of a question bank (https://docs.moodle.org/en/Moodle_XML_format): multiple choice with one right
answer, and true or false. Questions of other kinds are named with the reason.

The file is hostile until it is read: a document type, which alone can define entities or name other files, is refused
before the parser reads what stands in it.
"""

import re
from xml.etree import ElementTree as ET

from core.errors import InputError
from core.questions.html_text import text_of
from core.questions.quiz_row import TRUE_FALSE, QuizRow, right_one, short

BEGIN = re.compile(rb"\s*(?:<\?xml\b|<!--|<quiz[\s>/])")
ROOT = re.compile(rb"<quiz[\s>/]")
DEEPEST = 50
"""Elements inside each other; Moodle writes six."""
FORMATS = {"html": "html", "moodle_auto_format": "moodle", "markdown": "markdown", "plain_text": "plain"}
KINDS = {
    "cloze": "gaps in a text (cloze)",
    "essay": "essay",
    "shortanswer": "short answer",
    "numerical": "numerical",
    "matching": "matching",
    "description": "description without a question",
}
"""Moodle's names of kinds that can't be asked, in words; other names are shown as they are."""


def is_moodle(head: bytes) -> bool:
    """Whether a file begins as Moodle's XML does."""
    return bool(BEGIN.match(head) and ROOT.search(head))


class _Builder(ET.TreeBuilder):
    """Builds the tree of a document without a document type and of elements that are not too deep."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse a document type."""
        raise InputError(
            "its XML has a DOCTYPE, which may define entities and is not read; export it from Moodle again"
        )

    def start(self, tag: str, attrs: dict[str, str]) -> ET.Element:
        """Begin an element."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(f"its XML has more than {DEEPEST} elements inside each other; export it from Moodle again")
        return super().start(tag, attrs)

    def end(self, tag: str) -> ET.Element:
        """End an element."""
        self.depth -= 1
        return super().end(tag)


def read(text: str) -> list[QuizRow]:
    """The questions of Moodle's XML. Raises :class:`InputError` for XML that is damaged, has a document type, or is no
    question bank."""
    parser = ET.XMLParser(target=_Builder())
    try:
        parser.feed(text)
        root = parser.close()
    except ET.ParseError as error:
        raise InputError(f"line {error.position[0]}: expected whole XML, found {error.msg}") from error
    if root.tag != "quiz":
        raise InputError(f"expected Moodle's <quiz>, found <{short(str(root.tag))}>")
    rows, subject = [], ""
    for question in root.iter("question"):
        kind = question.get("type", "").strip()
        if kind == "category":
            subject = last_category(question.findtext("category/text", ""))
        else:
            rows.append(_row(question, kind, subject))
    return rows


def last_category(path: str) -> str:
    """The last part of the path of a category, in which ``//`` stands for a slash.

    >>> last_category("$course$/top/Biology/Cells // 1")
    'Cells / 1'
    """
    return re.split(r"(?<!/)/(?!/)", path.strip())[-1].replace("//", "/").strip()


def _row(question: ET.Element, kind: str, subject: str) -> QuizRow:
    text, beyond = _text(question.find("questiontext"))
    text = text or _text(question.find("name"))[0]
    if kind not in ("multichoice", "truefalse"):
        return QuizRow(text, skipped=KINDS.get(kind, f"kind {short(kind)!r}"))
    answers = question.findall("answer")
    texts = [_text(answer) for answer in answers]
    label, problem = right_one([_fraction(answer) for answer in answers])
    skipped = beyond or next(filter(None, (more for _, more in texts)), "") or problem
    if skipped:
        return QuizRow(text, skipped=skipped)
    if kind == "truefalse":
        is_true = texts[label][0].lower() == "true"
        return QuizRow(text, TRUE_FALSE, int(not is_true), subject)
    return QuizRow(text, tuple(option for option, _ in texts), label, subject)


def _text(element: ET.Element | None) -> tuple[str, str]:
    """The text of an element that has one, and what of it no text can say (else empty)."""
    if element is None:
        return "", ""
    form = FORMATS.get(element.get("format", "html"), "html")
    return text_of(element.findtext("text") or "", form)


def _fraction(answer: ET.Element) -> float:
    """The share of the points in per cent that an answer scores; 0 for one that says none."""
    try:
        return float(answer.get("fraction", "0"))
    except ValueError:
        return 0.0
