"""Drag alpha: what coverage it promises, and what that costs in set size."""

import streamlit as st

from app import data, state
from app.components import figures, lab_files, lab_shift
from app.components.alpha_lab import alpha_lab
from app.components.runs import open_question, pick_run, title

st.title("How often may a set miss the truth?", anchor=False)
view = state.view("run", *state.LAB_NAMES, "source", "target")
record = pick_run(view, "Coverage and set size at every alpha")
if record:
    run = record.run_id
    sets = data.sets_of(run, view)
    alpha_lab(data.lab_tables(run), version=data.version(run), name=title(record), view=view, on_open=open_question)
    for note in data.lab_notes(run):
        st.caption(note)
    lab_shift.section(record, view)
    lab_files.section(record, sets)
    figures.report_table(lambda: data.lab_report(run, sets))
