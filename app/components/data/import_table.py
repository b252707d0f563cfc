"""Map the columns of an uploaded table: which columns are the options, and which one has the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.data.import_offer import offer
from app.formatting import counted
from core.errors import InputError
from core.exchange import column_mappings, table
from core.exchange.imported import ImportedRun
from core.exchange.table import VALUES, Columns
from core.exchange.tabular import Sheet, open_sheet

PREVIEWED = 5
NONE = "(none)"
RECOGNISED = "recognised"


def table_form(paths: Sequence[Path], folder: Path) -> None:
    """Show a table's first rows, the form that maps its columns, and the import of the result."""
    sheet = open_sheet(paths[0])
    st.dataframe(
        sheet.table.slice(0, PREVIEWED).to_pandas(),
        hide_index=True,
        alt="The first rows of the table",
        height="content",
    )
    st.caption(f"The first rows of {counted(sheet.table.num_rows, 'row')}.")
    columns = _column_choices(sheet, _first_columns(sheet))
    model, task = _model_and_task(paths[0])
    if not columns.options or not columns.label:
        st.info("Choose the columns of the options and the column of the answer.")
        return

    def read() -> list[ImportedRun]:
        runs = table.read(paths, columns=columns, model=model, task=task)
        column_mappings.remember(sheet.names, columns)
        return runs

    offer("table", read)


def _first_columns(sheet: Sheet) -> Columns:
    """The mapping used for such a table before, else the one that its column names suggest, else an empty one."""
    known = column_mappings.recall(sheet.names)
    if known is not None:
        return known
    try:
        return table.recognise(sheet)
    except InputError:
        return Columns((), "")


def _column_choices(sheet: Sheet, start: Columns) -> Columns:
    names = sheet.names
    key = hashlib.sha256(repr(names).encode()).hexdigest()[:8]
    options = st.multiselect(
        "Options, in order",
        names,
        [n for n in start.options if n in names],
        key=f"options-{key}",
        max_selections=26,
    )

    def pick(column: Any, title: str, value: str, help: str) -> str:
        choices = [NONE, *names]
        place = choices.index(value) if value in choices else 0
        picked = column.selectbox(title, choices, place, help=help, key=f"{title}-{key}")
        return "" if picked == NONE else str(picked)

    a, b, c = st.columns(3)
    label = pick(
        a, "Answer", start.label, "The right option, given by its letter, its number or the name of its column."
    )
    kinds = [RECOGNISED, *VALUES]
    values = b.selectbox(
        "Values of the options",
        kinds,
        kinds.index(start.values) if start.values in kinds else 0,
        help="A softmax turns log-probabilities and logits into probabilities.",
        key=f"values-{key}",
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


def _model_and_task(path: Path) -> tuple[str, str]:
    left, right = st.columns(2)
    model = left.text_input(
        "Model", placeholder=path.stem, help="If empty, the column “model” is used, or else the file's name."
    )
    task = right.text_input(
        "Task", placeholder=path.stem, help="If empty, the column “task” is used, or else the file’s name."
    )
    return model.strip(), task.strip()
