"""Texts of files take linear time: what grows with the square of these lengths takes longer than a test may."""

import pytest

from core.exchange.dropped.other_tools import MARKDOWN_RULE
from core.exchange.option_columns import KIND_WORDS
from core.questions import recipes

LONG = 300_000


@pytest.mark.quick
@pytest.mark.parametrize("repeated", [" ", "-", ":", "|", "- ", " |", "(", "_", ".", "s"])
def test_lines_and_names_of_columns_of_any_length(repeated: str):
    for text in (repeated * LONG, repeated * LONG + "\0"):
        MARKDOWN_RULE.match(text)
        KIND_WORDS[-1][1].match(text)
    assert MARKDOWN_RULE.match("| --- |:-:| -- |")
    assert not MARKDOWN_RULE.match("a | b")


@pytest.mark.quick
def test_marks_that_do_not_end_are_text():
    assert recipes._plain("[" * LONG) == "[" * LONG
    assert recipes._plain("a [header] b  [c\n] d [e") == "a b d [e"
