"""The Stream lab: the kind of question changes in mid-stream, and three ways to continue are followed side by side."""

import streamlit as st

from app import state
from app.caches import run_cache
from app.components.shared import controls
from app.components.shared.caveat_notes import caveat_line, caveat_notes
from app.components.shared.page_head import head_beside
from app.components.stream_lab import embedded, explained, kinds, stream_lab
from app.state.stream_lab import StreamLabView
from core.reports.titles import record_task_title

place = head_beside(
    "Stream lab",
    "What happens when the kind of question changes?",
    terms=("coverage", "threshold", "adaptive level", "betting test"),
)
linked = state.is_linked(StreamLabView, beside=("alpha", "score"))
view = state.view(StreamLabView)
left, right = st.columns([3, 2])
with left:
    first = kinds.pick_first(view, linked=linked)
if first:
    with right:
        second = kinds.pick_second(first, view)
    runs = [first] if second is None else [first, second]
    if second:
        caveat_notes([second])
    view = controls.with_offered_scores(view, runs, "score")
    tables = kinds.stream_tables(first.run_id, second.run_id if second else None, view.score)
    names = [record_task_title(record) for record in runs]
    version = " ".join([*(run_cache.version(record.run_id) for record in runs), view.score])
    model = first.spec.model_name
    scores = controls.offered_of(runs)
    stream_lab(tables, version=version, names=names, model=model, view=view, scores=scores, caveats=caveat_line(*runs))
    with place:
        embedded.embed_streams(runs, tables, names, view)
    explained.explained()
