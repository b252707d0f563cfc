"""Which judge may speak for people, and whom to ask below its threshold."""

import streamlit as st

from app import state
from app.caches import jury_cache
from app.components.shared import downloads
from app.components.shared.selective import selective_panel
from app.errors import spoken
from app.formatting import plain
from app.state.fields import joined, split
from app.state.jury import JuryView
from core.jury.pipeline.jury_store import JuryRecord
from core.reports import answer_or_pass
from core.reports.file_names import About

JUDGES_KEY = "selected_judges"
ORDER_HELP = (
    "The first judge is asked first; the questions that it passes go to the next one, and at last to a person. Put the "
    "cheapest first."
)


def judge_selection(record: JuryRecord, view: JuryView, pairwise: bool) -> None:
    """Show from which confidence each judge's verdicts may stand for those of people. Computes nothing while folded."""
    expander = st.expander("Which judge may speak for people?", on_change="rerun", key="judge_selection_open")
    with expander as folded, spoken():  # an error, as of a jury of one question, leaves the sections below
        if not folded.open:
            return
        known = [name for name in split(view.judges) if name in record.jurors] or list(record.jurors)
        st.session_state[JUDGES_KEY] = known
        st.multiselect(
            "Judges, in the order in which they are asked",
            record.jurors,
            key=JUDGES_KEY,
            on_change=_take_judges,
            help=ORDER_HELP,
            wrap=True,
        )
        sides = jury_cache.judged_sides(record.jury_id, tuple(known))
        key = jury_cache.jury_key(record.jury_id)
        selective_panel(
            sides.judges,
            sides.calibration,
            sides.judged,
            key="jury_selective",
            version=f"{key.jury_id}:{key.stamp}:{joined(known)}",
            view=view,
            what="pairs" if pairwise else "answers",
            verdicts=True,
        )
        for note in sides.notes:
            st.caption(plain(note))
        st.caption(
            "A judge's confidence is the probability that it gave to its verdict. With several judges, each keeps the "
            "promise with a part of delta, so that all of them keep it together."
        )
        rows = answer_or_pass.judge_rows(sides.selected(view.error, view.delta), sides.judges)
        about = About([record.name], alpha=view.error)
        downloads.download("Thresholds as CSV", rows, "judge-selection", about)


def _take_judges() -> None:
    state.change(JuryView, judges=joined(st.session_state[JUDGES_KEY]))
