"""What the Overview shows next to its figure: models of similar accuracy that differ, and published figures."""

import pandas as pd
import streamlit as st

from app.components.shared import figures
from app.formatting import plain
from charts.run_names import task_titles
from core.questions.bank_names import task_title
from core.reports.file_names import About
from core.reports.overview.published import SOURCES, published
from core.reports.overview.similar_accuracy import alike

SHOWN_PAIRS = 3
HEIGHT = 316
"""In pixels. The last visible row is cut in half, which shows that there are more rows."""
SEARCHED = (
    "These pairs were found by a search among all runs shown, and those that differ most come first. On new questions "
    "they may differ less."
)


NOT_PRINTED = "A dash means that the source does not print this figure."


def alike_models(table: pd.DataFrame, score: str) -> None:
    """Show pairs of similar accuracy whose certainty differs most, one sentence per pair."""
    pairs = alike(table, score)
    for pair in pairs[:SHOWN_PAIRS]:
        st.markdown(
            plain(
                f"On {task_title(pair.task, pair.bank)}, {pair.surer_model} and {pair.other_model} are right about "
                f"equally often ({_percent(pair.accuracies[0])} and {_percent(pair.accuracies[1])}), but "
                f"{pair.surer_model} needs {pair.sizes[0]:.2f} options per question and {pair.other_model} "
                f"{pair.sizes[1]:.2f}."
            )
        )
    if pairs:
        st.caption(SEARCHED)


def published_tables(table: pd.DataFrame, score: str) -> None:
    """Show published figures, marked as such, with our own figures of the same tasks below them."""
    for name, source in SOURCES.items():
        results = published(name)
        st.markdown(plain(f"{source.title}, published ({source.printed})"))
        place = st.empty()
        shown = results[["source", "model", "task", "bank", "accuracy", "mean_set_size"]]
        if not table.empty:
            own = table.assign(source="computed here", mean_set_size=table[f"{score}_set_size"])
            own = own[own["task"].isin(set(results["task"]))]
            shown = pd.concat([shown, own[list(shown.columns)]], ignore_index=True)
        shown = shown.assign(task=task_titles(shown), accuracy=100 * shown["accuracy"])
        place.caption(plain(f"{source.note} {len(shown)} rows: scroll in the table to see all of them."))
        st.dataframe(
            shown.sort_values(["task", "accuracy"], ascending=[True, False], ignore_index=True),
            placeholder="–",
            hide_index=True,
            column_order=["model", "accuracy", "mean_set_size", "task", "source"],
            height=HEIGHT,
            column_config={
                "source": "From",
                "model": st.column_config.TextColumn("Model", width=140),
                "task": "Task",
                "accuracy": st.column_config.NumberColumn("Accuracy", format="%.1f%%", width=80),
                "mean_set_size": st.column_config.NumberColumn("Set size", format="%.2f", help=NOT_PRINTED, width=80),
            },
            alt=f"Figures published by {source.title} beside those of runs here",
        )
        about = About(results["model"].unique().tolist(), results["task"].unique().tolist())
        figures.download(f"{source.title} as CSV", results, f"published-{name}", about)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
