"""The Overview's tables: finished runs with their figures, unfinished ones with their state."""

import hashlib
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app import navigation, state
from app.components.shared.caveat_notes import footnote_caption
from app.components.shared.runs import open_run, title
from app.formatting import counted
from app.state.calibration import CalibrationView
from app.state.compare import CompareView
from app.state.fields import MOST_COMPARED
from charts.run_names import full_names, task_titles
from core.conformal.scores import SCORES
from core.reports.caveats import marked
from core.reports.report import DEFAULT_SCORES
from core.reports.titles import setting_title
from core.reports.toy_models import marked_toy
from core.runs.caveats import COLUMN
from core.runs.store import RunRecord

SIZE_HELP = "The mean number of options in a set."
BOTH_DRAWS = "For 95 of 100 runs, this interval holds the average over other draws of calibration and test questions."


def _text(title: str, width: int, help: str | None = None) -> Any:
    return st.column_config.TextColumn(title, width=width, help=help)


def _number(title: str, format: str, width: int | None, help: str | None = None) -> Any:
    return st.column_config.NumberColumn(title, format=format, width=width, help=help)


def _of_score(score: str, widths: tuple[int | None, int | None] = (None, None)) -> dict[str, Any]:
    """Coverage and set size for a score."""
    title = SCORES[score].title
    sentence = f"The share of {title} sets that hold the truth."
    return {
        f"{score}_coverage": _number(f"{title} coverage", "%.1f%%", widths[0], sentence),
        f"{score}_set_size": _number(f"{title} size", "%.2f", widths[1], SIZE_HELP),
    }


SHOWN = {
    "task": _text("Task", 180, "What is asked, and where the questions come from."),
    "strategy": _text("Prompt", 125, "What the prompt says before the question."),
    "shots": _number("Shots", "%d", 60, "How many worked examples stand before the question."),
    "form": _text("Answers", 80, "By an option's letter, or by how likely each option's text is."),
    "dtype": _text("Precision", 100, "The size of the numbers that the model computes with."),
    "accuracy": _number("Accuracy", "%.1f%%", 85, "The share of test questions whose top option is the truth."),
    "interval": _text("95% interval", 115, "The 95% interval of the accuracy (Clopper–Pearson)."),
    **_of_score("lac", (105, 75)),
    **_of_score("aps", (105, 75)),
    "band": _text(
        "Coverage band",
        120,
        "The 95% band: if the guarantee holds, coverage lies in it for 95% of draws.",
    ),
    "size_interval": _text("LAC size, 95%", 105, BOTH_DRAWS),
    "lac_uacc": _number(
        "LAC UAcc", "%.3f", 85, "Accuracy · √options / set size. Higher is better, and it can exceed 1."
    ),
    "aps_uacc": _number("APS UAcc", "%.3f", 85, "UAcc with the sizes of APS sets."),
    "uacc_interval": _text("LAC UAcc, 95%", 115, BOTH_DRAWS),
    "ece_excess": _number(
        "ECE beyond chance",
        "%.3f",
        115,
        "How far confidence is from accuracy, in 15 bins, without what chance adds; 0 is best.",
    ),
    "ece_interval": _text(
        "ECE beyond chance, 95%",
        145,
        "In at least 95 of 100 samples of questions, this interval holds the model's true error in these bins.",
    ),
    "ece": _number("ECE seen", "%.3f", 80, "The ECE of these questions, with what chance adds to it."),
    "ece_luck": _number("ECE by chance", "%.3f", 90, "What a calibrated model of these confidences shows on average."),
    "k": st.column_config.NumberColumn("Options", width=70),
    "n_test": _number("Test questions", "localized", 110),
}
"""Maps each column after the model to its column configuration."""


def caveats(table: pd.DataFrame) -> None:
    """Show what the marks of an overview frame's runs mean."""
    footnote_caption(zip(full_names(table.drop(columns=COLUMN)), table[COLUMN], strict=True))


def columns_of(score: str) -> dict[str, Any]:
    """The columns of a table that shows ``score`` beside LAC and APS: a map from column to column configuration."""
    if score in DEFAULT_SCORES:
        return SHOWN
    title = SCORES[score].title
    own = _of_score(score) | {f"{score}_uacc": _number(f"{title} UAcc", "%.3f", None, f"The same by {title}.")}
    before = list(SHOWN)[: list(SHOWN).index("lac_coverage")]
    return (
        {name: SHOWN[name] for name in before}
        | own
        | {name: column for name, column in SHOWN.items() if name not in before}
    )


