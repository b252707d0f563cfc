"""Charts and tables on a page, each with a download of its data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import pandas as pd
import streamlit as st
from altair.utils import schemapi
from plotly.graph_objects import Figure as PlotlyFigure

from app.caches import run_cache
from charts.figure import Figure
from core.conformal.scores import SCORES
from core.reports import frames
from core.reports.file_names import About, about_runs
from core.reports.report import Report
from core.runs.banks import bank_name

# Altair would validate every axis, scale and mark as it is made, which takes most of a chart's time. The tests of the
# pages validate each whole chart instead (tests/pages/conftest.py).
schemapi.disable_debug_mode()

REPORT_KEY = "report_open"
NO_TOOLBAR = {"displayModeBar": False}
"""Plotly's own buttons would cover the names above a heat map."""


def about(runs: Sequence[str], alpha: int | None = None) -> About:
    """What a download is about: these runs, at alpha in thousandths if its figures depend on it."""
    records = [run_cache.record(run_id) for run_id in dict.fromkeys(runs)]
    return about_runs([(record.spec, bank_name(record.spec, record.provenance)) for record in records], alpha=alpha)


def show(figure: Figure, explanation: str, about: About) -> None:
    """Show a chart with a caption and a download of its data, which is named for what it is ``about``."""
    draw(figure, key=figure.name)
    # In a narrow window the button goes below the caption, which would otherwise be a column of single words.
    with st.container(horizontal=True, gap="medium"):
        st.caption(explanation, width="stretch")
        download("Data as CSV", figure.frame, figure.name, about)


def draw(
    figure: Figure,
    *,
    key: str,
    width: Literal["stretch", "content"] = "stretch",
    on_select: Callable[[], None] | Literal["ignore"] = "ignore",
) -> None:
    """Show only a chart. ``on_select`` is called if a click selects something that the chart's parameters name."""
    if isinstance(figure.chart, PlotlyFigure):
        st.plotly_chart(figure.chart, key=key, alt=figure.alt, width=width, config=NO_TOOLBAR)
    else:
        st.vega_lite_chart(figure.page_spec(), key=key, alt=figure.alt, width=width, on_select=on_select)


def download(label: str, frame: pd.DataFrame, name: str, about: About) -> None:
    """Show a button that saves a frame as CSV. The file is made when a person clicks it, and named for what it holds
    (``name``) and what it is ``about``.
    """
    st.download_button(
        label,
        data=lambda: frame.to_csv(index=False).encode(),
        file_name=about.file_name(name, "csv"),
        mime="text/csv",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        key=f"download-{name}",
    )


def report_table(compute: Callable[[], Report]) -> None:
    """Show a report's figures as ``python -m core report`` prints them. Folded away, and not computed until opened."""
    with st.expander("All figures at this alpha, computed in Python", key=REPORT_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        run = compute()
        table = frames.score_table(run)
        st.dataframe(
            table.set_index("score").T.rename(columns=lambda name: SCORES[name].title).rename_axis("figure"),
            height="content",
            column_config={"_index": st.column_config.TextColumn("Figure")},
        )
        for note in dict.fromkeys([*run.notes, *(note for figures in run.scores.values() for note in figures.notes)]):
            st.caption(note)
        download("Download as CSV", table, "figures", about([run.run], round(run.alpha * 1000)))
