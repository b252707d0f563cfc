"""Overview: what Hedge is, three ways in, and which model hedges well."""

import streamlit as st

from app import navigation, state
from app.caches import run_cache
from app.components.overview import answer, ranges_table, run_table, ways_in
from app.components.shared import controls
from app.components.shared.runs import no_runs_yet
from app.components.shared.without_answer import runs_without_answer
from app.formatting import plain
from app.glossary import hint
from app.showcase import default_run
from app.state.overview import OverviewView

st.title("Hedge shows how sure a language model really is", anchor=False)
st.markdown(
    "It gives a set of answers instead of a single one. You choose how often the set may miss the truth. The more "
    "certain a model is, the smaller its sets.",
    help=hint("prediction set", "truth", "alpha", "set size", "accuracy", "coverage"),
)
view = state.view(OverviewView)
runs = run_cache.runs()
shown = None

if runs.finished:
    view = controls.with_offered_scores(view, runs.finished, "score")
    showcase = default_run(runs.finished)
    ways_in.ways_in(showcase, runs.finished, view)
    shown = answer.answer(showcase, runs.finished, view)
if runs.ranges:
    ranges_table.ranges_table(runs.ranges, runs.finished, view)
if shown:
    ways_in.ways_on(showcase, shown.table, view)
elif not runs.ranges:
    no_runs_yet("The set sizes of every model on every task")

runs_without_answer(runs.without_answer)
if runs.unfinished:
    st.subheader("Not finished", anchor=False)
    st.caption("A run's coverage is shown once the run has ended successfully.")
    run_table.unfinished_runs(runs.unfinished)
    navigation.link(navigation.NEW_RUN, "Watch, cancel or resume these runs")
for problem in shown.problems if shown else ():
    st.warning(plain(problem))
