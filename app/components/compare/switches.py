"""The switches of Compare, in one row below the figure: alpha, the score, and what few people need."""

import pandas as pd
import streamlit as st

from app.caches import run_cache
from app.components.compare import published_filter
from app.components.shared import controls, downloads
from app.state.compare import CompareView
from core.reports.compare.run_matrix import RunMatrix, pairs_frame


def show(view: CompareView, rows: pd.DataFrame, matrix: RunMatrix | None) -> None:
    """Show the switches. ``rows`` and ``matrix`` are what the downloads hold; there may be no matrix (yet)."""
    left, middle, right = st.columns([2.6, 1, 1], vertical_alignment="bottom")
    with left:
        controls.alpha_slider(view)
    with middle:
        controls.score_choice(view, [run_cache.record(run_id) for run_id in dict.fromkeys(rows["run"])])
    with right, st.popover("More", icon=":material/tune:", help="Published figures, and the numbers as CSV"):
        published_filter.show(view)
        about = downloads.about(rows["run"].tolist(), view.alpha)
        downloads.download("Figures as CSV", rows, "compared-runs", about)
        if matrix is not None:
            downloads.download("Pairs as CSV", pairs_frame(matrix), "pairs", downloads.about(matrix.runs, view.alpha))
