"""Where intervals, p-values and power come from: read off the source, so that a new one can't be overlooked.

A place is a dataclass with a field, a function with a name, or a function that makes a column, whose name says that it
is an end of an interval, a band, a p-value, or the power of a test. Pages and charts do no maths
(``tests/test_architecture.py``), so every such figure that they show begins in ``core`` or in a command.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = re.compile(r"(.*_)?(low|high|p_value|p_values|interval|intervals|band|bands|holm|power|detectable)|.*_p")


def places() -> set[str]:
    """Every place, as ``core.package.module.Name``."""
    return {
        f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}.{name}"
        for folder in ("core", "hedge/commands", "tests/reference")
        for path in (ROOT / folder).rglob("*.py")
        if not path.name.startswith("test_")
        for name in _names(ast.parse(path.read_text(encoding="utf-8")))
    }


def _names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(NAME.fullmatch(field) for field in _fields(node)):
            yield node.name
        if isinstance(node, ast.FunctionDef) and (
            NAME.fullmatch(node.name) or any(map(NAME.fullmatch, _columns(node)))
        ):
            yield node.name


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            yield field.target.id


def _columns(function: ast.FunctionDef) -> Iterator[str]:
    """Keys that the function writes: of dict literals, of assignments to a subscript, and keywords of ``assign``."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            yield from (text for key in node.keys if key is not None for text in _texts(key))
        if isinstance(node, ast.Assign):
            yield from (t for to in node.targets if isinstance(to, ast.Subscript) for t in _texts(to.slice))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "assign":
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def _texts(node: ast.expr) -> Iterator[str]:
    """The string constants of an expression, the end of an f-string among them."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
