"""The form that assigns meanings to columns, once for all dropped tables with the same columns."""

import hashlib
from dataclasses import replace
from typing import Any

import streamlit as st

from app.formatting import counted, plain, shortened
from core.exchange.dropped.found import Header, Reading, TableHeader
from core.exchange.table_columns import Columns
from core.exchange.table_values import VALUES
from core.records import MOST_OPTIONS

MAPPINGS_KEY = "table_mappings"
PREVIEWED = 5
"""The number of rows of a table that a person sees while assigning its columns."""
NONE = "(none)"
RECOGNISED = "recognised"


def mappings() -> dict[Header, Columns]:
    """The assignments that were made in this window, by the tables' columns."""
    mappings_by_header: dict[Header, Columns] = st.session_state.get(MAPPINGS_KEY, {})
    return mappings_by_header


def column_forms(reading: Reading) -> None:
    """Show a form for each kind of table, which is open if the columns are not recognised and folded away otherwise."""
    for table in reading.tables:
        tables = counted(len(table.names), "table")
        names = ", ".join(table.names[:3]) + (" …" if len(table.names) > 3 else "")
        if table.columns is None:
            with st.container(border=True):
                st.markdown(
                    plain(f"Which columns hold the options of {shortened(names, 80)}, and which one has the answer?")
                )
                _form(table, table.seen)
        else:
            which = names if len(table.names) == 1 else f"{tables}: {names}"
            with st.expander(plain(f"Columns of {shortened(which, 80)}")):
                _form(table, table.seen)


def _form(table: TableHeader, start: Columns) -> None:
    st.dataframe(
        table.first.table.slice(0, PREVIEWED).to_pandas(),
        hide_index=True,
        alt="The first rows of the table",
        height="content",
    )
    chosen = _choices(table.header, start)
    ready = bool(len(chosen.options) >= 2 and chosen.label)
    if not ready:
        st.info("Choose the columns of the options and the column of the answer.")
    if chosen != start and ready:
        st.session_state[MAPPINGS_KEY] = mappings() | {table.header: chosen}
        st.rerun()


def _choices(header: Header, start: Columns) -> Columns:
    names = list(header)
    key = hashlib.sha256(repr(names).encode()).hexdigest()[:8]
    options = st.multiselect(
        "Options, in order",
        names,
        [n for n in start.options if n in names],
        key=f"options-{key}",
        max_selections=MOST_OPTIONS,
    )

    def pick(column: Any, title: str, value: str, help: str) -> str:
        offered = [NONE, *names]
        place = offered.index(value) if value in offered else 0
        picked = column.selectbox(title, offered, place, help=help, key=f"{title}-{key}")
        return "" if picked == NONE else str(picked)

    a, b, c = st.columns(3)
    label = pick(
        a, "Answer", start.label, "The right option, given by its letter, its number, its text or its column's name."
    )
    kinds = [RECOGNISED, *VALUES]
    values = b.selectbox(
        "Values of the options",
        kinds,
        kinds.index(start.values) if start.values in kinds else 0,
        help="A softmax turns log-probabilities and logits into probabilities. Next-token probabilities are those of "
        "the letters among all tokens, so they sum to less than 1.",
        key=f"values-{key}-{start.values}",  # which may have been said above
    )
    split = pick(
        c, "Split", start.split, "A column that says calibration or test. Without it, half of the questions calibrate."
    )
    a, b, c = st.columns(3)
    text = pick(a, "Text of the question", start.text, "The Alpha lab shows this text.")
    group = pick(b, "Subject", start.group, "With subjects, coverage is also shown for each of them.")
    name = pick(c, "Id", start.id, "Identifies the same question in different runs.")
    extra = st.checkbox(
        "The last two options are “I don't know” and “None of the above”", start.extra, key=f"extra-{key}"
    )
    return replace(
        start,
        options=tuple(options),
        label=label,
        values="" if values == RECOGNISED else values,
        split=split,
        text=text,
        group=group,
        id=name,
        extra=extra,
        texts=start.texts if len(start.texts) == len(options) else (),
    )
