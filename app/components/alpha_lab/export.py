"""Export the Alpha lab's view: as a link, as figures, as a table, and as NumPy code that forms the same sets."""

import io
from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from app.caches import alpha_lab_cache
from app.caches.alpha_lab_cache import SetOptions
from core.conformal.scores import SCORES
from core.reports.alpha_lab.numpy_recipe import numpy_recipe
from core.reports.alpha_lab.sets_table import sets_table
from core.reports.compare.benchmark import SetRule
from core.reports.figure_names import RUN_FIGURES
from core.runs.store import RunRecord

OPEN_KEY = "files_open"
KINDS = {"csv": "CSV", "parquet": "Parquet"}
FIGURES = ("coverage-by-alpha", "set-size-by-alpha", "sets-by-size", "reliability", "risk-coverage")
TITLE = "Export: link, figures, table, NumPy code"


def section(record: RunRecord, sets: SetOptions) -> None:
    """Show what can be copied and saved of the view. Computes nothing while folded."""
    with st.expander(TITLE, key=OPEN_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        st.caption("This link opens the same view again, also in another browser, as long as the run exists there.")
        st.code(_link(), language=None, wrap_lines=True)
        _files(record, sets)


def _files(record: RunRecord, sets: SetOptions) -> None:
    """The figures of the left score in the view's split, the table, and the code that reads the table."""
    from app.components.shared import export_forms  # imports the chart libraries, which the page itself does not need
    from charts.figure_files import figures

    called = export_forms.called_by_runs([record.run_id], set_rule(sets))
    export_forms.figure_part(
        {name: RUN_FIGURES[name] for name in FIGURES},
        lambda name, style: figures(
            [name], [alpha_lab_cache.evaluation_of_split(record.run_id, sets.split)], set_rule(sets), style
        ),
        called,
        key="lab",
    )
    if sets.by != "all":
        st.caption("These figures have one threshold for all questions.")
    st.markdown("**Table and code**")
    st.caption(
        "The table has one row for each question, with its probabilities, its part in the split, and its set by each "
        "of the two scores."
    )
    with st.container(horizontal=True, gap="small"):
        for ending, title in KINDS.items():
            make = partial(_table_file, record, sets, ending)
            export_forms.button(f"Table as {title}", called("sets", ending), make, key=f"lab_table_{ending}")
    _recipe(record, sets, {ending: called("sets", ending) for ending in KINDS})


def set_rule(sets: SetOptions) -> SetRule:
    """The rule by which the view forms its sets, except for separate thresholds of subjects or letters."""
    return SetRule(sets.alpha, sets.scores, "exact", sets.empty)


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
        return table.to_csv(index=False).encode()
    into = io.BytesIO()
    table.to_parquet(into, index=False)
    return into.getvalue()


def _link() -> str:
    address = (st.context.url or "").split("?")[0]
    return f"{address}?{urlencode(st.query_params.to_dict())}"
