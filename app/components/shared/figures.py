"""Charts and tables on a page, each with a download of its data."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal

import pandas as pd
import streamlit as st
from altair.utils import schemapi

from app.components.shared.downloads import about as about
from app.components.shared.downloads import download as download
from app.components.shared.static_table import static_table
from app.formatting import counted
from charts.figure import Figure
from core.conformal.scores import SCORES
from core.estimates import interval_text
from core.reports import frames
from core.reports.file_names import About
from core.reports.p_values import p_text
from core.reports.report import Report
from core.reports.thresholds import threshold_text

# Altair would validate every axis, scale and mark as it is made, which takes most of a chart's time. The tests of the
# pages validate each whole chart instead (tests/pages/conftest.py).
schemapi.disable_debug_mode()

REPORT_KEY = "report_open"


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
    spec: dict[str, Any] | None = None,
) -> None:
    """Show only a chart. ``on_select`` is called if a click selects something that the chart's parameters name.
    ``spec`` is its :meth:`~charts.figure.Figure.page_spec`, if it has been made before.
    """
    st.vega_lite_chart(spec or figure.page_spec(), key=key, alt=figure.alt, width=width, on_select=on_select)


def _in_words(row: Mapping[Hashable, Any]) -> dict[str, str]:
    """A row of :func:`core.reports.frames.score_table` as a person reads it: titles and values."""
    shares = {name: f"{row[name]:.1%}" for name in ("coverage", "coverage_low", "coverage_high", "empty_rate")}
    sizes = {int(str(name).removeprefix("size_")): row[name] for name in row if str(name).startswith("size_")}
    return {
        "alpha": f"{row['alpha']:g}",
        "Threshold": threshold_text(row["threshold"]),
        "Coverage": shares["coverage"],
        "Coverage band (95%)": f"{shares['coverage_low']} to {shares['coverage_high']}",
        "p-value of coverage this low": p_text(row["p_value"]),
        "Mean set size (95% interval)": (
            f"{row['mean_set_size']:.2f} "
            f"({interval_text(row['mean_set_size_low'], row['mean_set_size_high'], digits=2)})"
        ),
        "Empty sets": shares["empty_rate"],
        "UAcc (95% interval)": f"{row['uacc']:.3f} ({interval_text(row['uacc_low'], row['uacc_high'])})",
        **{f"Sets with {counted(size, 'option')}": f"{number:,}" for size, number in sorted(sizes.items())},
    }


def report_table(compute: Callable[[], Report]) -> None:
    """Show a report's figures as ``hedge report`` prints them. Folded away, and not computed until opened."""
    with st.expander("All figures at this alpha, computed in Python", key=REPORT_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        run = compute()
        table = frames.score_table(run)
        shown = {SCORES[row["score"]].title: _in_words(row) for row in table.to_dict("records")}
        lines = pd.DataFrame(shown).rename_axis("Figure").reset_index()
        static_table(lines, alt="All figures of the run for each score")
        st.caption(
            "If the guarantee holds, coverage lies in the band in 95% of draws, and it is this low or lower with the "
            "frequency of the p-value."
        )
        for note in dict.fromkeys([*run.notes, *(note for figures in run.scores.values() for note in figures.notes)]):
            st.caption(note)
        download("Download as CSV", table, "figures", about([run.run], round(run.alpha * 1000)))
