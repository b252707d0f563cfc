"""A lesson in conformal prediction with live figures."""

import streamlit as st

from app import state
from app.caches import lesson_cache, run_cache
from app.components.learn import lesson
from app.components.shared.glossary_list import glossary
from app.components.shared.page_head import head
from app.components.shared.run_picker import pick_run
from app.components.shared.runs import no_runs_yet, title
from app.state.learn import LearnView
from core.reports.lesson import load

WHAT = "A lesson with live figures"

view = state.view(LearnView)
told = load()
head(told.title, told.subtitle)
finished = {record.run_id for record in run_cache.runs().finished}
if finished:
    above = st.container()
    with st.expander("Take the lesson with another run", expanded=bool(view.run) and view.run not in finished):
        record = pick_run(view, WHAT)
    if record:
        with above:
            lesson(
                told,
                lesson_cache.lesson_tables(record.run_id),
                version=run_cache.version(record.run_id),
                name=title(record),
                model=record.spec.model_name,
                run_id=record.run_id,
                view=view,
            )
else:
    no_runs_yet(WHAT)

with st.expander("Glossary: every term in one or two sentences", on_change="rerun", key="glossary_open") as folded:
    if folded.open:
        glossary()
