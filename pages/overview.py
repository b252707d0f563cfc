"""Every finished run at one alpha: is the more accurate model also the surer one?"""

import streamlit as st

from app import navigation, state
from app.caches import overview_cache, run_cache
from app.components.overview import published_tables, run_table
from app.components.shared import controls, figures
from app.components.shared.runs import no_runs_yet
from app.formatting import counted, plain
from app.state.overview import OverviewView
from charts.accuracy_and_set_size import accuracy_against_size

st.title("Which models know when they don't know?", anchor=False)
view = state.view(OverviewView)
runs = run_cache.runs()
table, problems = overview_cache.overview(runs, view.alpha, view.score)

if table.empty:
    no_runs_yet("Accuracy, coverage and set size of every run")
else:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        controls.alpha_slider(view)
    with right:
        controls.score_choice(view)
    figures.show(
        accuracy_against_size(table, view.score),
        "Of two models that are right equally often on the same questions, the one further down keeps the same promise "
        "with fewer answers. Marks of other shapes stand for other questions.",
    )
    published_tables.alike_models(table, view.score)
    st.subheader(counted(len(table), "finished run"), anchor=False)
    st.caption("A click on a model, or Shift and space on its row, opens the run in the Alpha lab.")
    run_table.finished_runs(table, view.score)
    run_table.ties(table)
    figures.download("Download the table as CSV", table, f"overview-alpha-{view.alpha:03d}")

with st.expander("Published figures beside these", key="published_open", on_change="rerun") as folded:
    if folded.open:
        published_tables.published_tables(table, view.score)

if runs.unfinished:
    st.subheader("Not finished", anchor=False)
    st.caption("Coverage is never shown of a run that has not ended well.")
    run_table.unfinished_runs(runs.unfinished)
    navigation.link(navigation.NEW_RUN, "Watch, cancel or resume them")
for problem in (*runs.problems, *problems):
    st.warning(plain(problem))
