"""The sentences for figures between two ends, as the browser writes them."""

import re
from pathlib import Path

from tests.app.javascript import passed_tests


def test_the_words_of_ranges():
    path = Path(__file__).with_name("ranges.test.mjs")
    assert passed_tests([path]) == len(re.findall(r"^test\(", path.read_text(), re.MULTILINE))
