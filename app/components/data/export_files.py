"""Export runs: their questions, their figures, tables for a paper, and a report that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import navigation
from app.caches import export_cache, run_cache
from app.components.shared import export_forms
from app.components.shared.export import MOST_RUNS
from app.components.shared.runs import choices
from app.formatting import counted
from app.showcase import default_run
from app.state.data import DataView
from core.exchange import writing
from core.exchange.run_table import runs_table
from core.reports.compare import benchmark
from core.reports.compare.benchmark import SetRule
from core.reports.figure_names import RUN_FIGURES
from core.reports.report import shown_with

RUNS_KEY = "take_runs"


def section(view: DataView) -> None:
    """Show a choice of runs, and one button per format. A file is made when its button is pressed."""
    records = run_cache.runs().finished
    found = choices(records)
    if not found:
        st.caption("There is no finished run to export yet.")
        navigation.link(navigation.NEW_RUN, "Launch the first run")
        return
    chosen = st.multiselect(
        "Runs",
        list(found),
        [default_run(records).run_id],
        format_func=found.__getitem__,
        max_selections=MOST_RUNS,
        key=RUNS_KEY,
    )
    if not chosen:
        st.caption("Choose at least one run.")
        return
    rule = SetRule(view.alpha, shown_with(view.score), "exact", view.empty)
    st.caption(f"{counted(len(chosen), 'run')}, with sets at alpha {view.alpha / 1000:.3f}.")
    called = export_forms.called_by_runs(chosen, rule)
    st.markdown("**Questions with logits (can be imported again)**")
    with st.container(horizontal=True, gap="small"):
        for label, ending in (("CSV", "csv"), ("Parquet", "parquet"), ("JSON lines", "jsonl")):
            make = partial(_questions, chosen, ending)
            export_forms.button(label, called("questions", ending), make, key=ending)
        export_forms.button(
            "Results, summary, configuration",
            called("benchmark", "zip"),
            lambda: _benchmark(chosen, rule),
            key="benchmark",
        )
    export_forms.runs_exports(chosen, rule, list(RUN_FIGURES), key="data")


def _questions(names: Sequence[str], ending: str) -> bytes:
    return writing.ONE_TABLE[ending](runs_table(names))


def _benchmark(names: Sequence[str], rule: SetRule) -> bytes:
    runs = export_cache.evaluations(names)
    results = benchmark.results_json(runs, benchmark.reports(runs, rule))
    parts = {
        "results.json": results,
        "summary.json": benchmark.summary_json(results),
        "config.json": benchmark.config_json(runs, rule),
    }
    return export_forms.zipped({name: json.dumps(value, indent=1).encode() for name, value in parts.items()})
