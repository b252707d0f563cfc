"""What a person reads of an error stays short, whatever a file holds."""

import pytest

from core.errors import LONGEST, InputError, plain

pytestmark = pytest.mark.quick


def test_a_message_keeps_its_ends():
    text = "line 5: expected every id once, found"
    error = InputError(f"{text} {'x' * 50_000} again; give every row an id of its own")
    assert len(str(error)) == LONGEST
    assert str(error).startswith(text)
    assert str(error).endswith("again; give every row an id of its own")


def test_a_message_of_the_usual_length_is_whole():
    assert str(InputError("x" * LONGEST)) == "x" * LONGEST
    assert str(InputError()) == ""


HOSTILE = "a\x1b[2J\x1b]0;t\x07\r\x9b31m\u202eb\ud800"


def test_no_terminal_obeys_a_text():
    assert plain(f"{HOSTILE}\n\tü👨\u200d👩") == "a\\x1b[2J\\x1b]0;t\\x07\\r\\x9b31m\\u202eb\\ud800\n\tü👨\u200d👩"
    assert plain("a\nb\tc", one_line=True) == "a\\nb\\tc"
    assert str(InputError(HOSTILE)) == plain(HOSTILE)
