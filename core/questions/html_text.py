"""HTML in questions as plain text: paragraphs become lines, tags go, entities are decoded.

The standard library's parser takes a time that grows with the square of unclosed tags, so the text is split at each
``<`` instead, which takes a time that grows with its length.
"""

import html
import re

LONGEST = 50_000
"""The most characters of HTML that are read."""
TAG = re.compile(
    r"</?(?:p|br|div|span|b|i|u|em|strong|sub|sup|ul|ol|li|code|pre|a|table|t[rdh]|h[1-6]|img|audio|video|iframe|svg|"
    r"math|input|select)(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>",
    re.IGNORECASE,
)
"""A tag that questions have; "a < b" and "<name>" are none."""
ELEMENT = re.compile(r"""(?P<end>/?)(?P<name>[A-Za-z][\w:-]*)(?:"[^"]*"|'[^']*'|[^'">])*>|[!?][^>]*>""")
"""What follows the ``<`` of a tag, of a document type or of an instruction."""
LINES = frozenset(
    (
        "p",
        "div",
        "br",
        "li",
        "ul",
        "ol",
        "tr",
        "table",
        "pre",
        "blockquote",
        "hr",
        "dt",
        "dd",
        *(f"h{i}" for i in range(1, 7)),
    )
)
"""Elements that stand on lines of their own."""
CELLS = frozenset(("td", "th"))
HIDDEN = frozenset(("script", "style", "template"))
"""Elements whose content nobody sees."""
BEYOND = {
    **dict.fromkeys(("img", "picture", "svg", "canvas"), "a picture"),
    **dict.fromkeys(("audio", "video", "iframe", "object", "embed"), "a video or a sound"),
    "math": "a formula in MathML",
    **dict.fromkeys(("input", "select", "textarea"), "a field"),
}
"""Elements that say something that no text says, and what they are."""
RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def text_of(text: str, form: str) -> tuple[str, str]:
    """The text of a question in one of Moodle's formats (``html``, ``moodle``, ``markdown`` or ``plain``), and what of
    it no text can say, such as "a picture" (else empty). Text in a format other than HTML is read as HTML if it has
    tags of it.

    >>> text_of("a < b <br> c", "moodle"), text_of("a<b>", "plain")
    (('a < b\\nc', ''), ('a<b>', ''))
    """
    if len(text) > LONGEST:
        return "", f"more than {LONGEST:,} characters"
    if form == "html" or (form != "plain" and TAG.search(text)):
        return text_of_html(text)
    return lines_of(text), ""


def text_of_html(content: str) -> tuple[str, str]:
    """The text of HTML, and what of it no text can say, such as "a picture" (else empty).

    >>> text_of_html("<p>Is H<sub>2</sub>O &lt; 5&nbsp;g?</p><p>Say so</p>"), text_of_html('<img src="x">')
    (('Is H₂O < 5 g?\\nSay so', ''), ('', 'a picture'))
    """
    reader = _Reader()
    first, *others = content.split("<")
    reader.text(first)
    for piece in others:
        reader.tag(piece)
    return lines_of("".join(reader.pieces)), reader.beyond


class _Reader:
    """Collects the text that people see; ``beyond`` is the first part that no text can say."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.beyond = self._hidden = self._shifted = ""
        self._in_comment = False

    def text(self, text: str) -> None:
        """Take text between tags."""
        plain = re.sub(r"\s+", " ", html.unescape(text))
        if not self._hidden:
            self.pieces.append(_shifted(plain, self._shifted) if self._shifted and plain.strip() else plain)

    def tag(self, piece: str) -> None:
        """Take what follows a ``<``: a tag or a comment, and the text behind it."""
        if self._in_comment or piece.startswith("!--"):
            _, closed, rest = piece.partition("-->")
            self._in_comment = not closed
            self.text(rest)
        elif element := ELEMENT.match(piece):
            self._element((element["name"] or "").lower(), is_end=bool(element["end"]))
            self.text(piece[element.end() :])
        else:
            self.text(f"<{piece}")

    def _element(self, name: str, *, is_end: bool) -> None:
        self.pieces.append("\n" if name in LINES else "\t" if name in CELLS and not is_end else "")
        if name in ("sub", "sup"):
            self._shifted = "" if is_end else name
        if is_end:
            self._hidden = "" if name == self._hidden else self._hidden
        elif name in HIDDEN:
            self._hidden = self._hidden or name
        else:
            self.beyond = self.beyond or BEYOND.get(name, "")


def _shifted(text: str, tag: str) -> str:
    """A superscript or a subscript, with the letters that Unicode has for it or behind ^ or _.

    >>> _shifted("2", "sup"), _shifted("max", "sub")
    ('²', '_(max)')
    """
    table, mark = (RAISED, "^") if tag == "sup" else (LOWERED, "_")
    if all(ord(letter) in table for letter in text):
        return text.translate(table)
    return f"{mark}({text})" if len(text) > 1 else f"{mark}{text}"


def lines_of(text: str) -> str:
    """A text without empty lines and without spaces at the ends of its lines."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
