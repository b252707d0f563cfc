"""The wording of pages, commands and documentation: one style for percentages, and no phrase that was hard to read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import ROOT

pytestmark = pytest.mark.quick

HARD_TO_READ = (
    "what is beside",
    "have it back",
    "had back",
    "have them back",
    "take it along",
    "take them out",
    "to be believed",
    "more than luck keeps",
    "in it: the model knows",
    "we accept to be wrong",
    "can be had",
    "of these there are",
    "likelier",
    "than need be",
    "must needs",
    "seldom brings",
    "goes on with",
    "can't mend",
    "what shall be",
    "no more be",
    "(any more)",
)
"""Archaic or elliptical turns, and one claim that is false (a set of one option holds the truth in about 81%)."""
SPACED = re.compile(r"[\d}](?: |\u00a0|\u202f|&nbsp;)%(?![\w(])")
FOLDERS = ("app", "charts", "core", "hedge", "pages", "docs")


def _python(path: Path) -> Iterator[tuple[int, str]]:
    """A file's strings with their lines, but for docstrings. An expression inside a string counts as one figure."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    quiet = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "0" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet:
            yield node.lineno, node.value


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        yield number, re.sub(r"(?:^|\s)//.*", "", line)


def _texts() -> Iterator[tuple[str, str]]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    paths += [ROOT / "README.md", *sorted((ROOT / "assets" / "lessons").glob("*.toml"))]
    for path in paths:
        read = _python if path.suffix == ".py" else _lines if path.suffix in (".js", ".html", ".md", ".toml") else None
        if read and "node_modules" not in path.parts:
            for number, text in read(path):
                yield f"{path.relative_to(ROOT)}:{number}", text


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    """Every text that can reach a person, with its place."""
    return list(_texts())


def test_a_per_cent_sign_follows_its_number_at_once(texts: list[tuple[str, str]]):
    assert len(texts) > 5000
    assert [place for place, text in texts if SPACED.search(text)] == []


@pytest.mark.parametrize("phrase", HARD_TO_READ)
def test_no_text_is_hard_to_read(texts: list[tuple[str, str]], phrase: str):
    assert [place for place, text in texts if phrase in text.lower()] == []
