"""Compare ways of asking at the same coverage: letters against texts, by the number of examples and the strategy."""

import streamlit as st

from app import state
from app.caches import run_cache
from app.components.prompting import by_shots, experiment, launch, letters, paper, two_methods
from app.components.shared import controls
from app.components.shared.page_head import head
from app.components.shared.without_answer import runs_without_answer
from app.errors import spoken
from app.state.prompting import PromptingView
from core import access
from core.access import UserRole

head(
    "Prompting",
    "Which way of asking makes a model more certain?",
    terms=("by letter", "by text", "shots", "coverage", "set size"),
)
view = state.view(PromptingView)
with spoken():
    chosen = experiment.linked_experiment(view)
    if chosen:
        view = controls.with_offered_scores(view, chosen.records, "score")
        shown = by_shots.overview(chosen, view)
        two_methods.two_ways(chosen, shown, view)
        title = "Invalid answers, other option orders, written answers"
        with st.expander(title, on_change="rerun", key="prompting_letters_open") as folded:
            if folded.open:
                letters.letters(chosen.letters, view)
        if shown:
            paper.prompting_paper(shown, view)
runs_without_answer(run_cache.runs().without_answer)
if access.may(UserRole.LAUNCHER):
    folded = st.expander("Launch an experiment", expanded=not chosen, on_change="rerun", key="prompting_launch_open")
    with folded, spoken():
        if folded.open:
            launch.section(chosen)
