"""What this machine can run, and what each finding means for a run."""

import streamlit as st

from app import state
from app.components.doctor import findings
from app.components.shared.page_head import head
from app.errors import spoken
from app.formatting import plain
from core.checks import doctor

head("Doctor", "What can this machine run?", terms=("run", "precision"))
state.no_view()
with spoken():
    st.subheader(plain(doctor.answer()), anchor=False)
    findings.findings()
