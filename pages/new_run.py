"""Launch runs, preview their prompts and cost, and watch their progress."""

import streamlit as st

from app import style
from app.caches import live_runs
from app.components.data import stored_runs
from app.components.new_run import forecast, form, launch, prompt_preview, run_list
from app.components.shared.page_head import head
from app.errors import spoken

head(
    "Run a benchmark",
    "Which model should answer which questions?",
    terms=("run", "by letter", "by text", "strategy", "shots", "precision"),
)
st.html(style.STACKED)
with st.container(key=style.STACKED_KEY):
    left, right = st.columns([4, 5], gap="medium")
busy = live_runs.current().busy  # while the form is drawn, which says how its runs stand
with left:
    combination = form.form()
with right:
    with st.container(border=True, gap="small"):
        plan = forecast.forecast(combination)
        pressed = launch.launch_button(plan)
        forecast.details(plan)
    if pressed and combination:
        with spoken():
            launch.launch(combination)
    prompt_preview.prompt_preview(combination)
    with spoken():
        run_list.undo_notice()
        run_list.run_list(was_busy=busy)
        stored_runs.run_shelf()
    run_list.agent_notice()
