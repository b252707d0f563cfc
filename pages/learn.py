"""A lesson in conformal prediction whose figures are alive."""

import streamlit as st

from app import data, state
from app.components import lesson
from app.components.runs import pick_run
from core.reports.lesson import load

view = state.view("run", "step")
told = load()
lesson.head(told, view)
record = pick_run(view, "A lesson with live figures")
if record and data.ragged(record.run_id):
    st.info("A lesson's figures need a run whose questions all have as many options. Choose another run above.")
elif record:
    lesson.step(told, view, record)
