"""What this machine can run, and what each finding means for a run."""

import streamlit as st

from app import state
from app.components.doctor import findings
from app.errors import spoken

st.title("What can this machine run?", anchor=False)
state.no_view()
with spoken():
    findings.findings()
