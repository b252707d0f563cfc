"""What each juror adds, and how reliable its confidence is."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.caches import jury_cache
from app.components.jury.agreement import percent
from app.components.shared import figures
from app.state.jury import JuryView
from charts.juror_gains import juror_gains
from charts.juror_reliability import juror_reliability
from core.jury.adjudication import RULES
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import JuryExperiment, Protocol
from core.runs.juries.jury_store import JuryRecord


def gains(record: JuryRecord, view: JuryView, protocol: Protocol) -> None:
    """Show how much each juror adds to the accuracy of the selected rule."""
    st.subheader("What does each juror add?", anchor=False)
    table = jury_cache.left_out(record.jury_id, protocol)
    mine = table[table["rule"] == view.rule]
    if mine.empty:
        st.caption(
            "Leaving one out needs three jurors or more."
            if table.empty
            else "Always False listens to no juror, so none adds anything."
            if view.rule == "always_false"
            else f"{RULES[view.rule].title} needs three jurors: it can't tell from two which of them is reliable."
        )
        return
    figures.show(
        juror_gains(mine),
        f"Accuracy by {RULES[view.rule].title} with all jurors, less that without this one, on the same answers; "
        "a line is the 95% interval.",
    )


def confidences(record: JuryRecord, protocol: Protocol, found: JuryExperiment, pairwise: bool) -> None:
    """Show the reliability of the jurors' confidence, and each juror's calibration error."""
    st.subheader("What is their confidence worth?", anchor=False)
    bins = jury_cache.reliability(record.jury_id, protocol)
    title = CONFIDENCES[protocol.confidence].title
    left, right = st.columns(2, gap="large")
    with left:
        figures.show(juror_reliability(bins, "confidence"), f"{title} confidence; a line is the 95% interval.")
    with right:
        figures.show(juror_reliability(bins, "raw"), "Raw probability; a line is the 95% interval.")
    errors = jury_cache.calibration_errors(record.jury_id, protocol)
    of_scale = {scale: errors[errors["scale"] == scale] for scale in ("confidence", "raw")}
    columns = {
        "Juror": list(record.jurors),
        f"{'Agrees with the label' if pairwise else 'Right'} (95% interval)": [
            percent(of.accuracy) for of in found.jurors
        ],
        **{
            f"{word}: {name}": values
            for scale, word in (("confidence", "Confidence"), ("raw", "Raw"))
            for name, values in (
                ("ECE", [f"{value:.3f}" for value in of_scale[scale]["ece"]]),
                ("luck", [f"{value:.3f}" for value in of_scale[scale]["luck"]]),
                (
                    "without luck",
                    [f"{low:.3f} to {high:.3f}" for low, high in of_scale[scale][["low", "high"]].to_numpy()],
                ),
            )
        },
    }
    st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        height="content",
        alt="Each juror's accuracy and calibration error",
    )
    st.caption(
        "ECE is the mean gap between confidence and the share that is right, over 15 bins; 0 is best. Luck is what a "
        "juror without any error would show; without it the error lies in the 95% interval. Here each answer counts "
        "once: the halves of the first split calibrate each other's confidences."
    )
