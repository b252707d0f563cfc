"""The Alpha lab of a run whose server did not list all letters: every figure lies between two ends."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from app import navigation
from app.caches import bounded_cache, run_cache
from app.components.shared import ranges
from app.components.shared.figures import about, download
from app.state.alpha_lab import AlphaLabView
from core.conformal.scores import SCORES
from core.reports.bounded import report_frame
from core.runs.store import RunRecord

LEFT_OUT = (
    "Ranges are shown for LAC and APS, with one threshold for all questions and the run's own split. Redrawing the "
    "split, the shift between subjects, calibration and comparisons need every letter's probability. A server that "
    "lists more tokens, or scores a text that it was sent, gives it."
)


def bounded_lab(record: RunRecord, view: AlphaLabView) -> None:
    """Show coverage, set size and the share of sets that are known exactly, at every alpha."""
    run = record.run_id
    ranges.lab_ranges(
        bounded_cache.bounded_run(run), bounded_cache.curves(run), version=run_cache.version(run), view=view
    )
    navigation.link(navigation.ONE_QUESTION, "See single questions of this run", run=run)
    st.caption(LEFT_OUT)
    with st.expander("The figures at this alpha"):
        frame = report_frame(bounded_cache.bounded_report(run, view.alpha))
        _table(frame)
        download("Download these ranges as CSV", frame, "ranges", about([run], view.alpha))


def _table(frame: pd.DataFrame) -> None:
    shown = frame.assign(score=[SCORES[name].title for name in frame["score"]])
    st.dataframe(shown, hide_index=True, height="content", column_config=_COLUMNS, alt="Both ends of each figure")


_COLUMNS: dict[str, Any] = {
    "score": "Score",
    "exact_share": st.column_config.NumberColumn("Known exactly", format="percent"),
    **{
        f"{figure}_{end}": st.column_config.NumberColumn(f"{title}, {words}", format=format)
        for figure, title, format in (
            ("accuracy", "Accuracy", "percent"),
            ("coverage", "Coverage", "percent"),
            ("set_size", "Set size", "%.2f"),
            ("threshold", "Threshold", "%.4f"),
        )
        for end, words in (("low", "at least"), ("high", "at most"))
    },
}
