"""What a table is whose options or right answers are not seen, what it lacks, and what would do."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from core.errors import InputError
from core.questions import bank_shapes
from core.records import MOST_OPTIONS, FloatArray
from core.tables.field_names import (
    GROUP_NAMES,
    ID_NAMES,
    LABEL_NAMES,
    PICK_NAMES,
    QUESTION_NAMES,
    SPLIT_NAMES,
    first,
    matching,
)
from core.tables.labels import UNANSWERED
from core.tables.safe_read import shown
from core.tables.tabular import Sheet

NAMED = 6
"""The most columns that a sentence names."""
LOOKED_AT = 2_000
"""Rows whose figures are looked at."""
SAME_SUM = 0.02


def sentence(sheet: Sheet, numeric: Sequence[str], *, no_options: bool) -> str:
    """What the table is, what it lacks, and what would do; ``numeric`` are its columns of numbers."""
    n = sheet.table.num_rows
    rows = f"a table with {n:,} {'row' if n == 1 else 'rows'} and the columns {columns_named(sheet.names)}"
    if not no_options:
        return (
            f"it is {rows}: it has figures of options and no right answers; add a column 'label' with the right "
            "option's letter, number or name"
        )
    if figures := unnamed_figures(sheet, numeric):
        if can_be_named(sheet, numeric):
            return (
                f"it is {rows}: expected a column for each option (A, B … or p_A, p_B …) and a column 'label'; say "
                "which columns are which with --options and --label"
            )
        return (
            f"it is {rows}: it has numbers of {len(figures)} options ({columns_named(figures)}) and no right answers; "
            "add a column 'label' with the right option's letter, number or name"
        )
    question = first(sheet.names, QUESTION_NAMES)
    if question and bank_options(sheet):
        label = first(sheet.names, LABEL_NAMES)
        if label and set(map(str.lower, sheet.texts(label))) - UNANSWERED:
            return (
                "it is a question bank without a model's figures; add the probability of every option, or have a model "
                "answer its questions (`hedge run --task FILE`)"
            )
        return (
            "it is a question bank without right answers; add a column 'answer' with the right option's letter, "
            "number or text"
        )
    if question and first(sheet.names, LABEL_NAMES):
        return (
            f"it is {rows}: it has questions and answers, and neither options to choose from nor a model's figures; "
            "add a column 'options', or the probability of every option"
        )
    return (
        f"it is {rows}: it has neither questions with options nor a model's figures for options; Hedge reads tables "
        "with a column for each option (A, B … or p_A, p_B …) and a column with the right one"
    )


def columns_named(names: Sequence[str]) -> str:
    """The first columns, whole, and the number of the others."""
    quoted = ", ".join(shown(name) for name in names[:NAMED])
    return quoted + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def can_be_named(sheet: Sheet, numeric: Sequence[str]) -> bool:
    """Whether a person could name the options' columns and the right answer: at least two columns have figures, and
    another column says little enough to be an answer."""
    figures = unnamed_figures(sheet, numeric)
    return bool(figures) and any(_may_be_label(sheet, name) for name in sheet.names if name not in figures)


def unnamed_figures(sheet: Sheet, numeric: Sequence[str]) -> tuple[str, ...]:
    """The columns of numbers that may be figures of options: not counts and names, or whole numbers that have the same
    sum in each row, as votes do."""
    other = {*matching(sheet.names, ID_NAMES), *matching(sheet.names, LABEL_NAMES), *matching(sheet.names, GROUP_NAMES)}
    other |= {*matching(sheet.names, SPLIT_NAMES), *matching(sheet.names, PICK_NAMES)}
    values: dict[str, FloatArray] = {}
    part = Sheet(sheet.path, sheet.table.slice(0, LOOKED_AT), sheet.kind)
    for name in numeric:
        try:
            values[name] = part.numbers(name)
        except InputError:
            continue
    free = {name: column for name, column in values.items() if name not in other}
    broken = tuple(name for name, column in free.items() if (np.mod(column[np.isfinite(column)], 1) != 0).any())
    if len(broken) >= 2:
        return broken
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.sum(list(free.values()), axis=0) if len(free) >= 2 else np.zeros(0)
    same = (
        len(sums) > 2
        and np.isfinite(sums).all()
        and (np.abs(sums - np.median(sums)) <= SAME_SUM * abs(np.median(sums))).all()
    )
    return tuple(free) if same and np.median(sums) > 0 else ()


def _may_be_label(sheet: Sheet, name: str) -> bool:
    """Whether a column may name the right option: it has few values, which come again, or those of columns."""
    if pa.types.is_nested(sheet.table[name].type):
        return False
    values = set(sheet.texts(name)) - {""}
    few = 1 < len(values) <= min(MOST_OPTIONS, sheet.table.num_rows - 1)  # some come again
    return few or (bool(values) and values <= set(sheet.names)) or bool(matching([name], LABEL_NAMES))


def bank_options(sheet: Sheet) -> bool:
    """Whether a table has questions with options."""
    try:
        return bool(bank_shapes.parts(bank_shapes.with_header(bank_shapes.cells_of(sheet))).options.texts)
    except InputError:
        return False
