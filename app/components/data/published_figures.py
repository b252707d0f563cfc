"""The figures that the authors of a result set of the shelf printed, as a table with those of runs here."""

import pandas as pd
import streamlit as st

from app.caches import overview_cache, run_cache
from app.components.shared import figures
from app.formatting import plain
from app.state.data import DataView
from charts.run_names import task_titles
from core.reports.file_names import About
from core.reports.overview.published import SOURCES, published
from core.reports.run_filter import SETTINGS, RunFilter, resolved
from core.reports.toy_models import marked_toy

HEIGHT = 316
"""In pixels. The last visible row is cut in half, which shows that there are more rows."""
NOT_PRINTED = "A dash means that the source does not print this figure."


def published_figures(shelf: str, view: DataView) -> None:
    """Show, folded, the figures that are published of a result set; nothing if Hedge has none of them."""
    for name, source in SOURCES.items():
        if source.shelf == shelf:
            with st.expander("Published figures", key=f"published_{name}", on_change="rerun") as folded:
                if folded.open:
                    _table(name, view)


def _table(name: str, view: DataView) -> None:
    """Show the figures of a published table, and below each task those of runs here with the usual settings."""
    source, results = SOURCES[name], published(name)
    finished = run_cache.runs().finished
    usual = resolved(RunFilter(), SETTINGS, finished)
    table, _ = overview_cache.overview([record for record in finished if usual.keeps(record)], view.alpha, view.score)
    shown = results[["source", "model", "task", "bank", "accuracy", "mean_set_size"]]
    if not table.empty:
        own = table.assign(source="computed here", mean_set_size=table[f"{view.score}_set_size"])
        own = own[own["task"].isin(set(results["task"]))]
        shown = pd.concat([shown, own[list(shown.columns)]], ignore_index=True)
    names = [marked_toy(model) for model in shown["model"]]
    shown = shown.assign(model=names, task=task_titles(shown), accuracy=100 * shown["accuracy"])
    words = f"Published by {source.title} ({source.printed}). {source.note}"
    st.caption(plain(f"{words} {len(shown)} rows: scroll to see all of them."))
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
