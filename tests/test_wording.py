"""The English of pages, commands, docs, docstrings and comments: one style of per cent, and plain modern words."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

import pytest

from core.settings import ROOT

pytestmark = pytest.mark.quick

HARD_TO_READ = (
    # archaic words
    "whoever",
    "anew",
    "whence",
    "albeit",
    "whilst",
    "seldom",
    "likelier",
    "surer",
    "surest",
    "shall",
    "must needs",
    "be it",
    "in vain",
    "at hand",
    "for want of",
    "than need be",
    "of which",
    "so many",
    "all else",
    "mend",
    "mends",
    "mended",
    "bids",
    "upright",
    # a verb with a particle, where English has one verb
    "have it back",
    "have them back",
    "had back",
    "can be had",
    "can't be had",
    "take it along",
    "take them out",
    "go on with",
    "goes on with",
    "goes on where",
    "goes on from",
    "went on",
    "bring in",
    "bring it in",
    "bring them in",
    "brings in",
    "brought in",
    "comes about",
    "taken for",
    "for so long",
    "after so long",
    "what is said",
    "at work",
    "does without",
    "do without",
    # a pronoun or a clause in place of a noun
    "that is none",
    "that are none",
    "is none of",
    "are none of",
    "in no hurry",
    "comes to.",
    "what shall be",
    "what is beside",
    "no more be",
    "(any more)",
    "of these there are",
    "and with it",
    "to be believed",
    "in it: the model knows",
    "we accept to be wrong",
    # private metaphors, and one claim that is false (a set of one option holds the truth in about 81%)
    "luck",
    "nursery",
    "more than luck keeps",
)
"""Words and turns that no text may have, in lower case."""
WHAT_SENTENCE = re.compile(r"(?<=[.;] )What [^.?!:]*\.(?= |$)")
"""A sentence whose subject is a clause with *what*, such as "What was in flight is waited for."."""
SPACED = re.compile(r"[\d}](?: |\u00a0|\u202f|&nbsp;)%(?![\w(])")
WRITTEN = ("app", "charts", "core", "hedge", "pages", "docs", "deploy", "pocket_world", "tests")
SHOWN = ("app", "charts", "core", "hedge", "pages", "docs")
EXAMPLES = (
    "pocket_world/facts",
    "pocket_world/scenes",
    "pocket_world/chat",
    "pocket_world/corpus",
    "tests/test_wording.py",
)
"""Texts that models learn from, which people of any age may speak, and this file."""
COMMENT = re.compile(r"(?:^|\s)#:?\s+(.*)")
SCRIPT_TEXT = re.compile(r'(?:[ \t]*//.*\n?)+|/\*[\s\S]*?\*/|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
LINE_END = re.compile(r"""["']?\s*\n\s*(?:(?:#|//|\*|f?["'])\s*)?""")


def _places(tree: ast.Module, *, docstrings: bool) -> Iterator[tuple[int, str]]:
    """A file's strings with their lines. An expression inside a string counts as one figure."""
    quiet = set() if docstrings else {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "0" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet:
            yield node.lineno, node.value


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments with their first lines; comment lines that follow each other are one text."""
    block: list[str] = []
    for number, line in enumerate([*source.splitlines(), ""], start=1):
        comment = COMMENT.search(line)
        if block and not (comment and line.lstrip().startswith("#")):
            yield number - len(block), " ".join(block)
            block = []
        if comment:
            block.append(comment[1])


def _paragraphs(source: str) -> Iterator[tuple[int, str]]:
    number = 1
    for paragraph in re.split(r"(\n\s*\n)", source):
        yield number, paragraph
        number += paragraph.count("\n")


def _lines(source: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.splitlines(), start=1):
        yield number, re.sub(r"(?:^|\s)//.*", "", line)


def _sources(folders: Sequence[str], pages: Sequence[str], suffixes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each file's place and its content."""
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    for path in [*paths, *sorted((ROOT / "assets" / "lessons").glob("*.toml")), *(ROOT / page for page in pages)]:
        place = path.relative_to(ROOT).as_posix()
        if path.suffix in suffixes and "node_modules" not in path.parts and not place.startswith(EXAMPLES):
            yield place, path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown() -> list[tuple[str, str]]:
    """Every text that pages, commands and the documentation show, with its place."""
    texts = []
    for place, source in _sources(SHOWN, ("README.md",), (".py", ".js", ".html", ".md", ".toml")):
        read = _places(ast.parse(source), docstrings=False) if place.endswith(".py") else _lines(source)
        texts += [(f"{place}:{number}", text) for number, text in read]
    return texts


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """Each source in one line, without the signs of comments and of strings that continue."""
    pages = [path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "assets").rglob("*.md"))]
    sources = _sources(WRITTEN, pages, (".py", ".js", ".mjs", ".css", ".html", ".md", ".toml", ".yaml", ".yml"))
    return {place: LINE_END.sub(" ", source) for place, source in sources}


@pytest.fixture(scope="module")
def lower_case(written: dict[str, str]) -> dict[str, str]:
    return {place: source.lower() for place, source in written.items()}


def _texts(place: str) -> Iterator[tuple[str, str]]:
    """The texts of one file, each in one line: strings, docstrings, comments and paragraphs, without names."""
    source = (ROOT / place).read_text(encoding="utf-8")
    if place.endswith(".py"):
        read = [*_places(ast.parse(source), docstrings=True), *_comments(source)]
    elif place.endswith((".js", ".mjs", ".css")):
        read = [(source.count("\n", 0, match.start()) + 1, match[0]) for match in SCRIPT_TEXT.finditer(source)]
    else:
        read = list(_paragraphs(source))
    for number, text in read:
        words = " ".join(LINE_END.sub(" ", text).split())
        if " " in words:
            yield f"{place}:{number}", words


def _alarms(places: Iterable[str], pattern: re.Pattern[str]) -> list[str]:
    """The texts of these files that have the pattern."""
    return [f"{place}: {text[:200]}" for file in places for place, text in _texts(file) if pattern.search(text)]


def test_a_per_cent_sign_follows_its_number_at_once(shown: list[tuple[str, str]]):
    assert len(shown) > 5000
    assert [place for place, text in shown if SPACED.search(text)] == []


@pytest.mark.parametrize("phrase", HARD_TO_READ)
def test_no_text_is_hard_to_read(lower_case: dict[str, str], phrase: str):
    assert len(lower_case) > 1000
    files = [place for place, source in lower_case.items() if phrase in source]
    assert _alarms(files, re.compile(rf"(?<![\w`\"]){re.escape(phrase)}(?!\w)", re.IGNORECASE)) == []


def test_no_sentence_has_a_clause_as_its_subject(written: dict[str, str]):
    files = [place for place, source in written.items() if WHAT_SENTENCE.search(source)]
    assert _alarms(files, WHAT_SENTENCE) == []
