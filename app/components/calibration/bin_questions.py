"""The questions in a bin, with links to their sets."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.components.calibration import calibration_cache
from app.components.calibration.diagrams import BIN_KEY, BIN_OPEN_KEY, DIAGRAM_KEY, Named
from app.components.shared import figures
from app.components.shared.runs import open_run_question
from app.formatting import PERCENT, counted
from app.state.calibration import CalibrationView
from core.reports.calibration.in_words import telling_bin


def questions(named: Sequence[Named], view: CalibrationView) -> None:
    """Show the questions in a bin, with links to their sets. Folded away until a bin is clicked: Streamlit's table is a
    large part of the first visit.
    """
    with st.expander("Questions in a bin", key=BIN_OPEN_KEY, on_change="rerun") as folded:
        if folded.open:
            _questions(named, view)


def _questions(named: Sequence[Named], view: CalibrationView) -> None:
    left, right = st.columns([3, 2])
    places = list(range(len(named)))
    # A value that is set is sent with its label, which is another one for other diagrams or bins.
    place = st.session_state.get(DIAGRAM_KEY, 0)
    st.session_state[DIAGRAM_KEY] = place if place in places else 0
    place = left.selectbox("Diagram", places, format_func=lambda i: named[i].name, key=DIAGRAM_KEY)
    diagram = named[place].diagram
    filled = {i: b for i, b in enumerate(diagram.reliability, start=1) if b.n}
    number = st.session_state.get(BIN_KEY)
    st.session_state[BIN_KEY] = number if number in filled else telling_bin(diagram)
    number = right.selectbox(
        "Bin",
        list(filled),
        format_func=lambda i: (
            f"{filled[i].low:.0%} to {filled[i].high:.0%} confidence · {counted(filled[i].n, 'question')}"
        ),
        key=BIN_KEY,
        help="Click a bin in the diagram to choose it. At first, the bin with the ring is chosen.",
    )
    shown = calibration_cache.bin_questions(diagram.run, view.within, diagram.stratum, number, diagram.bins, diagram.by)
    here = filled[number]
    st.caption(
        f"{counted(here.n, 'answer')} in this bin, {here.accuracy:.0%} of them right, at a mean confidence "
        f"of {here.confidence:.0%}. Choose a row to see the question's options and set."
    )
    event = st.dataframe(
        pd.DataFrame(
            {
                "confidence": 100 * shown["confidence"],
                "answer": [
                    f"✓ {chosen}" if right else f"✗ {chosen}, truth {truth}"
                    for chosen, truth, right in zip(shown["chosen"], shown["truth"], shown["right"], strict=True)
                ],
                "question": shown["question"],
                "subject": shown["subject"],
            }
        ),
        hide_index=True,
        height=260,
        on_select="rerun",
        selection_mode="single-row",
        key=f"bin-questions-{diagram.run}-{diagram.stratum}-{number}-{diagram.bins}-{diagram.by}",
        column_config={
            "confidence": st.column_config.NumberColumn("Confidence", format=PERCENT, width=85),
            "answer": st.column_config.TextColumn("Answer", width=100),
            "question": st.column_config.TextColumn("Question", width="large"),
            "subject": st.column_config.TextColumn("Subject", width="small"),
        },
        alt="Questions in the bin, the highest confidence first",
    )
    if event.selection.rows:
        open_run_question(diagram.run, str(shown["id"].iloc[event.selection.rows[0]]))
    figures.download("These questions as CSV", shown, "questions-of-a-bin", figures.about([diagram.run]))
