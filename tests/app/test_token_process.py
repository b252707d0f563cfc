"""A token view of a person's own text, by a real process with the shipped model."""

import pytest

from app.caches.token_cache import token_view
from core.errors import InputError


def test_a_text_comes_back_token_by_token(home):
    found = token_view("pocket-1m", "--json is no option here\n<b>")
    assert "".join(row["text"] for row in found["tokens"]) == "--json is no option here\n<b>"


def test_what_the_command_refuses_is_its_sentence(home):
    with pytest.raises(InputError, match=r"no folder '\./gone'"):
        token_view("./gone", "a text")
