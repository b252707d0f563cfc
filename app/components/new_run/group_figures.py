"""The results of a group of runs: one row per model, one column per task, with set size and accuracy in each cell."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.caches import overview_cache
from app.components.shared.caveat_notes import footnote_caption
from app.formatting import plain
from core.reports.caveats import marked
from core.reports.titles import differences, model_titles, record_task_title
from core.runs.caveats import COLUMN
from core.runs.store import RunRecord

ALPHA = 100
MOST_RUNS = 60
"""Reading a run's figures for the first time takes some tenths of a second."""


def group_figures(records: Sequence[RunRecord]) -> None:
    """Show the table of finished runs that answered questions. A group of too many runs has none."""
    if not records or len(records) > MOST_RUNS:
        return
    table, problems = overview_cache.overview(records, ALPHA)
    for problem in problems:
        st.warning(plain(problem))
    found = {row["run"]: row for row in table.to_dict("records")} if not table.empty else {}
    models = model_titles({record.run_id: record.spec for record in records})
    settings = {record.run_id: differences(record.spec) for record in records}
    shared = set.intersection(*map(set, settings.values()))  # not repeated in every row
    rows: dict[str, dict[str, str]] = {}
    caveats = []
    for record in records:
        if record.run_id in found:
            figures = found[record.run_id]
            own = [setting for setting in settings[record.run_id] if setting not in shared]
            asked = " · ".join([models[record.run_id], *own])
            said = f"{figures['lac_set_size']:.2f} ({figures['accuracy']:.0%})"
            task = record_task_title(record)
            rows.setdefault(asked, {"Model": asked})[task] = marked(said, figures[COLUMN])
            caveats.append((f"{asked} · {task}", figures[COLUMN]))
    if rows:
        st.dataframe(list(rows.values()), hide_index=True, height="auto")
        st.caption("Mean size of the LAC sets at alpha 0.1, and in brackets the accuracy.")
        footnote_caption(caveats)
