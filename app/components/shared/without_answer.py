"""The runs whose letters have almost no probability: they have no figures, and the page says why."""

from collections.abc import Sequence

import streamlit as st

from app.components.shared.runs import titles
from app.formatting import counted, plain
from core.reports.caveats import in_one
from core.runs.caveats import of_run_record
from core.runs.store import RunRecord

SHOWN = 20


def runs_without_answer(records: Sequence[RunRecord]) -> None:
    """Show each run with the reason; nothing if there are none."""
    if not records:
        return
    st.subheader("No answer", anchor=False)
    names = titles(records)
    for record in records[:SHOWN]:
        st.markdown(f"**{plain(names[record.run_id])}**  \n{plain(in_one(of_run_record(record)))}")
    if len(records) > SHOWN:
        st.caption(f"{counted(len(records) - SHOWN, 'more run')} like these.")
