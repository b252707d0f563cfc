"""What a person reads of an error stays short, whatever a file holds."""

from __future__ import annotations

import pytest

from core.errors import LONGEST, InputError

pytestmark = pytest.mark.quick


def test_a_message_keeps_its_ends():
    told = "line 5: expected every id once, found"
    error = InputError(f"{told} {'x' * 50_000} again; give every row an id of its own")
    assert len(str(error)) == LONGEST
    assert str(error).startswith(told)
    assert str(error).endswith("again; give every row an id of its own")


def test_a_message_of_the_usual_length_is_whole():
    assert str(InputError("x" * LONGEST)) == "x" * LONGEST
    assert str(InputError()) == ""
