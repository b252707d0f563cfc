"""The overview's tables: finished runs with their figures, unfinished ones with their state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.components.shared.runs import open_run, title
from app.formatting import plain
from charts.run_names import task_labels
from core.conformal.scores import SCORES
from core.reports.frames import overview_ties
from core.reports.report import DEFAULT_SCORES
from core.runs.store import RunRecord

OPENED_KEY = "opened_run"
SIZE_HELP = "The mean number of options in a set."
BOTH_DRAWS = "What other calibration and test questions would give on average lies in here for 95 of 100 runs."
SHOWN = {
    "task": st.column_config.TextColumn("Task", width=235, help="What is asked, and the bank of its questions."),
    "strategy": st.column_config.TextColumn("Strategy", width=75, help="How the question is put to the model."),
    "dtype": st.column_config.TextColumn("dtype", width=80),
    "form": st.column_config.TextColumn("Form", width=70, help="Letters are read, or the options' own texts (cloze)."),
    "accuracy": st.column_config.NumberColumn(
        "Accuracy", format="%.1f %%", width=85, help="The share of test questions whose top option is the truth."
    ),
    "interval": st.column_config.TextColumn("95 % interval", width=105, help="Of the accuracy (Clopper–Pearson)."),
    "lac_coverage": st.column_config.NumberColumn(
        "LAC coverage", format="%.1f %%", width=105, help="The share of LAC sets that hold the truth."
    ),
    "lac_set_size": st.column_config.NumberColumn("LAC size", format="%.2f", width=75, help=SIZE_HELP),
    "aps_coverage": st.column_config.NumberColumn(
        "APS coverage", format="%.1f %%", width=105, help="The share of APS sets that hold the truth."
    ),
    "aps_set_size": st.column_config.NumberColumn("APS size", format="%.2f", width=75, help=SIZE_HELP),
    "band": st.column_config.TextColumn(
        "Coverage band",
        width=110,
        help="The 95 % Beta-Binomial band: where the guarantee holds, coverage lies here in 95 of 100 draws.",
    ),
    "size_interval": st.column_config.TextColumn("LAC size, 95 %", width=105, help=BOTH_DRAWS),
    "lac_uacc": st.column_config.NumberColumn(
        "LAC UAcc",
        format="%.3f",
        width=85,
        help="Accuracy · √options / set size: right and sure at once; may exceed 1.",
    ),
    "aps_uacc": st.column_config.NumberColumn("APS UAcc", format="%.3f", width=85, help="The same by APS."),
    "uacc_interval": st.column_config.TextColumn("LAC UAcc, 95 %", width=115, help=BOTH_DRAWS),
    "ece_excess": st.column_config.NumberColumn(
        "ECE beyond luck",
        format="%.3f",
        width=115,
        help="How far confidence is from accuracy, in 15 bins, without what luck adds; 0 is best.",
    ),
    "ece_interval": st.column_config.TextColumn(
        "ECE beyond luck, 95 %",
        width=145,
        help="Holds the error of the model's law in these bins in at least 95 of 100 samples of questions.",
    ),
    "ece": st.column_config.NumberColumn(
        "ECE seen",
        format="%.3f",
        width=80,
        help="The ECE of these questions, with what luck adds to it.",
    ),
    "ece_luck": st.column_config.NumberColumn(
        "ECE by luck", format="%.3f", width=90, help="What a calibrated model with these confidences shows on average."
    ),
    "k": st.column_config.NumberColumn("Options", width=70),
    "n_test": st.column_config.NumberColumn("Test questions", format="localized", width=110),
}
"""Column → how it is shown, after the model."""


def ties(table: pd.DataFrame) -> None:
    """A sentence where several options of some test questions are equally and most probable."""
    if said := overview_ties(table):
        st.caption(plain(said))


def columns_of(score: str) -> dict[str, Any]:
    """The columns of a table that shows ``score`` beside LAC and APS: column → how it is shown."""
    if score in DEFAULT_SCORES:
        return SHOWN
    title = SCORES[score].title
    own = {
        f"{score}_coverage": st.column_config.NumberColumn(
            f"{title} coverage", format="%.1f %%", help=f"The share of {title} sets that hold the truth."
        ),
        f"{score}_set_size": st.column_config.NumberColumn(f"{title} size", format="%.2f", help=SIZE_HELP),
        f"{score}_uacc": st.column_config.NumberColumn(f"{title} UAcc", format="%.3f", help=f"The same by {title}."),
    }
    before = list(SHOWN)[: list(SHOWN).index("lac_coverage")]
    return {name: SHOWN[name] for name in before} | own | {name: of for name, of in SHOWN.items() if name not in before}


def finished_runs(table: pd.DataFrame, score: str) -> None:
    """The overview frame as a table; a click on a model's name, or Shift and space, opens its run."""
    columns = columns_of(score)
    shown = table.assign(
        task=task_labels(table),
        accuracy=100 * table["accuracy"],
        **{name: 100 * table[name] for name in columns if name.endswith("_coverage")},
        interval=[_span(*ends) for ends in zip(table["accuracy_low"], table["accuracy_high"], strict=True)],
        size_interval=_ends(table["lac_set_size_low"], table["lac_set_size_high"], 2),
        uacc_interval=_ends(table["lac_uacc_low"], table["lac_uacc_high"], 3),
        ece_interval=_ends(table["ece_low"], table["ece_high"], 3),
        band=[_span(*ends) for ends in zip(table["lac_coverage_low"], table["lac_coverage_high"], strict=True)],
    )
    model = st.column_config.ButtonColumn(
        "Model",
        width=150,
        pinned=True,
        alignment="left",
        type="tertiary",
        key=OPENED_KEY,
        on_click=_open,
        args=(table["run"].tolist(),),
    )
    event = st.dataframe(
        shown,
        column_order=["model", *columns],
        column_config={"model": model, **columns},
        hide_index=True,
        on_select="rerun",  # the way for the keyboard, which can't press a button in a cell
        selection_mode="single-row",
        key="finished_runs",
        alt="Finished runs with accuracy, coverage and set size",
    )
    if event.selection.rows:
        open_run(str(table["run"].iloc[event.selection.rows[0]]))


def _open(run_ids: list[str]) -> None:
    open_run(run_ids[st.session_state[OPENED_KEY].row])


def unfinished_runs(records: Sequence[RunRecord]) -> None:
    """Runs without figures, and why."""
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
    return [f"{a:.{digits}f}–{b:.{digits}f}" if a == a else "–" for a, b in zip(low, high, strict=True)]


def _span(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f} %"
