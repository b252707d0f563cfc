"""The examples in docstrings give what they say."""

import doctest
import importlib
import re

import pytest

from core.settings import ROOT

FOLDERS = ("core", "app", "charts", "hedge", "pocket_world", "docs", "tests")
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str):
    result = doctest.testmod(importlib.import_module(name))
    assert (result.failed, result.attempted > 0) == (0, True)
