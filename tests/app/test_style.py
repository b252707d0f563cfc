"""The styles that every page needs reach the browser."""

import re

import pytest

from app import style

pytestmark = pytest.mark.quick


def test_no_style_holds_what_makes_streamlit_drop_it():
    """The filter of Streamlit's HTML drops a whole style with an angle bracket before a letter, and says nothing."""
    assert style.FRAME.count("<style>") > 10
    assert re.findall(r"<(?!/?style>)[\w/]", style.FRAME) == []
