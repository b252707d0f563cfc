"""What each juror adds, and how reliable its confidence is."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app import style
from app.background import arrived, in_place
from app.caches import jury_cache
from app.components.jury.agreement import percent
from app.components.shared import figures
from app.components.shared.static_table import static_table
from app.state.jury import JuryView
from charts.juror_gains import juror_gains
from charts.juror_reliability import juror_reliability
from core.jury.adjudication import CONSTANT, RULES
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import JuryExperiment, Protocol
from core.jury.pipeline.jury_store import JuryRecord
from core.reports.file_names import About

GAINS_HEIGHT, CONFIDENCES_HEIGHT = 300, 520
"""About the height of each section, in pixels."""


@in_place
def gains(record: JuryRecord, view: JuryView, protocol: Protocol) -> None:
    """Show how much each juror adds to the accuracy of the selected rule."""
    st.subheader("What does each juror add?", anchor=False)
    table = arrived(jury_cache.left_out(record.jury_id, protocol), "what each juror adds", height=GAINS_HEIGHT)
    if table is None:
        return
    mine = table[table["rule"] == view.rule]
    if mine.empty:
        st.caption(
            "This needs at least three jurors, because each one is left out in turn."
            if table.empty
            else f"The rule {RULES[view.rule].title} ignores the jurors, so none of them adds anything."
            if view.rule in CONSTANT
            else f"{RULES[view.rule].title} needs at least three jurors. With two, it can't tell which one is reliable."
        )
        return
    figures.show(
        juror_gains(mine),
        f"The accuracy of {RULES[view.rule].title} with all jurors, minus its accuracy without this juror, on "
        "the same answers. A line is the 95% interval.",
        About([record.name]),
    )


@in_place
def confidences(record: JuryRecord, protocol: Protocol, experiment: JuryExperiment | None, pairwise: bool) -> None:
    """Show the reliability of the jurors' confidence, and each juror's calibration error.

    ``experiment`` is None while its intervals are computed.
    """
    st.subheader("Can the jurors' confidence be trusted?", anchor=False)
    what = "how often each juror is right at each confidence"
    tables = arrived(jury_cache.confidences(record.jury_id, protocol), what, height=CONFIDENCES_HEIGHT)
    if tables is None or experiment is None:
        return
    bins, errors = tables.bins, tables.errors
    title = CONFIDENCES[protocol.confidence].title
    with style.stacked_when_narrow("confidences"):
        left, right = st.columns(2, gap="large")
    with left:
        shown = f"{title} confidence. A line is the 95% interval."
        figures.show(juror_reliability(bins, "confidence"), shown, About([record.name]))
    with right:
        shown = "Raw probability. A line is the 95% interval."
        figures.show(juror_reliability(bins, "raw"), shown, About([record.name]))
    of_scale = {scale: errors[errors["scale"] == scale] for scale in ("confidence", "raw")}
    rows = [
        {
            "Juror": name,
            "Confidence": scale_title,
            "Agrees with the label" if pairwise else "Right": percent(experiment.jurors[i].accuracy),
            "ECE": f"{row.ece:.3f}",
            "By luck": f"{row.luck:.3f}" if row.low == row.low else "–",
            "Beyond luck (95% interval)": f"{row.low:.3f} to {row.high:.3f}" if row.low == row.low else "–",
        }
        for i, name in enumerate(record.jurors)
        for scale, scale_title in (("confidence", title), ("raw", "Raw probability"))
        for row in [of_scale[scale].iloc[i]]
    ]
    static_table(pd.DataFrame(rows), alt="Each juror's accuracy and calibration error", texts=2)
    st.caption(
        "ECE is the mean gap between confidence and the share of right verdicts, over 15 bins. 0 is best. "
        "“By luck” is what a perfectly calibrated juror would show, and “beyond luck” is the error that remains. "
        "Each answer counts once here: the halves of the first split calibrate each other's confidences. Answers of "
        "one question count as one unit, and fewer than 10 units have no interval."
    )
