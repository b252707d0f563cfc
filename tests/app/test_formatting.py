"""Data is shown letter by letter."""

import doctest

import pytest

from app import formatting
from app.formatting import counted, duration, plain, sentence, shortened
from core.settings import ROOT

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    "text",
    [
        "a_b*c*",
        "[here](http://x.y)",
        "![](http://x.y/i.png)",
        "$x^2$",
        ":red[x] :smile:",
        "<script>1</script>",
        "# 1",
        "`x`",
    ],
)
def test_nothing_of_markdown_is_left_unescaped(text: str):
    shown = plain(text)
    bare = shown.replace("\\\\", "")
    for i, letter in enumerate(bare):
        if letter in "`*_{}[]()#+!|~<>$:":
            assert bare[i - 1] == "\\", shown


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(formatting).failed == 0


def test_what_looks_like_a_link_is_none():
    for text in ("see https://evil.example/x", "www.evil.example", "me@evil.example"):
        shown = plain(text).replace("\\", "")
        assert "https:" not in shown
        assert "www." not in shown
        assert "me@" not in shown
        assert shown.replace("\u2060", "") == text


def test_line_breaks_become_spaces():
    assert plain("one\n\n\ttwo") == "one two"


def test_a_file_name_does_not_reverse_the_sentence_behind_it():
    assert plain("\u202etxt.exe is not imported\u2069") == plain("txt.exe is not imported")


def test_a_long_text_is_cut_with_a_sign():
    assert shortened("a" * 100, 10) == "aaaaaaaaa…"
    assert shortened("  a\n b ", 10) == "a b"


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, "0 s"), (0.2, "1 s"), (59.1, "1 min 0 s"), (100, "1 min 40 s"), (7290, "2 h 1 min")]
)
def test_durations_in_their_two_largest_units(seconds: float, expected: str):
    assert duration(seconds) == expected


def test_numbers_with_their_nouns():
    assert counted(1, "run") == "1 run"
    assert counted(2000, "question") == "2,000 questions"
    assert counted(0, "question holds them", "questions hold them") == "0 questions hold them"


def test_a_sentence_begins_large_and_ends():
    assert sentence("there is no run; launch one") == "There is no run; launch one."
    assert sentence("Done!") == "Done!"


def test_tables_write_percentages_as_texts_do():
    # Streamlit's own format writes 57% beside 57.08%.
    for path in (ROOT / "app").rglob("*.py"):
        assert 'format="percent"' not in path.read_text(encoding="utf-8"), path
