"""The Alpha lab outside Streamlit, in a report's file or in a notebook: its scripts, its look, and its data as JSON.

The scripts are files under ``app/components``, read as they are: nothing here imports the app.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from charts.scripts import COMPONENTS, LIVE_CSS
from charts.theme import theme_colors
from core.conformal.scores.table import score_table

LAB = COMPONENTS / "alpha_lab"
SCRIPT = LAB / "outside.js"
"""Its ``openLab`` shows the lab on any element of a page."""
NOTEBOOK_SCRIPT = LAB / "notebook.js"
"""The lab as an anywidget."""
START: dict[str, Any] = {
    "alpha": 100,
    "left": "lac",
    "right": "aps",
    "empty": "allow",
    "by": "all",
    "extra": "keep",
    "n": 0,
    "split": "",
    "show": "all",
    "on": "left",
    "subject": "",
    "search": "",
    "list": "cards",
    "row": 1,
}
"""What the lab shows at first, as the app's own view of it does (tests/charts/test_static_report.py)."""


def page() -> str:
    """The lab's HTML, for ``openLab``."""
    return (LAB / "alpha_lab.html").read_text(encoding="utf-8")


def css() -> str:
    """The lab's stylesheet, for ``openLab``."""
    return LIVE_CSS.read_text(encoding="utf-8")


def data(tables: Mapping[str, Any], *, version: str, name: str, file_stem: str, **view: Any) -> dict[str, Any]:
    """What ``openLab`` shows, as JSON values, from :func:`core.reports.frames.lab_tables`.

    ``version`` identifies the data, ``name`` is the run's title and ``file_stem`` begins the names of saved figures;
    ``view`` has what differs from :data:`START`, with alpha in thousandths.
    """
    return {
        **{key: _columns(value) if isinstance(value, pa.Table) else value for key, value in tables.items()},
        "version": version,
        "name": name,
        "fileStem": file_stem,
        "scores": score_table(),
        "view": START | view,
        "revision": 0,
    }


def _columns(table: pa.Table) -> dict[str, Any]:
    """A table as JSON values: numbers as base64 of little-endian arrays, texts as lists."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            kind = {"double": "Float64", "int32": "Int32", "uint8": "Uint8"}[str(column.type)]
            values = np.ascontiguousarray(column.to_numpy())
            columns[name] = {"kind": kind, "values": base64.b64encode(values.tobytes()).decode()}
        else:
            columns[name] = {"kind": "text", "values": column.to_pylist()}
    return {"rows": table.num_rows, "columns": columns}


def theme(name: str) -> dict[str, str]:
    """The style variables that the lab reads, in the theme ``light`` or ``dark``."""
    look = theme_colors(name)
    return {
        "--st-background-color": look.background,
        "--st-secondary-background-color": look.second,
        "--st-text-color": look.text,
        "--st-border-color": look.border,
        "--st-chart-categorical-colors": ",".join(look.colors),
        "--st-font": look.font,
        "--st-heading-font": look.font,
        "--st-code-font": "ui-monospace, monospace",
        "--st-base-font-size": "15px",
        "--st-base-radius": "6px",
        "--st-button-radius": "6px",
    }
