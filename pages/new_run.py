"""Launch runs or the making of a jury, preview their prompts and cost, and watch their progress."""

import streamlit as st

from app import state
from app.components.data import stored_runs
from app.components.jury import make_jury
from app.components.new_run import forecast, form, launch, prompt_preview, run_list
from app.errors import spoken

st.title("Run a benchmark", anchor=False)
state.no_view()
left, right = st.columns([4, 5], gap="medium")
with left:
    combination = form.form()
    if launch.launch_button(forecast.forecast(combination)) and combination:
        with spoken():
            launch.launch(combination)
    prompt_preview.prompt_preview(combination)
    make_jury.section()
with right:
    with spoken():
        run_list.undo_notice()
        run_list.run_list()
        stored_runs.run_shelf()
    run_list.agent_notice()
