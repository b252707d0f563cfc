"""Every calibration figure of the diagrams with its interval."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from app.background import computing, in_place
from app.components.calibration.diagrams import Named
from app.components.shared import figures
from app.components.shared.static_table import ALL, static_table
from app.formatting import signed
from core.calibration.estimate import CalibrationEstimate
from core.reports.calibration.calibrated import CalibrationFigures
from core.reports.p_values import p_said, p_text
from core.reports.repeated import counted

FIGURES = {
    "accuracy": "Accuracy",
    "nll": "NLL",
    "brier": "Brier score",
    "ece": "ECE beyond chance",
    "over": "Overconfidence beyond chance",
    "under": "Underconfidence beyond chance",
    "smooth_ece": "Smooth ECE beyond chance",
}
"""Each figure of the open table and the name of its row."""
MORE_FIGURES = {
    "mce": "Observed MCE",
    "l2": "ℓ2 error beyond chance",
    "classwise_ece": "Class-wise ECE beyond chance",
}
"""Each figure of the folded table and the name of its row."""

HEIGHT = 400
"""About the height of the table with what is below it, in pixels."""

READING = """
- **Accuracy** has the Clopper–Pearson interval (at least 95%). **NLL** and **Brier score** have one that allows for
  skewness (Hall's). With fewer than 10 wrong or 10 right answers, it also uses what the model's probabilities say about
  the loss of such an answer (Fay and Feuer's). If a question gives the truth a probability of 0, the NLL is infinite
  (∞). If a question gives any option a probability of 0, the NLL has no interval. No interval can know a rare kind of
  question that these lack: if a model is sure and wrong on 1% of all questions, 60 may show none of them.
- **ECE** is the gap between confidence and accuracy, on average over bins. **Overconfidence** is the part of it from
  bins whose confidence is above their accuracy, and **underconfidence** the rest. In the **ℓ2 error**, the root of the
  mean squared gap, large gaps count for more. **Class-wise ECE** is the ECE of each option's own probability, averaged
  over options. **Smooth ECE** smooths with a kernel, whose width is chosen automatically, instead of bins.
- **Beyond chance**: chance raises every calibration error above 0. The first number is the error without this part,
  with its 95% interval in brackets. “Seen” is the error observed in these questions, and “chance” is what a calibrated
  model with the same confidences shows on average. The further a model is off, the less chance adds, so the first
  number is not the difference of the other two.
- **Intervals of errors** are about the error that the model has on all questions of this kind, with these bins. They
  hold it in at least 95 of 100 samples (the smooth error in at least 92), and more often if the error is small. They
  begin at 0 if chance alone can explain what is seen. With fewer than 10 questions there is no interval and no test.
- Questions that belong together, such as repeats of one question, count as one in all intervals and tests.
- **MCE** is the largest gap observed in any bin. Its interval holds the largest gap of the filled bins
  (Clopper–Pearson for each bin, Bonferroni for all of them).
- **Parts of the Brier score**: reliability − resolution + uncertainty. These are how far the bins are off, how
  different the bins are, and how hard the questions are. The rest is the spread inside the bins.
- **p of the ECE** is the probability that a calibrated model shows an ECE at least this large. **Spiegelhalter's z**
  tests calibration without bins. It is above 0 if squared errors are larger than the confidences promise.
"""


@in_place
def table(named: Sequence[Named]) -> None:
    """Show every figure with its interval, and next to the errors the part that chance alone explains. Says for how
    many diagrams they are still being computed.
    """
    there = [(entry.name, entry.figures) for entry in named if entry.figures]
    if lacking := len(named) - len(there):
        rest = f" of {lacking} more" if there else ""
        height = 0 if there else HEIGHT
        computing(f"the figures{rest} with their intervals", height=height)
    if not there:
        return
    _table({name: _column(entry) for name, entry in there}, "Calibration figures with their 95% intervals")
    with st.expander("More figures, and how to read them"):
        _table({name: _more(entry) for name, entry in there}, "Further calibration figures")
        st.markdown(READING)
    from core.reports.calibration.calibrated import figures_frame

    numbers = figures_frame([entry for _, entry in there], [name for name, _ in there])
    figures.download("These figures as CSV", numbers, "calibration", figures.about([entry.run for _, entry in there]))


def _table(columns: Mapping[str, Mapping[str, str]], alt: str) -> None:
    rows = list(next(iter(columns.values())))
    frame = pd.DataFrame({"Figure": rows, **{name: column.values() for name, column in columns.items()}})
    static_table(frame, alt=alt, texts=ALL)


def _column(figures: CalibrationFigures) -> dict[str, str]:
    """The figures of one diagram by the names of their rows."""
    return {
        "Questions": f"{figures.n:,}" if figures.questions == figures.n else counted(figures.n, figures.questions),
        **{title: _written(name, figures.estimates[name]) for name, title in FIGURES.items()},
        "p of the ECE": p_text(figures.test.p_value),
        "Spiegelhalter's z": (
            "–" if math.isnan(figures.test.z) else f"{signed(figures.test.z, 2)} ({p_said(figures.test.z_p_value)})"
        ),
    }


def _more(figures: CalibrationFigures) -> dict[str, str]:
    """The further figures of one diagram."""
    parts = figures.brier_parts
    return {
        **{title: _written(name, figures.estimates[name]) for name, title in MORE_FIGURES.items()},
        "Parts of the Brier score": f"{parts.reliability:.3f} − {parts.resolution:.3f} + {parts.uncertainty:.3f}",
    }


def _written(name: str, estimate: CalibrationEstimate) -> str:
    return (
        f"{estimate.value:.1%} ({estimate.low:.1%} to {estimate.high:.1%})" if name == "accuracy" else estimate.text()
    )
