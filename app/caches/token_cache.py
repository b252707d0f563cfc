"""Token views of a person's own texts, as the answering worker writes them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.runs.answering import token_text
from core.runs.answering.token_text import TokenText


def token_view(asked: TokenText) -> dict[str, Any] | None:
    """The token view of a text, or None if it has not been read."""
    try:
        stamp = token_text.view_file(asked).stat().st_mtime_ns
    except FileNotFoundError:
        return None
    return _token_view(asked, stamp)


# 5 kB per entry for a short text, 2 MB for the longest. A view needs one.
@st.cache_resource(max_entries=64, show_spinner=False)
def _token_view(asked: TokenText, stamp: int) -> dict[str, Any] | None:
    return token_text.read_view(asked)
