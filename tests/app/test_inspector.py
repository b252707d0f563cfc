"""The inspector's scripts: their own tests, and the names that they share with the link."""

import re
from pathlib import Path

import pytest

from app.state.compare import CHANGES, COUNTS, ORDERS, SURE
from charts.bundles import COMPONENTS
from core.reports.compare.run_matrix import MEASURES
from tests.app.javascript import passed_tests

TESTS = Path(__file__).with_name("inspector.test.mjs")


def test_filters_pairs_and_axes():
    written = len(re.findall(r"^ *test\(", TESTS.read_text(encoding="utf-8"), re.MULTILINE))
    assert passed_tests([TESTS]) == written


def names(path: Path, constant: str) -> tuple[str, ...]:
    """The names of an object that a script declares."""
    match = re.search(
        rf"^export const {constant} = {{\n(.*?)^}};", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert match
    return tuple(re.findall(r"^  (\w+):", match[1], re.MULTILINE))


@pytest.mark.quick
def test_the_browser_offers_what_a_link_may_say():
    rows = COMPONENTS / "compare" / "inspector" / "rows.js"
    assert ("all", *names(rows, "COUNTS")) == COUNTS
    assert names(rows, "CHANGES") == CHANGES
    assert names(rows, "SURENESS") == SURE
    assert names(rows, "ORDERS") == ORDERS
    assert names(COMPONENTS / "compare" / "comparison" / "matrix.js", "MEASURES") == MEASURES
