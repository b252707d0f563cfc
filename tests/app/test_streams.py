"""The Stream lab's arithmetic equals core's: Node's test runner beside golden values that Python writes."""

import re
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.app import golden_streams
from tests.app.javascript import passed_tests

SCRIPTS = ROOT / "app" / "components"


def test_the_browsers_arithmetic_equals_pythons(home: Path, tmp_path: Path):
    passed = passed_tests(
        [Path(__file__).with_name("streams.test.mjs")],
        HEDGE_GOLDEN=str(golden_streams.write(tmp_path)),
    )
    assert passed == sum(len(golden_streams.orders(pool)) for pool in golden_streams.pools().values()) + 5


@pytest.mark.quick
def test_the_arithmetic_knows_no_page_and_rounds_as_python_does():
    for name in ("adaptive", "betting", "streams"):
        text = (SCRIPTS / "stream_lab" / f"{name}.js").read_text(encoding="utf-8")
        assert not re.search(r"\b(document|window\.|HTMLElement)\b", text), name
        shown_only = text.partition("// The decimal logarithm")[0]
        assert set(re.findall(r"Math\.(\w+)", shown_only)) <= {"max", "min", "floor", "ceil"}, name
