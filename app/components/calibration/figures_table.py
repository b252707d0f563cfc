"""Every calibration figure of the diagrams with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.components.shared import figures
from core.reports.calibration.calibrated import CalibrationFigures

FIGURES = {
    "accuracy": ("Accuracy", "The share of questions whose top option is the truth."),
    "nll": ("NLL", "−log of the true option's probability on average, in nats; lower is better."),
    "brier": ("Brier", "Squared distance of the probabilities from the truth, 0 to 2; lower is better."),
    "ece": ("ECE", "How far confidence is from accuracy, on average over bins; 0 is best."),
    "over": ("Over", "The part of the ECE from bins that are surer than they are right."),
    "under": ("Under", "The part of the ECE from bins that are more often right than sure."),
    "mce": ("MCE", "The largest gap between confidence and accuracy of any bin."),
    "l2": ("ℓ2 error", "The root of the mean squared gap over bins: large gaps count for more than in the ECE."),
    "classwise_ece": ("Class-wise ECE", "The ECE of each option's own probability, averaged over options."),
    "smooth_ece": ("Smooth ECE", "The gap smoothed by a kernel that chooses its own width: no bins to choose."),
}


def table(found: Sequence[tuple[str, CalibrationFigures]]) -> None:
    """Show every figure with its interval, and beside the errors how large they are by chance alone."""
    rows = []
    for name, one in found:
        row: dict[str, object] = {"Of": name, "Questions": one.n}
        for figure, (title, _) in FIGURES.items():
            row[title] = one.estimates[figure].text()
        parts = one.brier_parts
        row["Brier in parts"] = f"{parts.reliability:.3f} − {parts.resolution:.3f} + {parts.uncertainty:.3f}"
        row["p of the ECE"] = _p_value(one.test.p_value)
        row["Spiegelhalter's z"] = (
            "–" if math.isnan(one.test.z) else f"{one.test.z:+.2f} (p {_p_value(one.test.z_p_value)})"
        )
        rows.append(row)
    st.dataframe(
        pd.DataFrame(rows).set_index("Of").astype(str).T.rename_axis("figure").reset_index(),
        hide_index=True,
        height="content",
        column_config={"figure": st.column_config.TextColumn("Figure", pinned=True, width=130)},
        alt="Calibration figures with their 95% intervals",
    )
    st.caption(
        "Luck raises every calibration error above 0. So the error beyond luck comes first, with its 95% interval in "
        "brackets; then the error that is seen in these questions, and “luck”, what a calibrated model with the same "
        "confidences shows on average. Luck adds less the further a model is off, so the first figure is not the "
        "difference of the others. The interval is of the error that the model has on all questions of this kind, "
        "with these bins: it holds that error in at least 95 of 100 samples (the smooth error in at least 92), in "
        "more where the error is small. It begins at 0 where luck alone explains what is seen. MCE is shown as it is "
        "seen, with an interval that holds the largest gap of the filled bins (Clopper–Pearson for each bin, "
        "Bonferroni for all). Accuracy has the Clopper–Pearson interval (at least 95%); NLL and Brier have one that "
        "allows for skewness (Hall's). An NLL is infinite (∞), and has no interval, where a question has probability 0 "
        "of the truth. The Brier score is what its bins are off, less how unlike they are, plus how hard the questions "
        "are, plus what bins hide. p is how likely a calibrated model shows so large "
        "an ECE; Spiegelhalter's z tests calibration without bins, and is above 0 where squared errors are larger "
        "than the confidences promise."
    )
    from core.reports.calibration.calibrated import figures_frame

    frame = figures_frame([one for _, one in found], [name for name, _ in found])
    figures.download("These figures as CSV", frame, "calibration")


def _p_value(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "below 0.001"
