"""Charts and tables on a page, each with a download of its data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st
from altair.utils import schemapi
from plotly.graph_objects import Figure as PlotlyFigure

from app.caches import run_cache
from app.formatting import counted
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


def _in_words(row: Mapping[Hashable, Any]) -> dict[str, str]:
    """A row of :func:`core.reports.frames.score_table` as a person reads it: titles and values."""
    shares = {name: f"{row[name]:.1%}" for name in ("coverage", "coverage_low", "coverage_high", "empty_rate")}
    sizes = {int(str(name).removeprefix("size_")): row[name] for name in row if str(name).startswith("size_")}
    return {
        "alpha": f"{row['alpha']:.3f}",
        "Threshold": f"{row['threshold']:.4f}",
        "Coverage": shares["coverage"],
        "Coverage band (95% of draws if the guarantee holds)": f"{shares['coverage_low']} to {shares['coverage_high']}",
        "Chance of coverage this low if the guarantee holds (p)": f"{row['p_value']:.3f}",
        "Mean set size (95% interval)": (
            f"{row['mean_set_size']:.2f} ({row['mean_set_size_low']:.2f} to {row['mean_set_size_high']:.2f})"
        ),
        "Empty sets": shares["empty_rate"],
        "UAcc (95% interval)": f"{row['uacc']:.3f} ({row['uacc_low']:.3f} to {row['uacc_high']:.3f})",
        **{f"Sets with {counted(size, 'option')}": f"{number:,}" for size, number in sorted(sizes.items())},
    }


def report_table(compute: Callable[[], Report]) -> None:
    """Show a report's figures as ``python -m core report`` prints them. Folded away, and not computed until opened."""
    with st.expander("All figures at this alpha, computed in Python", key=REPORT_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        run = compute()
        table = frames.score_table(run)
        shown = {SCORES[row["score"]].title: _in_words(row) for row in table.to_dict("records")}
        st.dataframe(
            pd.DataFrame(shown),
            height="content",
            column_config={"_index": st.column_config.TextColumn("Figure")},
            alt="All figures of the run for each score",
        )
        for note in dict.fromkeys([*run.notes, *(note for figures in run.scores.values() for note in figures.notes)]):
            st.caption(note)
        download("Download as CSV", table, "figures", about([run.run], round(run.alpha * 1000)))
