"""Reliability diagrams: their controls, and the diagrams side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from app import state, style
from app.background import arrived, computing, in_place, waits_for_paint
from app.caches import run_cache
from app.components.calibration import calibration_cache
from app.components.shared import controls, figures
from app.components.shared.caveat_notes import caveat_text
from app.components.shared.runs import titles
from app.formatting import plain, sentence
from app.state.calibration import CalibrationView
from charts.nominal_coverage import coverage_minus_target
from charts.reliability_diagram import BIN, PAGE_SIDE, reliability_diagram
from charts.run_names import told_apart
from core.errors import HedgeError
from core.reports.calibration.calibrated import CalibrationDiagram, CalibrationFigures, tests_in_words
from core.reports.calibration.in_words import bin_in_words, telling_bin, verdict_in_words, verdicts_in_words
from core.reports.caveats import marked
from core.reports.report import DEFAULT_SCORES
from core.reports.titles import row_names

BINS_KEY, EDGES_KEY, WITHIN_KEY = "calibration_bins", "calibration_edges", "calibration_within"
DIAGRAM_KEY, BIN_KEY, BIN_OPEN_KEY = "bin_of_diagram", "bin_number", "bin_questions_open"
EDGES_HELP = "Bins of equal width, as in the papers, or with the same number of questions in each."
WITHIN_HELP = "Only subjects and options with at least 20 test questions have a diagram."
EDGE_WORDS = {"width": "equal width", "mass": "equal number"}
WITHIN_WORDS = {"all": "each run", "group": "each subject", "letter": "each chosen option"}
MOST_DIAGRAMS = 12
MOST_ANSWERS = 3
"""With more diagrams than this, the answer counts them, and each has its own sentence."""
ANSWER_HEIGHT = 32
"""The height of a line of the answer, in pixels."""
READING = (
    "On the dashed line, accuracy equals confidence. Above it the model is underconfident, below it overconfident. "
    "Each mark is a bin with the Clopper–Pearson 95% interval of its accuracy. In each bin, the accuracy of a "
    "calibrated model lies in the gold area in at least 95 of 100 samples. Grey bars show the bin's share of the "
    "questions. An empty bin has no mark. The ring marks the bin that the answer is about: of those with ten answers "
    "or more, the one nearest to 90% confidence."
)
EVERY_ALPHA_HEIGHT = 400
"""About the height of the coverage at every alpha, in pixels."""
SAID_HEIGHT = 80
"""About the height of the sentences below a diagram, in pixels."""


def choices(view: CalibrationView) -> None:
    """Show the controls for the number of bins, their edges, and the groups that have a diagram each."""
    # A row that wraps. Columns in a narrow window would cut the switches off.
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        st.session_state[BINS_KEY] = view.bins
        take = state.taking(CalibrationView, "bins", BINS_KEY)
        st.slider("Bins", 1, 100, key=BINS_KEY, on_change=take, help="The papers use 15.", width=240)
        controls.switch(view, "edges", "Bin by", EDGE_WORDS, key=EDGES_KEY, help=EDGES_HELP)
        controls.switch(view, "within", "A diagram for", WITHIN_WORDS, key=WITHIN_KEY, help=WITHIN_HELP)


@dataclass(frozen=True, slots=True)
class Named:
    """A diagram, its name, and its figures, which are None while they are computed."""

    name: str
    diagram: CalibrationDiagram
    figures: CalibrationFigures | None


def diagrams_of(run_ids: Sequence[str], view: CalibrationView) -> list[Named]:
    """All requested diagrams. Says which runs have none, and how many are not shown."""
    named = titles([run_cache.record(name) for name in run_ids])
    names = {run_id: marked(name, caveat_text(run_id)) for run_id, name in named.items()}
    entries: list[tuple[str, CalibrationDiagram]] = []
    for run_id in run_ids:
        try:
            diagrams = calibration_cache.diagrams(run_id, view.within, view.bins, view.edges)
        except HedgeError as error:
            st.info(plain(sentence(str(error))))
            continue
        entries += [(" · ".join(filter(None, [diagram.stratum, names[run_id]])), diagram) for diagram in diagrams]
    if len(entries) > MOST_DIAGRAMS:
        st.caption(
            f"Only the first {MOST_DIAGRAMS} of {len(entries)} diagrams are shown. Choose fewer runs to see the others."
        )
    shown = entries[:MOST_DIAGRAMS]
    figures = _figures(dict.fromkeys(diagram.run for _, diagram in shown), view)
    return [Named(name, diagram, figures.get((diagram.run, diagram.stratum))) for name, diagram in shown]


def _figures(run_ids: Iterable[str], view: CalibrationView) -> dict[tuple[str, str], CalibrationFigures]:
    """The figures that have arrived, by run and stratum."""
    arrivals = [arrived(calibration_cache.calibrated(name, view.within, view.bins, view.edges)) for name in run_ids]
    return {(figures.run, figures.stratum): figures for every in arrivals for figures in every or ()}


@in_place
def answer(named: Sequence[Named]) -> None:
    """Say how often each run is right when it says about 90%, and whether it is calibrated over all of its answers."""
    if len(named) > MOST_ANSWERS:
        verdicts = [entry.figures for entry in named if entry.figures]
        if len(verdicts) < len(named):
            computing("which of these are calibrated", height=ANSWER_HEIGHT)
        else:
            st.markdown(f"**{plain(verdicts_in_words(verdicts))}**")
        return
    _, names = row_names([run_cache.record(name) for name in dict.fromkeys(entry.diagram.run for entry in named)])
    lines = []
    for entry in named:
        diagram, model = entry.diagram, run_cache.record(entry.diagram.run).spec.model_name
        words, trust = _of_telling_bin(diagram)
        which = " · ".join(filter(None, [diagram.stratum, names[diagram.run].replace(model, "").strip(" ·")]))
        rest = verdict_in_words(entry.figures) if entry.figures else ""
        start = f"{plain(which)}: " if which else ""
        lines.append(f"{start}**{plain(words)}** ({plain(trust)}). {plain(rest)}")
    st.markdown("\n".join(f"- {line}" for line in lines) if len(lines) > 1 else lines[0])


def _of_telling_bin(diagram: CalibrationDiagram) -> tuple[str, str]:
    model = run_cache.record(diagram.run).spec.model_name
    return bin_in_words(diagram.reliability[telling_bin(diagram) - 1], model)


def diagrams(named: Sequence[Named]) -> None:
    """Draw the diagrams side by side. A click on a bin shows its questions below."""
    from core.reports.calibration import calibrated as frames

    every = []
    with st.container(horizontal=True, gap="medium"):
        for i, entry in enumerate(named):
            name, diagram = entry.name, entry.diagram
            bins = frames.bins_frame(diagram)
            figure = reliability_diagram(bins, name, f"reliability-{i}", telling_bin(diagram))
            key = f"diagram-{diagram.run}-{diagram.stratum}-{diagram.bins}-{diagram.by}"
            with st.container(width=PAGE_SIDE):
                st.markdown(f"**{plain(name)}**")
                if len(named) > MOST_ANSWERS:  # the answer above counts them
                    words, trust = _of_telling_bin(diagram)
                    st.caption(plain(f"{words} ({trust})."))
                figures.draw(figure, key=key, width="content", on_select=partial(_bin_clicked, key, i))
                if entry.figures is None:
                    computing("whether this can be chance", height=SAID_HEIGHT)
                else:
                    st.caption(plain(tests_in_words(entry.figures)))
            every.append(bins.assign(diagram=name))
        with st.container(key=style.BESIDE_KEY):
            st.caption(READING)
            figures.download(
                "Data of these diagrams as CSV",
                pd.concat(every, ignore_index=True),
                "reliability",
                figures.about([entry.diagram.run for entry in named]),
            )


def _bin_clicked(key: str, place: int) -> None:
    chosen = st.session_state[key].selection.get(BIN) or []
    if chosen:
        st.session_state[DIAGRAM_KEY] = place
        st.session_state[BIN_KEY] = int(chosen[0]["bin"])
        st.session_state[BIN_OPEN_KEY] = True


@in_place
def every_alpha(run_ids: Sequence[str]) -> None:
    """Show how far the coverage of the runs is from its target, a figure for each score."""
    st.subheader("Does coverage hold at every alpha?", anchor=False)
    if waits_for_paint():
        computing("the coverage at every alpha", height=EVERY_ALPHA_HEIGHT)
        return
    names = titles([run_cache.record(name) for name in run_ids])
    frames = []
    for run_id in run_ids:
        try:
            frames.append(calibration_cache.nominal_coverage(run_id).assign(name=names[run_id]))
        except HedgeError as error:
            st.info(plain(sentence(str(error))))
    if not frames:
        return
    frame = pd.concat(frames, ignore_index=True)
    long = list(dict.fromkeys(frame["name"]))
    shown = frame.assign(name=frame["name"].map(dict(zip(long, told_apart(long), strict=True))))
    with style.stacked_when_narrow("every_alpha"):
        for column, score in zip(st.columns(len(DEFAULT_SCORES), gap="medium"), DEFAULT_SCORES, strict=True):
            with column:
                figure = coverage_minus_target(shown, score)
                figures.draw(figure, key=figure.name)
    more = " The band is that of the first run." if len(names) > 1 else ""
    st.caption(
        "Coverage minus its target, 1 − alpha, in percentage points, on the test questions. The dashed line is the "
        f"target. If the guarantee holds, coverage lies in the gold band for 95% of draws at each alpha.{more}"
    )
    figures.download("Data as CSV", frame, "nominal-and-actual-coverage", figures.about(run_ids))
