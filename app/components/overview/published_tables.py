"""What stands beside the overview's figure: models alike and yet unlike, and figures that others have published."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.components.shared import figures
from app.formatting import plain
from charts.run_names import task_titles
from core.reports.overview.published import SOURCES, published
from core.reports.overview.similar_accuracy import alike
from core.runs.banks import task_title

SHOWN_PAIRS = 3
SEARCHED = (
    "Such pairs are searched for among all runs above, and those that differ most come first; the same pairs may "
    "differ less on new questions."
)


def alike_models(table: pd.DataFrame, score: str) -> None:
    """The pairs that are right about equally often and yet differ most in certainty, in a sentence each."""
    pairs = alike(table, score)
    for pair in pairs[:SHOWN_PAIRS]:
        st.markdown(
            plain(
                f"Alike in accuracy, unlike in certainty, on {task_title(pair.task, pair.bank)}: {pair.surer_model} is "
                f"right on {pair.accuracies[0]:.1%} with {pair.sizes[0]:.2f} options a set, {pair.other_model} on "
                f"{pair.accuracies[1]:.1%} with {pair.sizes[1]:.2f}."
            )
        )
    if pairs:
        st.caption(SEARCHED)


def published_tables(table: pd.DataFrame, score: str) -> None:
    """Published figures, marked as such, with our own of the same tasks below them."""
    for name, source in SOURCES.items():
        found = published(name)
        st.markdown(plain(f"{source.title}, published ({source.printed})"))
        st.caption(plain(source.note))
        shown = found[["source", "model", "task", "bank", "accuracy", "mean_set_size"]]
        if not table.empty:
            own = table.assign(source="here", mean_set_size=table[f"{score}_set_size"])
            own = own[own["task"].isin(set(found["task"]))]
            shown = pd.concat([shown, own[list(shown.columns)]], ignore_index=True)
        shown = shown.assign(task=task_titles(shown))
        st.dataframe(
            shown.sort_values(["task", "accuracy"], ascending=[True, False], ignore_index=True),
            hide_index=True,
            column_order=["source", "model", "task", "accuracy", "mean_set_size"],
            height=300,
            column_config={
                "source": "From",
                "model": "Model",
                "task": "Task",
                "accuracy": st.column_config.NumberColumn("Accuracy", format="percent"),
                "mean_set_size": st.column_config.NumberColumn("Set size", format="%.2f", help="Empty: not printed."),
            },
            alt=f"Figures published by {source.title} beside those of runs here",
        )
        figures.download(f"{source.title} as CSV", found, f"published-{name}")
