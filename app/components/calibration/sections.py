"""The parts of the Calibration page: diagrams, figures, a bin's questions, temperature, recalibration, every alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from app import data, state
from app.components.calibration.temperature import temperature_dial
from app.components.shared import controls, figures
from app.components.shared.runs import open_run_question, titles
from app.formatting import counted, plain
from app.state import View
from charts.nominal_coverage import nominal_and_actual
from charts.reliability_diagram import BIN, SIDE, reliability_diagram
from core.errors import HedgeError
from core.reports.calibration.calibrated import CalibrationFigures, said
from core.reports.calibration.recalibrated import BEFORE, Recalibrated
from core.reports.report import shown as written

BINS_KEY, EDGES_KEY, WITHIN_KEY = "calibration_bins", "calibration_edges", "calibration_within"
DIAGRAM_KEY, BIN_KEY = "bin_of_diagram", "bin_number"
EDGE_WORDS = {"width": "equal width", "mass": "equal mass"}
WITHIN_WORDS = {"all": "each run", "group": "each subject", "letter": "each chosen letter"}
MOST_DIAGRAMS = 12
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
METHODS = {
    BEFORE: "as it is",
    "temperature": "temperature",
    "vector": "vector scaling",
    "platt": "Platt scaling",
    "isotonic": "isotonic regression",
}


def choices(view: View) -> None:
    """How many bins, of equal what, and what has a diagram of its own."""
    st.session_state[BINS_KEY] = view.bins
    st.session_state[EDGES_KEY] = view.edges
    st.session_state[WITHIN_KEY] = view.within
    # A row that wraps: columns of a narrow window would cut the switches off.
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    row.slider("Bins", 1, 100, key=BINS_KEY, on_change=_changed, help="15 is the published number.", width=240)
    row.segmented_control(
        "Of", list(EDGE_WORDS), format_func=EDGE_WORDS.__getitem__, required=True, key=EDGES_KEY, on_change=_changed,
        help="Equal width as published, or as many questions in each.",
    )  # fmt: skip
    row.segmented_control(
        "A diagram for", list(WITHIN_WORDS), format_func=WITHIN_WORDS.__getitem__, required=True, key=WITHIN_KEY,
        on_change=_changed, help="Subjects and letters with at least 20 test questions.",
    )  # fmt: skip


def _changed() -> None:
    keys = {"bins": BINS_KEY, "edges": EDGES_KEY, "within": WITHIN_KEY}
    state.change(**{name: st.session_state[key] for name, key in keys.items()})


def found_of(run_ids: Sequence[str], view: View) -> list[tuple[str, CalibrationFigures]]:
    """Every diagram that is asked for, with its name; says which runs have none, and how many are not shown."""
    names = titles([data.record(name) for name in run_ids])
    found: list[tuple[str, CalibrationFigures]] = []
    for run_id in run_ids:
        try:
            made = data.calibrated(run_id, view.within, view.bins, view.edges)
        except HedgeError as error:
            st.info(plain(f"{error}."))
            continue
        found += [(" · ".join(filter(None, [one.stratum, names[run_id]])), one) for one in made]
    if len(found) > MOST_DIAGRAMS:
        st.caption(f"The first {MOST_DIAGRAMS} of {len(found)} diagrams; choose fewer runs to see the others.")
    return found[:MOST_DIAGRAMS]


def diagrams(found: Sequence[tuple[str, CalibrationFigures]]) -> None:
    """The diagrams side by side; a click on a bin shows its questions below."""
    from core.reports.calibration import calibrated as frames

    every = []
    with st.container(horizontal=True, gap="medium"):
        for i, (name, one) in enumerate(found):
            bins = frames.bins_frame(one)
            figure = reliability_diagram(bins, frames.curve_frame(one), name, f"reliability-{i}")
            key = f"diagram-{one.run}-{one.stratum}-{one.bins}-{one.by}"
            with st.container(width=SIDE):
                st.markdown(f"**{plain(name)}**")
                figures.draw(figure, key=key, width="content", on_select=partial(_picked, key, i))
                st.caption(plain(said(one)))
            every.append(bins.assign(diagram=name))
    with st.container(horizontal=True, gap="medium"):
        st.caption(
            "On the dashed line a model is right as often as it is sure; above it is too modest, below too sure. A "
            "mark is a bin with the Clopper–Pearson 95 % interval of its accuracy. Gold is where luck keeps the "
            "accuracy of a calibrated model in at least 95 of 100 samples, bin by bin. Grey is the bin's share of the "
            "questions, green is the smooth curve. An empty bin has no mark.",
            width="stretch",
        )
        figures.download("Data of these diagrams", pd.concat(every, ignore_index=True), "reliability")


def _picked(key: str, place: int) -> None:
    chosen = st.session_state[key].selection.get(BIN) or []
    if chosen:
        st.session_state[DIAGRAM_KEY] = place
        st.session_state[BIN_KEY] = int(chosen[0]["bin"])


def table(found: Sequence[tuple[str, CalibrationFigures]]) -> None:
    """Every figure with its interval; what luck alone brings beside the errors."""
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
        alt="Calibration figures with their 95 % intervals",
    )
    st.caption(
        "Luck raises every calibration error above 0. So the error beyond luck comes first, with its 95 % interval in "
        "brackets; then the error that is seen in these questions, and “luck”, what a calibrated model with the same "
        "confidences shows on average. Luck adds less the further a model is off, so the first figure is not the "
        "difference of the others. The interval is of the error that the model has on all questions of this kind, "
        "with these bins: it holds that error in at least 95 of 100 samples (the smooth error in at least 92), in "
        "more where the error is small. It begins at 0 where luck alone explains what is seen. MCE is shown as it is "
        "seen, with an interval that holds the largest gap of the filled bins (Clopper–Pearson for each bin, "
        "Bonferroni for all). Accuracy has the Clopper–Pearson interval (at least 95 %); NLL and Brier have one that "
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


def questions(found: Sequence[tuple[str, CalibrationFigures]], view: View) -> None:
    """The questions of a bin, and from there to their sets."""
    st.subheader("The questions of a bin", anchor=False)
    left, right = st.columns([3, 2])
    places = list(range(len(found)))
    if st.session_state.get(DIAGRAM_KEY) not in places:
        st.session_state[DIAGRAM_KEY] = 0
    place = left.selectbox("Diagram", places, format_func=lambda i: found[i][0], key=DIAGRAM_KEY)
    one = found[place][1]
    filled = {i: b for i, b in enumerate(one.diagram.bins, start=1) if b.n}
    if st.session_state.get(BIN_KEY) not in filled:
        st.session_state[BIN_KEY] = max(
            filled, key=lambda i: abs(filled[i].accuracy - filled[i].confidence) * filled[i].n
        )
    number = right.selectbox(
        "Bin",
        list(filled),
        format_func=lambda i: f"{filled[i].low:.0%} to {filled[i].high:.0%} sure · {counted(filled[i].n, 'question')}",
        key=BIN_KEY,
        help="A click on a bin above chooses it. At first the one that adds most to the ECE.",
    )
    shown = data.bin_questions(one.run, view.within, one.stratum, number, one.bins, one.by)
    here = filled[number]
    st.caption(
        f"Of {counted(here.n, 'question')} here {here.accuracy:.0%} are right at a mean confidence of "
        f"{here.confidence:.0%}. Choose a row to see its options and set."
    )
    event = st.dataframe(
        shown.drop(columns="id"),
        hide_index=True,
        height=260,
        on_select="rerun",
        selection_mode="single-row",
        key=f"bin-questions-{one.run}-{one.stratum}-{number}-{one.bins}-{one.by}",
        column_config={
            "subject": st.column_config.TextColumn("Subject", width="small"),
            "question": st.column_config.TextColumn("Question", width="large"),
            "confidence": st.column_config.NumberColumn("Confidence", format="percent"),
            "chosen": "Chosen",
            "truth": "Truth",
            "right": st.column_config.CheckboxColumn("Right"),
        },
        alt="Questions of the bin, the surest first",
    )
    if event.selection.rows:
        open_run_question(one.run, str(shown["id"].iloc[event.selection.rows[0]]))
    figures.download("These questions as CSV", shown, "questions-of-a-bin")


def temperature(run_ids: Sequence[str], view: View) -> None:
    """The live dial for one of the runs, and what each way to recalibrate does, fitted on other questions."""
    st.subheader("Turn the temperature", anchor=False)
    names = titles([data.record(name) for name in run_ids])
    run_id = (
        st.selectbox("Run", list(names), format_func=names.__getitem__, key="tempered_run")
        if len(names) > 1
        else run_ids[0]
    )
    controls.alpha_slider(view)
    made, why = _recalibrated(run_id, view.alpha)
    fitted = _fitted(made)
    temperature_dial(data.dial_rows(run_id), version=data.version(run_id), view=view, fitted=fitted)
    st.caption(
        "What is dragged is judged on the test questions that it is chosen on. "
        + (
            f"A temperature to keep is fitted on others: {fitted / 100:.2f}, on half of the calibration questions "
            "and on the other half, their geometric mean."
            if fitted
            else plain(why)
        )
    )
    with st.expander(
        "Ways to recalibrate, fitted on other questions", key="recalibrated_open", on_change="rerun"
    ) as fold:
        if fold.open:
            made, why = _recalibrated(run_id, view.alpha)
            recalibrations(made) if made else st.info(plain(why))


def _recalibrated(run_id: str, alpha: int) -> tuple[tuple[Recalibrated, ...], str]:
    try:
        return data.recalibrated(run_id, alpha), ""
    except HedgeError as error:
        return (), f"{error}."


def _fitted(made: Sequence[Recalibrated]) -> int | None:
    """The geometric mean of the fitted temperatures in hundredths, within what the dial has."""
    found = [one["temperature"] for each in made if each.method == "temperature" for one in each.parameters]
    if not found:
        return None
    return min(500, max(20, round(100 * math.exp(sum(map(math.log, found)) / len(found)))))


def recalibrations(made: Sequence[Recalibrated]) -> None:
    """A row a map: before and after."""
    rows = [
        {
            "Map": METHODS[one.method],
            "Accuracy": one.accuracy,
            "ECE": one.ece,
            "NLL": written(one.nll) + (f" ({one.nll_infinite:,} of {one.n_test:,})" if one.nll_infinite else ""),
            "Change of NLL": _change(one),
            "Brier": one.brier,
            **{f"{name.upper()} coverage": value for name, value in one.coverage.items()},
            **{f"{name.upper()} size": value for name, value in one.mean_set_size.items()},
        }
        for one in made
    ]
    frame = pd.DataFrame(rows)
    share = st.column_config.NumberColumn(format="percent")
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            **{name: share if "overage" in name or name == "Accuracy" else number for name in rows[0]},
            "Map": st.column_config.TextColumn(),
            "NLL": st.column_config.TextColumn(
                help="∞ where a map gives the truth probability 0: on how many of the test questions it does."
            ),
            "Change of NLL": st.column_config.TextColumn(
                help="Against none, with its 95 % interval over test questions for these two fits."
            ),
        },
        alt="Calibration and sets before and after each map",
    )
    one = made[0]
    st.caption(
        f"A map is fitted on {one.n_fit:,} calibration questions, thresholds are found on the other "
        f"{one.n_calibration:,}, all is measured on {one.n_test:,} test questions; then the two halves change places "
        "and the mean is shown. Coverage is kept by every map; only sizes change. Where isotonic "
        "regression says exactly 0, APS can't tell options apart, and its sets are larger; where such an option is the "
        "truth, the NLL is infinite."
    )
    numbers = frame.assign(NLL=[one.nll for one in made], **{"NLL infinite on": [one.nll_infinite for one in made]})
    figures.download("Before and after as CSV", numbers, "recalibration")


def _change(one: Recalibrated) -> str:
    """The change of NLL and its interval; nothing for the run as it is, "∞" for an infinite one."""
    change, low, high = one.nll_change
    if math.isnan(change):
        return "∞ before and after" if one.nll_infinite and one.method != BEFORE else ""
    return f"+{written(change)}" if math.isinf(change) else f"{change:+.3f} ({low:+.3f} to {high:+.3f})"


def every_alpha(run_ids: Sequence[str]) -> None:
    """Nominal against actual coverage of the runs."""
    st.subheader("Is coverage kept at every alpha?", anchor=False)
    names = titles([data.record(name) for name in run_ids])
    frames = []
    for run_id in run_ids:
        try:
            frames.append(data.nominal_coverage(run_id).assign(name=names[run_id]))
        except HedgeError as error:
            st.info(plain(f"{error}."))
    if frames:
        figures.show(
            nominal_and_actual(pd.concat(frames, ignore_index=True)),
            "On the band coverage is what the guarantee promises, give or take luck"
            + (" (the band is that of the first run)." if len(frames) > 1 else "."),
        )
