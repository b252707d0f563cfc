"""The Alpha lab of a run whose server did not list all letters: every figure lies between two ends."""

from typing import Any

import pandas as pd
import streamlit as st

from app import navigation
from app.caches import bounded_cache, run_cache
from app.components.shared import controls, ranges
from app.components.shared.figures import about, download
from app.formatting import PERCENT, in_percent
from app.state.alpha_lab import AlphaLabView
from core.conformal.scores import SCORES
from core.reports.bounded import report_frame
from core.runs.store import RunRecord

LEFT_OUT = (
    "All questions have one threshold here, and the split is the run's own. RAPS and SAPS have their default "
    "parameters. Tuning them, redrawing the split, the shift between subjects, calibration and comparisons need the "
    "probability of every letter. A server that lists more tokens, or that scores texts, gives all of them."
)


def bounded_lab(record: RunRecord, view: AlphaLabView) -> None:
    """Show coverage, set size and the share of sets that are known exactly, at every alpha."""
    run = record.run_id
    left, right = st.columns(2, gap="medium")
    with left:
        controls.score_of(view, "left", "Score on the left", record)
    with right:
        controls.score_of(view, "right", "Score on the right", record)
    shown = (view.left, view.right)
    scores = tuple(dict.fromkeys(shown))
    ranges.lab_ranges(
        bounded_cache.bounded_run(run, scores),
        bounded_cache.curves(run, scores),
        shown,
        version=run_cache.version(run),
        view=view,
    )
    navigation.link(navigation.ONE_QUESTION, "See single questions of this run", run=run)
    st.caption(LEFT_OUT)
    with st.expander("The figures at this alpha"):
        frame = report_frame(bounded_cache.bounded_report(run, view.alpha, scores))
        _table(frame)
        download("Download these ranges as CSV", frame, "ranges", about([run], view.alpha))


def _table(frame: pd.DataFrame) -> None:
    shares = [name for name in map(str, frame) if name.startswith(("exact_share", "accuracy", "coverage"))]
    shown = in_percent(frame, shares).assign(score=[SCORES[name].title for name in frame["score"]])
    st.dataframe(shown, hide_index=True, height="content", column_config=_COLUMNS, alt="Both ends of each figure")


_COLUMNS: dict[str, Any] = {
    "score": "Score",
    "exact_share": st.column_config.NumberColumn("Known exactly", format=PERCENT),
    **{
        f"{figure}_{end}": st.column_config.NumberColumn(f"{title}, {words}", format=format)
        for figure, title, format in (
            ("accuracy", "Accuracy", PERCENT),
            ("coverage", "Coverage", PERCENT),
            ("set_size", "Set size", "%.2f"),
            ("threshold", "Threshold", "%.4f"),
        )
        for end, words in (("low", "at least"), ("high", "at most"))
    },
}
