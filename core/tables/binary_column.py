"""A binary classifier's one column, the probability of one class, as two columns."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa

from core.errors import InputError
from core.tables.field_names import CLASS_LABEL_NAMES, LABEL_NAMES, first
from core.tables.tabular import Sheet

SECOND = re.compile(
    r"(?:y[_ ]?)?(?:p|pr|prob|proba|probability|(?<=y_)score|(?<=y)score)[_ ]?(?:1|pos|positive|true|yes)?",
    re.IGNORECASE,
)
"""Names of a column with the probability of class 1."""
OF_CLASS = re.compile(r"(?:p|pr|prob|proba|probability)[_ .-](?P<name>.+)", re.IGNORECASE)
FIRST_AND_SECOND = {"0", "1", "0.0", "1.0", "true", "false"}


def both_classes(sheet: Sheet) -> Sheet:
    """The sheet with a column for each of two classes, if it has the probability of one class alone; else the same. The
    label says 0 or 1, true or false, or one of two names, and the column's own name has one of these."""
    label = first(sheet.names, (*LABEL_NAMES, *CLASS_LABEL_NAMES))
    named = [name for name in sheet.names if SECOND.fullmatch(name.strip()) or OF_CLASS.fullmatch(name.strip())]
    if not label or len(named) != 1 or label == named[0]:
        return sheet
    (name,) = named
    words = re.escape(re.sub(r"[_ ]?\d*$", "", name.strip()))
    if any(
        re.fullmatch(rf"{words}[_ .-]?(?:\d+|[A-Z])", other.strip(), re.I) for other in sheet.names if other != name
    ):
        return sheet  # it is one of several options
    cells = set(sheet.texts(label))
    if SECOND.fullmatch(name.strip()) and {cell.lower() for cell in cells} <= FIRST_AND_SECOND:
        columns = ("p_0", "p_1")
    elif (of_class := OF_CLASS.fullmatch(name.strip())) and of_class["name"] in cells and len(cells) == 2:
        columns = (f"p_{next(iter(cells - {of_class['name']}))}", f"p_{of_class['name']}")
    else:
        return sheet
    try:
        second = sheet.numbers(name)
    except InputError:
        return sheet
    if not ((second >= 0) & (second <= 1)).all() or set(columns) & (set(sheet.names) - {name}):
        return sheet
    table: dict[str, pa.Array] = {}
    for other in sheet.names:
        if other == name:
            table |= {columns[0]: pa.array(np.round(1 - second, 15)), columns[1]: pa.array(second)}
        else:
            table[other] = sheet.table[other]
    return replace(sheet, table=pa.table(table))
