"""Export runs: their questions, their figures, tables for a paper, and a report that needs no network."""

import json
from collections.abc import Sequence
from functools import partial

import streamlit as st

from app.caches import export_cache, run_cache
from app.components.shared import controls
from app.components.shared.caveat_notes import caveat_notes
from app.components.shared.downloads import about
from app.components.shared.paper import button, zipped
from app.components.shared.run_paper import runs_paper
from app.components.shared.run_picker import pick_runs
from app.formatting import counted
from app.state.data import MOST_EXPORTED, DataView
from core.exchange import writing
from core.exchange.run_table import runs_table
from core.reports import exports
from core.reports.compare import benchmark
from core.reports.compare.benchmark import SetRule
from core.reports.figure_names import RUN_FIGURES
from core.reports.report import shown_with


def section(view: DataView) -> None:
    """Show a choice of runs, and one button per format. A file is made when its button is pressed."""
    chosen = pick_runs(view, "Files of runs", first=1, most=MOST_EXPORTED)
    if not chosen:
        return
    records = [run_cache.record(run_id) for run_id in chosen]
    view = controls.with_offered_scores(view, records, "score")
    caveat_notes(records)
    rule = SetRule(view.alpha, shown_with(view.score), "exact", view.empty)
    st.caption(f"{counted(len(chosen), 'run')}, with sets at alpha {view.alpha / 1000:g}.")
    called = about(chosen, view.alpha).file_name
    st.markdown("**Questions with logits (can be imported again)**")
    with st.container(horizontal=True, gap="small"):
        for label, ending in (("CSV", "csv"), ("Parquet", "parquet"), ("JSON lines", "jsonl")):
            make = partial(_questions, chosen, ending)
            button(label, called("questions", ending), make, key=ending)
        button(
            "Results, summary, configuration",
            called("benchmark", "zip"),
            lambda: _benchmark(chosen, rule),
            key="benchmark",
        )
        button(
            "Workbook (XLSX)",
            called("sets", "xlsx"),
            lambda: exports.xlsx(export_cache.evaluations(chosen), rule),
            key="data_xlsx",
        )
        button("Report (works offline)", called("report", "html"), lambda: _report(chosen, rule), key="data_report")
    runs_paper("data", chosen, rule, list(RUN_FIGURES))


def _report(names: Sequence[str], rule: SetRule) -> bytes:
    from charts.static_report import report_html  # imports the chart libraries

    return report_html(export_cache.evaluations(names), rule)


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
    return zipped({name: json.dumps(value, indent=1).encode() for name, value in parts.items()})
