"""The live temperature of a run, and the effect of each recalibration method."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.background import arrived, computing
from app.caches import run_cache
from app.components.calibration import calibration_cache
from app.components.calibration.temperature import temperature_dial
from app.components.shared import controls, figures
from app.components.shared.runs import titles
from app.components.shared.static_table import static_table
from app.formatting import plain, sentence, signed
from app.state.calibration import CalibrationView
from core.errors import HedgeError
from core.reports.calibration.recalibrated import BEFORE, NO_LOGARITHM, Recalibrated
from core.reports.calibration.temperature import COLDEST, HOTTEST, HUNDRED
from core.reports.file_names import About
from core.reports.report import shown as written

METHODS = {
    BEFORE: "none",
    "temperature": "temperature",
    "vector": "vector scaling",
    "platt": "Platt scaling",
    "isotonic": "isotonic regression",
}
FITTING = "The temperature that is fitted on other questions is being computed."
HEIGHT = 240
"""About the height of the table, in pixels."""


def temperature(run_ids: Sequence[str], view: CalibrationView) -> None:
    """Show the live temperature dial for one run, and the effect of each recalibration method, fitted on other
    questions.
    """
    st.subheader("Change the temperature", anchor=False)
    names = titles([run_cache.record(name) for name in run_ids])
    run_id = (
        st.selectbox("Run", list(names), format_func=names.__getitem__, key="tempered_run")
        if len(names) > 1
        else run_ids[0]
    )
    controls.alpha_slider(view)
    methods, why = _recalibrated(run_id, view.alpha)
    fitted = _fitted(methods or ())
    notes = [note for method in methods or () if method.method == "temperature" for note in method.notes]
    mark = round(HUNDRED * fitted) if fitted and COLDEST <= round(HUNDRED * fitted) <= HOTTEST else None
    temperature_dial(calibration_cache.dial_rows(run_id), version=run_cache.version(run_id), view=view, fitted=mark)
    st.caption(
        "A temperature that you choose here is judged on the same test questions that you choose it on. "
        + (
            f"Fitted on other questions, the temperature is {fitted:.2f}: the geometric mean of the fits on the two "
            f"halves of the calibration questions. {' '.join(notes)}"
            if fitted
            else plain(why or (sentence(NO_LOGARITHM) if methods else FITTING))
        )
    )
    with st.expander(
        "Ways to recalibrate, fitted on other questions", key="recalibrated_open", on_change="rerun"
    ) as fold:
        if fold.open:
            if methods:
                recalibrations(methods, figures.about([run_id], view.alpha))
            elif why:
                st.info(plain(why))
            else:
                computing("every way to recalibrate", height=HEIGHT)


def _recalibrated(run_id: str, alpha: int) -> tuple[list[Recalibrated] | None, str]:
    """The figures, or None and a sentence on why there are none; the sentence is empty while they are computed."""
    try:
        return arrived(calibration_cache.recalibrated(run_id, alpha)), ""
    except HedgeError as error:
        return None, sentence(str(error))


def _fitted(methods: Sequence[Recalibrated]) -> float | None:
    """The geometric mean of the fitted temperatures; it may be outside of the range of the dial."""
    temperatures = [
        parameters["temperature"] for each in methods if each.method == "temperature" for parameters in each.parameters
    ]
    if not temperatures:
        return None
    return math.exp(sum(map(math.log, temperatures)) / len(temperatures))


def recalibrations(methods: Sequence[Recalibrated], about: About) -> None:
    """One row per recalibration method: the figures before and after."""
    rows = [
        {
            "Method": METHODS[method.method],
            "Accuracy": f"{method.accuracy:.1%}",
            "Observed ECE": f"{method.ece:.3f}",
            "NLL": written(method.nll)
            + (f" ({method.nll_infinite:,} of {method.n_test:,})" if method.nll_infinite else ""),
            "Change of NLL": _change(method),
            "Brier score": f"{method.brier:.3f}",
            **{f"{name.upper()} coverage": f"{value:.1%}" for name, value in method.coverage.items()},
            **{f"{name.upper()} set size": f"{value:.2f}" for name, value in method.mean_set_size.items()},
        }
        for method in methods
    ]
    static_table(pd.DataFrame(rows), alt="Calibration and sets before and after each method")
    for method in methods:
        if sentences := _sentences(method):
            st.caption(plain(f"{METHODS[method.method]}: {sentences}"))
    method = methods[0]
    st.caption(
        f"Each method is fitted on {method.n_fit:,} calibration questions, thresholds are computed on the other "
        f"{method.n_calibration:,}, and everything is measured on {method.n_test:,} test questions. Then the two "
        "halves change places, and the mean of both is shown. The coverage guarantee holds for every method; "
        "only set sizes change. If isotonic regression gives options a probability of exactly 0, APS can't "
        "tell them apart and its sets are larger. If such an option is the truth, the NLL is infinite (∞), and "
        "the brackets say for how many questions. The change of the NLL is from no recalibration, with its 95% "
        "interval over test questions for these two fits."
    )
    figures.download("Before and after as CSV", _numbers(methods), "recalibration", about)


def _numbers(methods: Sequence[Recalibrated]) -> pd.DataFrame:
    """The same figures as numbers, to download."""
    return pd.DataFrame(
        [
            {
                "Method": METHODS[method.method],
                "Accuracy": method.accuracy,
                "ECE": method.ece,
                "NLL": method.nll,
                "Change of NLL": _change(method),
                "Brier": method.brier,
                **{f"{name.upper()} coverage": value for name, value in method.coverage.items()},
                **{f"{name.upper()} size": value for name, value in method.mean_set_size.items()},
                "NLL infinite on": method.nll_infinite,
                "Notes": _sentences(method),
            }
            for method in methods
        ]
    )


def _sentences(method: Recalibrated) -> str:
    """What the questions of the fit do not determine, and why a change of NLL has no interval."""
    reason = method.nll_change_reason
    return " ".join([*method.notes, *([f"The change of the NLL has no interval: {reason}."] if reason else [])])


def _change(method: Recalibrated) -> str:
    """The change of NLL and its interval. Empty for the run without recalibration, "∞" if the NLL is infinite."""
    change, low, high = method.nll_change
    if math.isnan(change):
        return "∞ before and after" if method.nll_infinite and method.method != BEFORE else ""
    if math.isinf(change):
        return f"+{written(change)}"
    if math.isnan(low):
        return f"{signed(change, 3)} (no interval)"
    return f"{signed(change, 3)} ({signed(low, 3)} to {signed(high, 3)})"
