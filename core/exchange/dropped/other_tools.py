"""Files of tools that write no option's probability, and texts that look like a table, by what gives them away."""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.tables.tabular import DELIMITERS, as_number

ARRAYS = ("probs", "probabilities", "logits", "scores", "labels", "targets")
"""Names of arrays in a file of PyTorch that holds results. Model weights have other names."""
LOOKED_AT = 1 << 16
"""Bytes of a pickle that are looked at for names."""
MARKDOWN_RULE = re.compile(r"^\s*+\|?(\s*+:?-+:?\s*+\|)+\s*+(:?-+:?\s*)?$")
"""The line below the header of a table in Markdown."""
LINES = 20


def holds_picks(values: dict[str, Any]) -> bool:
    """Whether a JSON document, or a line of JSON lines, lists answers that were right or wrong, by DeepEval, promptfoo,
    OpenCompass or OpenAI's evals."""
    keys, results = set(values), values.get("results")
    return (
        isinstance(values.get("testCases", values.get("test_cases")), list)
        or (isinstance(results, dict) and isinstance(results.get("results"), list))
        or (isinstance(results, list) and "evalId" in keys)
        or (isinstance(values.get("accuracy"), (int, float)) and isinstance(values.get("details"), dict))
        or (isinstance(values.get("spec"), dict) and "completion_fns" in values["spec"])
        or {"run_id", "event_id", "type", "data"} <= keys
    )


def holds_tensors(names: Sequence[str]) -> bool:
    """Whether a zip archive with these members is a file of PyTorch."""
    return any(name.endswith("data.pkl") for name in names)


def torch_arrays(path: Path) -> bool:
    """Whether a file of PyTorch holds arrays named as results are; nothing is unpickled."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        with archive.open(name) as file:
            head = file.read(LOOKED_AT)
    # A text in a pickle (protocol 2): X, its length in four bytes, itself.
    return any(b"X" + len(array).to_bytes(4, "little") + array.encode() in head for array in ARRAYS)


def check_delimiters(lines: Sequence[str], path: Path) -> None:
    """Raise :class:`InputError` for a table whose columns are separated by spaces or as in Markdown."""
    if len(lines) > 2 and "|" in lines[0] and MARKDOWN_RULE.match(lines[1]):
        raise InputError(f"{path}: expected commas or tabs between columns, found a table in Markdown; save it as CSV")
    cells = [line.split() for line in lines[:LINES]]
    if len(cells) > 2 and not any(mark in lines[0] for mark in DELIMITERS) and _spaced(cells[0], cells[1:]):
        raise InputError(f"{path}: expected commas or tabs between columns, found spaces; save it as CSV")


def _spaced(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether names stand above rows of as many cells, or of one more where rows are numbered, with numbers in them."""
    wide = len(rows[0])
    if len(names) < 3 or wide - len(names) not in (0, 1) or any(_numbers(names)):
        return False
    return all(len(row) == wide and sum(_numbers(row)) >= 2 for row in rows)


def _numbers(cells: Sequence[str]) -> list[bool]:
    return [as_number(cell, percent=False) is not None for cell in cells]
