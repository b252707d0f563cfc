"""Every calibration figure of the diagrams with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.background import computing, in_place
from app.components.calibration.diagrams import Named
from app.components.shared import figures

FIGURES = {
    "accuracy": ("Accuracy", "The share of questions whose top option is the truth."),
    "nll": (
        "NLL",
        ("Negative log-likelihood: −log of the true option's probability, on average, in nats. Lower is better."),
    ),
    "brier": ("Brier", "The squared distance of the probabilities from the truth, from 0 to 2. Lower is better."),
    "ece": (
        "ECE",
        ("Expected calibration error: the gap between confidence and accuracy, on average over bins. 0 is best."),
    ),
    "over": ("Over", "The part of the ECE from bins whose confidence is above their accuracy."),
    "under": ("Under", "The part of the ECE from bins whose accuracy is above their confidence."),
    "mce": ("MCE", "Maximum calibration error: the largest gap between confidence and accuracy in any bin."),
    "l2": ("ℓ2 error", "The root of the mean squared gap over bins. Large gaps count for more than in the ECE."),
    "classwise_ece": ("Class-wise ECE", "The ECE of each option's own probability, averaged over options."),
    "smooth_ece": (
        "Smooth ECE",
        ("The calibration error after kernel smoothing instead of bins. The kernel's width is chosen automatically."),
    ),
}

HEIGHT = 560
"""About the height of the table with what is below it, in pixels."""

READING = """
- **Errors**: the first number is the error beyond luck, with its 95% interval in brackets. Luck raises every
  calibration error above 0. “seen” is the error observed in these questions, and “luck” is what a calibrated model
  with the same confidences shows on average. Luck adds less the further a model is off, so the first number is not
  the difference of the other two.
- **Intervals of errors**: an interval is about the error that the model has on all questions of this kind, with these
  bins. It holds the error in at least 95 of 100 samples (the smooth error in at least 92), and more often if the
  error is small. It begins at 0 if luck alone can explain what is seen.
- **MCE** is the observed value. Its interval holds the largest gap of the filled bins (Clopper–Pearson for each bin,
  Bonferroni for all of them).
- **Accuracy** has the Clopper–Pearson interval (at least 95%). **NLL** and **Brier** have one that allows for
  skewness (Hall's). If a question gives the truth a probability of 0, the NLL is infinite (∞) and has no interval.
- **Parts of the Brier score**: reliability − resolution + uncertainty. These are how far the bins are off, how
  different the bins are, and how hard the questions are. What is left is the spread inside the bins.
- **p of the ECE** is the probability that a calibrated model shows an ECE at least this large. **Spiegelhalter's z**
  tests calibration without bins. It is above 0 if squared errors are larger than the confidences promise.
"""


@in_place
def table(found: Sequence[Named]) -> None:
    """Show every figure with its interval, and beside the errors how large they are by chance alone.

    Says for how many diagrams they are still computed.
    """
    there = [(one.name, one.figures) for one in found if one.figures]
    if lacking := len(found) - len(there):
        of = f" of {lacking} more" if there else ""
        height = 0 if there else HEIGHT
        computing(f"the figures{of} with their intervals", height=height)
    if not there:
        return
    rows = []
    for name, one in there:
        row: dict[str, object] = {"Of": name, "Questions": one.n}
        for figure, (title, _) in FIGURES.items():
            row[title] = one.estimates[figure].text()
        parts = one.brier_parts
        row["Parts of the Brier score"] = f"{parts.reliability:.3f} − {parts.resolution:.3f} + {parts.uncertainty:.3f}"
        row["p of the ECE"] = _p_value(one.test.p_value)
        row["Spiegelhalter's z"] = (
            "–" if math.isnan(one.test.z) else f"{one.test.z:+.2f} (p {_p_value(one.test.z_p_value)})"
        )
        rows.append(row)
    st.dataframe(
        pd.DataFrame(rows).set_index("Of").astype(str).T.rename_axis("figure").reset_index(),
        hide_index=True,
        height="content",
        column_config={"figure": st.column_config.TextColumn("Figure", pinned=True, width=190)},
        alt="Calibration figures with their 95% intervals",
    )
    with st.expander("How to read these figures"):
        st.markdown(READING)
    from core.reports.calibration.calibrated import figures_frame

    frame = figures_frame([one for _, one in there], [name for name, _ in there])
    figures.download("These figures as CSV", frame, "calibration", figures.about([one.run for _, one in there]))


def _p_value(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "below 0.001"
