"""The lists and objects that the text of a cell writes down: in JSON, as Python does, or as numpy does."""

import ast
import re
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from core.errors import InputError, shown_value
from core.storage.json_text import loads

LONGEST_CELL = 1_000_000
"""The most characters of a cell that is read as Python or numpy write lists."""
NUMPY_NUMBER = re.compile(r"np\.(?:float|int)\d+\(([^()]*)\)")
"""A number as numpy 2 shows it in a list."""
PARTS = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.\.\.|,?\s*dtype=(?:\w+|'[^']*')|[^\s'"\[\]{}(),:]+|\s+|.""", re.DOTALL
)
"""The parts of a list or an object as Python or numpy writes it: texts, numbers, words and marks."""
NO_PART = re.compile(r"\s+|array|[()]|,?\s*dtype=.*", re.DOTALL)
"""What numpy writes around an array, which is no part of its values."""
VALUE = re.compile(r"['\"]")
NUMPY_TEXTS = re.compile(r"array\(|['\"]\s+['\"]")


def common_beginning(texts: Sequence[str]) -> str:
    """What all of one or more texts begin with."""
    first, last = min(texts), max(texts)
    return first[: next((i for i, letter in enumerate(first) if last[i : i + 1] != letter), len(first))]


FLAGS: dict[str, bool] = {
    **dict.fromkeys(("true", "1", "1.0", "yes"), True),
    **dict.fromkeys(("false", "0", "0.0", "no", "", "none", "nan"), False),
}


def flags(cells: Sequence[Any], name: str, where: Callable[[int], str]) -> list[bool]:
    """The cells of a column ``name`` that say whether options are in order; a missing one says that they are not.
    Raises :class:`InputError` that names the row (``where``) of one that is neither true nor false.

    >>> flags(["true", "0", None], "ordered", str)
    [True, False, False]
    """
    words = [str(cell).strip().lower() for cell in cells]
    for row, word in enumerate(words):
        if word not in FLAGS:
            raise InputError(
                f"{where(row)}: expected true or false in {name[:40]!r}, which says whether the options are in order, "
                f"found {shown_value(cells[row])}"
            )
    return [FLAGS[word] for word in words]


def value_of(cell: Any) -> Any:
    """The list or object that a cell's text writes down; any other cell as it is.

    >>> value_of("['two' 'three']"), value_of('{"A": 0.7}'), value_of("[sic]"), value_of(3)
    (['two', 'three'], {'A': 0.7}, '[sic]', 3)
    """
    if not isinstance(cell, str) or cell.lstrip()[:1] not in ("[", "{"):
        return cell
    value = parsed(cell.strip())
    return cell if value is None else value


def parsed(text: str) -> Any:
    """The value of a cell that is JSON, or text as Python or numpy writes a list or an object; None for others.

    >>> parsed("['two' 'three']"), parsed("{'text': array(['x', 'y'], dtype=object)}")
    (['two', 'three'], {'text': ['x', 'y']})
    """
    try:
        return loads(text)
    except ValueError:
        if len(text) > LONGEST_CELL:
            return None
        text = NUMPY_NUMBER.sub(r"\1", text)
    if NUMPY_TEXTS.search(text):  # Python would join texts that stand side by side
        parts = [part for part in PARTS.findall(text) if not NO_PART.fullmatch(part)]
        if "..." in parts:  # numpy leaves out the middle of a long array
            return None
        apart = [", " if VALUE.match(part) and VALUE.match(after) else "" for part, after in pairwise(parts)]
        text = "".join(part + comma for part, comma in zip(parts, [*apart, ""], strict=True))
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
