"""The Overview's runs on servers that did not list all letters: each figure lies between two ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.caches import bounded_cache
from app.components.overview import filters
from app.components.shared.runs import open_run
from app.formatting import counted, plain, sentence
from app.state.overview import OverviewView
from core.conformal.scores import SCORES
from core.errors import HedgeError
from core.reports.bounded import Ends
from core.reports.titles import differences, record_task_title
from core.runs.store import RunRecord

SHOWN = 50
OPENED_KEY = "opened_ranges"


def ranges_table(records: Sequence[RunRecord], others: Sequence[RunRecord], view: OverviewView) -> None:
    """Show the runs that the filters keep; ``others`` are the runs with exact figures, which decide the defaults."""
    active = filters.active_filter(view, [*records, *others])
    kept = [record for record in records if active.keeps(record)][:SHOWN]
    rows, shown = [], []
    for record in kept:
        try:
            rows.append(_row(record, view.alpha))
            shown.append(record.run_id)
        except HedgeError as error:
            st.warning(plain(sentence(str(error))))
    if not rows:
        return
    st.subheader("Known as ranges", anchor=False)
    st.caption(
        f"The {'server' if len(rows) == 1 else 'servers'} of {counted(len(rows), 'run')} did not list all letters. So "
        "each figure lies between two ends, which are no intervals of chance."
    )
    st.dataframe(
        rows,
        hide_index=True,
        column_config={"Model": _open_column(shown), **_COLUMNS},
        alt="Runs on servers with both ends of each figure",
    )


def _open_column(run_ids: list[str]) -> Any:
    return st.column_config.ButtonColumn(
        "Model",
        width=150,
        pinned=True,
        alignment="left",
        type="tertiary",
        key=OPENED_KEY,
        on_click=_open,
        args=(run_ids,),
    )


def _open(run_ids: list[str]) -> None:
    open_run(run_ids[st.session_state[OPENED_KEY].row])


def _row(record: RunRecord, alpha: int) -> dict[str, Any]:
    report = bounded_cache.bounded_report(record.run_id, alpha)
    row: dict[str, Any] = {
        "Model": record.spec.model_name,
        "Task": record_task_title(record),
        "Settings": " · ".join(differences(record.spec)),
        "Accuracy": _shares(report.accuracy),
    }
    for name, of in report.scores.items():
        words = SCORES[name].title
        row |= {
            f"{words} coverage": _shares(of.coverage),
            f"{words} size": _sizes(of.mean_set_size),
            f"{words} known exactly": of.exact_share,
        }
    return row | {"Test questions": report.n_test}


_COLUMNS: dict[str, Any] = {
    "Task": st.column_config.TextColumn(width=170),
    "Settings": st.column_config.TextColumn(width=220, help="What is not at its default."),
    **{
        f"{SCORES[name].title} known exactly": st.column_config.NumberColumn(
            format="percent", help="The share of test questions whose set does not depend on what the server left out."
        )
        for name in ("lac", "aps")
    },
    "Test questions": st.column_config.NumberColumn(format="localized"),
}


def _shares(ends: Ends) -> str:
    low, high = (f"{100 * end:.1f}" for end in ends)
    return f"{low}%" if low == high else f"{low}–{high}%"


def _sizes(ends: Ends) -> str:
    low, high = (f"{end:.2f}" for end in ends)
    return low if low == high else f"{low}–{high}"
