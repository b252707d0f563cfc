"""The progress of reading a model's files, which a launch does when they are new to Hedge."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def reading() -> Iterator[Callable[[str], None]]:
    """Show a line for as long as the body works; the yielded function sets its text."""
    line = st.empty()

    def show(stage: str) -> None:
        line.caption(f"{stage[:1].upper()}{stage[1:]}")

    try:
        yield show
    finally:
        line.empty()
