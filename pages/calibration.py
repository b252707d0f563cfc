"""How far a run's confidence can be trusted, and what a temperature does to it."""

import streamlit as st

from app import state
from app.components import calibration, comparison

st.title("When a model says 80 %, is it right 80 % of the time?", anchor=False)
view = state.view("runs", *state.OF_CALIBRATION, "alpha")
chosen = comparison.choose(view, "Reliability diagrams", first=2)

if chosen:
    calibration.choices(view)
    found = calibration.found_of(chosen, view)
    if found:
        calibration.diagrams(found)
        calibration.table(found)
        calibration.questions(found, view)
    calibration.temperature(chosen, view)
    calibration.every_alpha(chosen)
