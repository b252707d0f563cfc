"""The Alpha lab outside Streamlit, in a report's file or in a notebook: its scripts, its look, and its data as JSON.

Embeds (:mod:`charts.embed`) show other components in the same way.

The scripts are bundles of files under ``app/components``: nothing here imports the app.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from charts.bundles import COMPONENTS, style
from charts.palette import theme_colors
from core.conformal.scores.table import score_table

WHOLE = (np.uint8, np.uint16, np.int32)
"""The kinds of whole numbers, the smallest first."""
THEMES = ("auto", "light", "dark")
"""The themes of a page: that of the reader's browser, or always the same."""
START: dict[str, Any] = {
    "present": "0",
    "shown": "page",
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
"""The first view of the lab, the same as in the app (tests/charts/test_static_report.py)."""


def page() -> str:
    """The lab's HTML, for ``openLab``."""
    return (COMPONENTS / "alpha_lab" / "alpha_lab.html").read_text(encoding="utf-8")


def css() -> str:
    """The lab's stylesheet, for ``openLab``."""
    return style("alpha_lab_embed")


def data(tables: Mapping[str, Any], *, version: str, name: str, caveats: str = "", **view: Any) -> dict[str, Any]:
    """The data that ``openLab`` shows, as JSON values, from :func:`core.reports.frames.lab_tables`.

    ``version`` identifies the data, ``name`` is the run's title, and the lab ends with the ``caveats``; ``view`` has
    what differs from :data:`START`, with alpha in thousandths.
    """
    return {
        **json_values(tables),
        "version": version,
        "name": name,
        "caveats": caveats,
        "scores": score_table(ordered=tables["ordered"]),
        "view": START | view,
        "revision": 0,
        "outside": True,  # no presenter view, whose keys a notebook or a slide needs for itself
    }


def json_values(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a component as JSON values, with its tables as ``app/components/shared/outside.js`` reads them."""
    return {key: _columns(value) if isinstance(value, pa.Table) else value for key, value in data.items()}


def _columns(table: pa.Table) -> dict[str, Any]:
    """A table as JSON values: numbers as base64 of little-endian arrays, texts as lists."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            values = _narrow(np.ascontiguousarray(column.to_numpy()))
            packed = base64.b64encode(values.tobytes()).decode()
            columns[name] = {"kind": values.dtype.name.capitalize(), "values": packed}
        else:
            columns[name] = {"kind": "text", "values": column.to_pylist()}
    return {"rows": table.num_rows, "columns": columns}


def _narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers in the smallest kind that holds all of them; others as they are."""
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    low, high = (values.min(), values.max()) if values.size else (0, 0)
    fitting = next(kind for kind in WHOLE if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return values.astype(fitting, copy=False)


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


def themes_css(theme_name: str = "auto") -> str:
    """The style of a page in one of :data:`THEMES`. On paper, ``auto`` is light."""
    if theme_name != "auto":
        return f":root{{color-scheme:{theme_name};{_variables(theme_name)}}}"
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{_variables('dark')}}}}}"
    return f":root{{color-scheme:light dark;{_variables('light')}}}{dark}"


def _variables(name: str) -> str:
    return ";".join(f"{key}:{value}" for key, value in theme(name).items())
