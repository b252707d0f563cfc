"""What the page asks where a file can be read in two ways: questions or results, and numbers from 0 or from 1."""

from __future__ import annotations

import hashlib

import streamlit as st

from app.components.data.column_form import MAPPINGS_KEY, mappings
from app.components.data.dropped_files import MEANINGS_KEY, meanings
from app.components.data.import_preview import short_names
from app.formatting import plain, shortened
from core.exchange.dropped.found import ALL_TABLES, Header, Reading
from core.exchange.dropped.kinds import UNCLEAR
from core.exchange.table_columns import Columns

MEANT = {"Questions": "questions", "A model's results": "results"}
"""The answers to the question what a table has."""
STARTS = {"0": 0, "1": 1}
"""The answers to the question which number the first option has."""


def questions_or_results(reading: Reading) -> None:
    """Ask whether tables whose options are numbers have questions or a model's results."""
    names = dict.fromkeys([*meanings(), *(found.file.name for found in reading.elsewhere if found.kind == UNCLEAR)])
    for name in names:
        chosen = next((answer for answer, meant in MEANT.items() if meant == meanings().get(name)), None)
        question = f"Does {shortened(name, 80)} have questions or a model's results?"
        answer = asked(question, "Questions or results", MEANT, chosen)
        if answer is not None and answer != chosen:
            st.session_state[MEANINGS_KEY] = meanings() | {name: MEANT[answer]}
            st.rerun()


def first_options(reading: Reading) -> None:
    """Ask for the number of the first option, where the numbers of right options can be read from 0 and from 1."""
    undecided = {refusal.name for refusal in reading.refused if refusal.undecided}
    headers: dict[Header, tuple[str, ...]] = {
        table.header: table.names
        for table in reading.tables
        if undecided & set(table.names) or _start(table.header) is not None
    }
    if others := undecided - {name for names in headers.values() for name in names}:
        headers[ALL_TABLES] = tuple(sorted(others))
    for header, names in headers.items():
        start = _start(header)
        answer = first_option(short_names(names), None if start is None else str(start))
        if answer is not None and answer != start:
            told = Columns((), "", label_from=answer, partial=True)
            st.session_state[MAPPINGS_KEY] = mappings() | {header: told}
            st.rerun()


def first_option(names: str, chosen: str | None = None) -> int | None:
    """Ask for the number of the first option of files; None until a person says it."""
    question = f"Is the first option of {shortened(names, 80)} number 0 or 1?"
    answer = asked(question, "Number of the first option", STARTS, chosen)
    return None if answer is None else STARTS[answer]


def asked(question: str, label: str, answers: dict[str, str] | dict[str, int], chosen: str | None) -> str | None:
    """The answer that a person picks; None until one is."""
    with st.container(border=True):
        st.markdown(plain(question))  # a label would read out the marks that keep a file's name literal
        picked: str | None = st.radio(
            label,
            list(answers),
            None if chosen is None else list(answers).index(chosen),
            horizontal=True,
            label_visibility="collapsed",
            key=f"doubt-{hashlib.sha256(question.encode()).hexdigest()[:8]}",
        )
    return picked


def _start(header: Header) -> int | None:
    told = mappings().get(header)
    return told.label_from if told is not None and told.partial else None