@st.fragment
def grouped_runs(table: pd.DataFrame, leads: pd.Series, score: str, *, without: Sequence[str] = ()) -> None:
    """Show one run for each model and task, and the others in a folded table, with buttons that open the runs
    that a person ticks.

    ``leads`` says which rows of the frame are shown first; the columns ``without`` are left out. The table is a
    fragment: a tick does not run the page again.
    """
    above = st.container(horizontal=True, vertical_alignment="center", gap="small")
    ticked = finished_runs(table[leads].reset_index(drop=True), score, without=without)
    others = table[~leads].reset_index(drop=True)
    if not others.empty:
        words = counted(len(others), "more run") + " of these models and tasks, with other settings"
        with st.expander(words, key="other_runs_open", on_change="rerun") as folded:
            if folded.open:
                ticked += finished_runs(others, score, key="other_runs", without=without)
    with above:
        _open_ticked(ticked)


def _open_ticked(run_ids: Sequence[str]) -> None:
    """Show buttons that open the ticked runs on the pages that show several runs. They are shown before a run is
    ticked, too, so that the table does not move.
    """
    words = {0: "the chosen runs", 1: "the chosen run"}.get(len(run_ids), f"the {len(run_ids)} chosen runs")
    off, runs = not 0 < len(run_ids) <= MOST_COMPARED, ",".join(run_ids)
    if st.button(f"Compare {words}", key="ticked_compare", disabled=off):
        navigation.go(navigation.COMPARE, **state.address_of(state.fresh(CompareView, runs=runs)))
    if st.button(f"Calibration of {words}", key="ticked_calibration", disabled=off):
        navigation.go(navigation.CALIBRATION, **state.address_of(state.fresh(CalibrationView, runs=runs)))
    if not run_ids:
        st.caption("Tick runs to open them. A click on a model opens it in the Alpha lab.", width="content")
    elif len(run_ids) == 1:
        if st.button("Open in the Alpha lab", key="ticked_alpha_lab"):
            open_run(run_ids[0])
    elif off:
        st.caption(f"At most {MOST_COMPARED} runs can be compared. Untick some.", width="content")


def finished_runs(
    table: pd.DataFrame, score: str, *, key: str = "finished_runs", without: Sequence[str] = ()
) -> list[str]:
    """Show the overview frame as a table without some columns, and return the ids of the runs that are ticked. A click
    on a model's name opens its run.
    """
    columns = {name: column for name, column in columns_of(score).items() if name not in without}
    settings = {name: [setting_title(name, value) for value in table[name]] for name in ("strategy", "form", "dtype")}
    shown = table.assign(
        task=task_titles(table),
        model=[marked(marked_toy(model), mark) for model, mark in zip(table["model"], table[COLUMN], strict=True)],
        accuracy=100 * table["accuracy"],
        **settings,
        **{name: 100 * table[name] for name in columns if name.endswith("_coverage")},
        interval=[_span(*ends) for ends in zip(table["accuracy_low"], table["accuracy_high"], strict=True)],
        size_interval=_ends(table["lac_set_size_low"], table["lac_set_size_high"], 2),
        uacc_interval=_ends(table["lac_uacc_low"], table["lac_uacc_high"], 3),
        ece_interval=_ends(table["ece_low"], table["ece_high"], 3),
        band=[_span(*ends) for ends in zip(table["lac_coverage_low"], table["lac_coverage_high"], strict=True)],
    )
    run_ids = [str(run_id) for run_id in table["run"]]
    opened_key = f"opened_{key}"
    model = st.column_config.ButtonColumn(
        "Model",
        width=240 if table["model"].str.contains(" · ").any() else 135,  # a name with its weights
        pinned=True,
        alignment="left",
        type="tertiary",
        key=opened_key,
        on_click=_open,
        args=(opened_key, run_ids),
    )
    event = st.dataframe(
        shown,
        column_order=["model", *columns],
        column_config={"model": model, **columns},
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        # A tick is remembered by its row, so tables with other rows have other ticks.
        key=f"{key}_{_digest(run_ids)}",
        alt="Finished runs with accuracy, coverage and set size",
    )
    return [run_ids[row] for row in event.selection.rows if row < len(run_ids)]


def _digest(run_ids: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(run_ids).encode()).hexdigest()[:12]


def _open(key: str, run_ids: list[str]) -> None:
    open_run(run_ids[st.session_state[key].row])


def unfinished_runs(records: Sequence[RunRecord]) -> None:
    """Show the runs without figures, and why they have none."""
    st.dataframe(
        pd.DataFrame(
            {
                "Run": [title(r) for r in records],
                "State": [r.state for r in records],
                "Why": [r.message for r in records],
            }
        ),
        hide_index=True,
        column_config={"Why": st.column_config.TextColumn(width="large")},
        alt="Runs that have not ended well, with their state",
    )


def _ends(low: pd.Series, high: pd.Series, digits: int) -> list[str]:
    return [f"{a:.{digits}f} to {b:.{digits}f}" if a == a else "–" for a, b in zip(low, high, strict=True)]


def _span(low: float, high: float) -> str:
    return f"{100 * low:.1f} to {100 * high:.1f}%"
