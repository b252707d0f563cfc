"""The head of a page: what the page is, the question that it answers, and the meanings of the terms it begins with."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.formatting import plain
from app.glossary import hint


def head(title: str, question: str, *, terms: tuple[str, ...] = ()) -> None:
    """Show a page's title and, below it, its question. ``terms`` (names in :mod:`app.glossary`) are explained beside
    the question on hover, on keyboard focus and on a tap.
    """
    st.title(title, anchor=False)
    st.caption(question, width="content", help=hint(*terms) if terms else None)


def head_beside(title: str, question: str, *, terms: tuple[str, ...] = ()) -> DeltaGenerator:
    """Show the head, and return the place on its right, for what belongs to the whole page."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        with st.container(width="content"):
            head(title, question, terms=terms)
        return st.container(
            width="content", horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
        )


def answer(headline: str, detail: str, *, help: str | None = None) -> None:
    """Show a page's answer in one sentence, and the figures behind it in a second one."""
    st.header(plain(headline), anchor=False)
    st.markdown(plain(detail), help=help)
