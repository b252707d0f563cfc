"""The Alpha lab's view as a table with a row for each question, and NumPy code that forms the same sets from it."""

import io
from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from app.caches import alpha_lab_cache
from app.caches.alpha_lab_cache import SetOptions
from app.components.shared.downloads import about
from app.components.shared.paper import button
from core.conformal.scores import SCORES
from core.exchange.writing import frame_to_csv
from core.reports.alpha_lab.numpy_recipe import numpy_recipe
from core.reports.alpha_lab.sets_table import sets_table
from core.runs.store import RunRecord

OPEN_KEY = "files_open"
KINDS = {"csv": "CSV", "parquet": "Parquet"}
TITLE = "NumPy code that forms these sets"


def section(record: RunRecord, sets: SetOptions) -> None:
    """Show the table and the code that reads it. Computes nothing while folded."""
    with st.expander(TITLE, key=OPEN_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        st.caption(
            "The table has one row for each question, with its probabilities, its part in the split, and its set by "
            "each of the two scores."
        )
        name = partial(about([record.run_id], sets.alpha).file_name, "sets")
        with st.container(horizontal=True, gap="small"):
            for ending, title in KINDS.items():
                make = partial(_table_file, record, sets, ending)
                button(f"Table as {title}", name(ending), make, key=f"lab_table_{ending}")
        _recipe(record, sets, {ending: name(ending) for ending in KINDS})


def _recipe(record: RunRecord, sets: SetOptions, names: Mapping[str, str]) -> None:
    """Show the code for one of the two scores and one of the two files, with a button to copy it. ``names`` are the
    files' names by their endings.
    """
    left, right, _ = st.columns([1, 1, 2])
    with left:
        score = st.segmented_control(
            "Score",
            sets.scores,
            format_func=lambda name: SCORES[name].title,
            default=sets.scores[0],
            required=True,
            wrap=True,
        )
    with right:
        ending = st.segmented_control(
            "From", list(KINDS), format_func=KINDS.__getitem__, default="csv", required=True, wrap=True
        )
    st.caption(
        "Save the table first. These lines, run in the same folder, print the threshold, coverage and mean "
        "set size shown above."
    )
    run = alpha_lab_cache.evaluation_of_split(record.run_id, sets.split)
    st.code(numpy_recipe(run, score, sets.alpha, file=names[ending], empty=sets.empty, by=sets.by), wrap_lines=True)


def _table(record: RunRecord, sets: SetOptions) -> pd.DataFrame:
    run = alpha_lab_cache.evaluation_of_split(record.run_id, sets.split)
    return sets_table(run, sets.alpha, scores=sets.scores, empty=sets.empty, by=sets.by)


def _table_file(record: RunRecord, sets: SetOptions, ending: str) -> bytes:
    table = _table(record, sets)
    if ending == "csv":
        return frame_to_csv(table)
    into = io.BytesIO()
    table.to_parquet(into, index=False)
    return into.getvalue()
