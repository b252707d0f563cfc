"""Compare runs side by side: which is more certain, and is the difference more than chance?"""

import streamlit as st

from app import state
from app.caches import run_cache
from app.components.compare import abstention, all_runs, compare_cache, pairs, published_claims
from app.components.shared import controls, run_paper
from app.components.shared.page_head import head
from app.components.shared.run_picker import pick_runs
from app.state.compare import CompareView
from core.reports.figure_names import RUN_FIGURES

head(
    "Compare runs",
    "Which run is more certain, and is the difference more than chance?",
    terms=("run", "accuracy", "coverage", "set size", "uacc", "beyond chance"),
)
view = state.view(CompareView)
chosen = pick_runs(view, "Runs side by side", first=2, also=(view.first, view.second))

if chosen:
    view = controls.with_offered_scores(view, [run_cache.record(run_id) for run_id in chosen], "score")
    rule = all_runs.set_rule(view)
    rows = compare_cache.compared(chosen, rule)
    if pairs.pairs(chosen, rows, view):
        with st.expander("Set sizes in detail", on_change="rerun", key="shapes_open") as shapes:
            if shapes.open:
                all_runs.shapes(rows, chosen, view)
        with st.expander("Precision, strategy, shots", on_change="rerun", key="contrasts_open") as contrasts:
            if contrasts.open:
                all_runs.contrasts(rows, view)
        with st.expander(
            "Answering only when certain: risk, coverage, cost", on_change="rerun", key="abstaining_open"
        ) as abstaining:
            if abstaining.open:
                abstention.abstaining(chosen, rows, view)
        published_claims.published_claims(chosen, rule, view)
        matrix = pairs.matrix_of(chosen, view)
        run_paper.runs_paper("compare", chosen, rule, list(RUN_FIGURES), rows=rows, matrix=matrix)
