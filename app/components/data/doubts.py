"""What the page asks where a file can be read in two ways: questions or results, numbers from 0 or from 1, counts or
logits."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import streamlit as st

from app.components.data.column_form import MAPPINGS_KEY, mappings
from app.components.data.dropped_files import MEANINGS_KEY, meanings
from app.components.data.import_preview import short_names
from app.formatting import plain, sentence, shortened
from core.exchange.dropped.found import ALL_TABLES, Header, Reading
from core.exchange.dropped.kinds import UNCLEAR
from core.exchange.table_columns import Columns
from core.exchange.table_values import COUNTS

MEANT = {"Questions": "questions", "A model's results": "results"}
"""The answers to the question what a table has."""
STARTS = {"0": 0, "1": 1}
"""The answers to the question which number the first option has."""
WHOLE_NUMBERS = {"Counts of picks": COUNTS, "Logits": "logits"}
"""The answers to the question what whole numbers of options are."""
Answer = TypeVar("Answer", int, str)


def questions_or_results(reading: Reading) -> None:
    """Ask whether tables whose options are numbers have questions or a model's results."""
    names = dict.fromkeys([*meanings(), *(file.file.name for file in reading.elsewhere if file.kind == UNCLEAR)])
    for name in names:
        chosen = meanings().get(name)
        question = f"Does {shortened(name, 80)} have questions or a model's results?"
        answer = ask(question, "Questions or results", MEANT, chosen)
        if answer is not None and answer != chosen:
            st.session_state[MEANINGS_KEY] = meanings() | {name: answer}
            st.rerun()


def doubts_of_tables(reading: Reading) -> None:
    """Ask what can be read in two ways: numbers of right options from 0 and from 1, whole numbers as counts and as
    logits."""
    for what in ("start", "counts"):
        undecided = {refusal.name: refusal.doubt for refusal in reading.refused if refusal.undecided == what}
        headers: dict[Header, tuple[str, ...]] = {
            table.header: table.names
            for table in reading.tables
            if set(undecided) & set(table.names) or _said(table.header, what) is not None
        }
        if others := set(undecided) - {name for names in headers.values() for name in names}:
            headers[ALL_TABLES] = tuple(sorted(others))
        for header, names in headers.items():
            reason = next((undecided[name] for name in names if name in undecided), "")
            _ask(header, names, what, reason)


def _ask(header: Header, names: Sequence[str], what: str, reason: str) -> None:
    answer_text, short = _said(header, what), short_names(names)
    if what == "start":
        answer: int | str | None = first_option(short, answer_text, reason)
    else:
        question = f"Do the whole numbers of {shortened(short, 80)} count a model's picks, or are they logits?"
        answer = ask(question, "What whole numbers are", WHOLE_NUMBERS, answer_text, reason)
    if answer is not None and answer != answer_text:
        mapping = mappings().get(header)
        mapping = mapping if mapping is not None and mapping.partial else Columns((), "", partial=True)
        mapping = replace(mapping, label_from=int(answer)) if what == "start" else replace(mapping, values=str(answer))
        st.session_state[MAPPINGS_KEY] = mappings() | {header: mapping}
        st.rerun()


def first_option(names: str, chosen: int | str | None = None, reason: str = "") -> int | None:
    """Ask for the number of the first option of files; None until a person says it."""
    return ask(
        f"Is the first option of {shortened(names, 80)} number 0 or 1?",
        "Number of the first option",
        STARTS,
        chosen,
        reason,
    )


def ask(
    question: str, label: str, answers: Mapping[str, Answer], chosen: int | str | None, reason: str = ""
) -> Answer | None:
    """Ask the user and return the meaning of the chosen answer; None until one is chosen."""
    with st.container(border=True):
        st.markdown(plain(question))  # a label would read out the marks that keep a file's name literal
        if reason:
            st.caption(plain(sentence(reason)))
        picked: str | None = st.radio(
            label,
            list(answers),
            next((place for place, value in enumerate(answers.values()) if value == chosen), None),
            horizontal=True,
            label_visibility="collapsed",
            key=f"doubt-{hashlib.sha256(question.encode()).hexdigest()[:8]}",
        )
    return None if picked is None else answers[picked]


def _said(header: Header, what: str) -> int | str | None:
    """The user's saved answer about tables with this header; None if there is none."""
    mapping = mappings().get(header)
    if mapping is None or not mapping.partial:
        return None
    return mapping.label_from if what == "start" else mapping.values or None
