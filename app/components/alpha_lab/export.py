"""Export the Alpha lab's view: as a link, as a table, and as NumPy code that forms the same sets."""

from __future__ import annotations

import io
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from app.caches import alpha_lab_cache
from app.caches.alpha_lab_cache import SetOptions
from core.conformal.scores import SCORES
from core.reports.alpha_lab.numpy_recipe import numpy_recipe
from core.reports.alpha_lab.sets_table import sets_table
from core.runs.store import RunRecord

OPEN_KEY = "files_open"
KINDS = {".csv": "CSV", ".parquet": "Parquet"}
TITLE = "Export: link, table, NumPy code"


def section(record: RunRecord, sets: SetOptions) -> None:
    """Show what can be copied and saved of the view. Computes nothing while folded."""
    with st.expander(TITLE, key=OPEN_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        st.caption("This link opens the same view again, also in another browser, as long as the run exists there.")
        st.code(_link(), language=None, wrap_lines=True)
        st.caption(
            "The table has one row for each question, with its probabilities, its part in the split, and its set "
            "by each of the two scores. The links above each figure save it as SVG or PNG."
        )
        name = f"{record.run_id}-alpha-{sets.alpha:03d}"
        left, right, _ = st.columns([1, 1, 2])
        left.download_button(
            "Table as CSV",
            data=lambda: _table(record, sets).to_csv(index=False).encode(),
            file_name=f"{name}.csv",
            mime="text/csv",
            on_click="ignore",
            width="stretch",
        )
        right.download_button(
            "Table as Parquet",
            data=lambda: _parquet(_table(record, sets)),
            file_name=f"{name}.parquet",
            mime="application/vnd.apache.parquet",
            on_click="ignore",
            width="stretch",
        )
        _recipe(record, sets, name)


def _recipe(record: RunRecord, sets: SetOptions, name: str) -> None:
    """Show the code for one of the two scores and one of the two files, with a button to copy it."""
    left, right, _ = st.columns([1, 1, 2])
    with left:
        score = st.segmented_control(
            "Score",
            sets.scores,
            format_func=lambda of: SCORES[of].title,
            default=sets.scores[0],
            required=True,
            wrap=True,
        )
    with right:
        ending = st.segmented_control(
            "From", list(KINDS), format_func=KINDS.__getitem__, default=".csv", required=True, wrap=True
        )
    st.caption(
        "Save the table first. These lines, run in the same folder, print the threshold, coverage and mean "
        "set size shown above."
    )
    run = alpha_lab_cache.evaluation_of_split(record.run_id, sets.split)
    st.code(numpy_recipe(run, score, sets.alpha, file=name + ending, empty=sets.empty, by=sets.by), wrap_lines=True)


def _table(record: RunRecord, sets: SetOptions) -> pd.DataFrame:
    run = alpha_lab_cache.evaluation_of_split(record.run_id, sets.split)
    return sets_table(run, sets.alpha, scores=sets.scores, empty=sets.empty, by=sets.by)


def _parquet(table: pd.DataFrame) -> bytes:
    into = io.BytesIO()
    table.to_parquet(into, index=False)
    return into.getvalue()


def _link() -> str:
    address = (st.context.url or "").split("?")[0]
    return f"{address}?{urlencode(st.query_params.to_dict())}"
