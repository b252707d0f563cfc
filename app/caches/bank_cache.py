"""How files of questions are read, in one line each."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from core.errors import HedgeError, Undecided
from core.exchange.dropped import question_files
from core.exchange.dropped.apart import apart


@st.cache_data(max_entries=32, show_spinner=False)
def read_as(path: Path, written: int, size: int) -> tuple[bool, str]:
    """Whether a file of questions is read, and how, or why not; ``written`` and ``size`` are those of this version."""
    try:
        return True, f"{path.name}: {apart(question_files.read_as, path, path.name, name=path.name)[1]}"
    except HedgeError as error:
        line = str(error).replace(str(path), path.name)
        if isinstance(error, Undecided):
            line = f"{re.split(r'; [^;]*--', line)[0]}; bring it in on the page Data, which asks"
        return False, line
