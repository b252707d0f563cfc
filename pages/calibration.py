"""How far a run's confidence can be trusted, and what a temperature does to it."""

import streamlit as st

from app import state
from app.components.calibration import sections
from app.components.compare import sections as compare
from app.state.calibration import CalibrationView

st.title("When a model says 80 %, is it right 80 % of the time?", anchor=False)
view = state.view(CalibrationView)
chosen = compare.choose(view, "Reliability diagrams", first=2)

if chosen:
    sections.choices(view)
    found = sections.found_of(chosen, view)
    if found:
        sections.diagrams(found)
        sections.table(found)
        sections.questions(found, view)
    sections.temperature(chosen, view)
    sections.every_alpha(chosen)
