"""The Alpha lab: drag alpha and see the coverage that it promises and the set size that it costs."""

import streamlit as st

from app import state
from app.caches import alpha_lab_cache, run_cache
from app.components.alpha_lab import alpha_lab, bounded_lab, covariate_shift, export
from app.components.shared import figures
from app.components.shared.page_head import head
from app.components.shared.run_picker import pick_run
from app.components.shared.runs import file_stem, open_question, title
from app.state.alpha_lab import AlphaLabView

head(
    "Alpha lab",
    "How often may a set miss the truth?",
    terms=("alpha", "prediction set", "coverage", "set size", "threshold", "calibration questions"),
)
view = state.view(AlphaLabView)
record = pick_run(view, "Coverage and set size at every alpha", ranges=True)
if record and record.bounded:
    bounded_lab.bounded_lab(record, view)
elif record:
    run = record.run_id
    sets = alpha_lab_cache.sets_of(run, view)
    alpha_lab(
        alpha_lab_cache.lab_tables(run),
        version=run_cache.version(run),
        name=title(record),
        file_stem=file_stem(record),
        view=view,
        on_open=open_question,
    )
    for note in alpha_lab_cache.lab_notes(run):
        st.caption(note)
    covariate_shift.section(record, view)
    export.section(record, sets)
    figures.report_table(lambda: alpha_lab_cache.lab_report(run, sets))
