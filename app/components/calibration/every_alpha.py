"""How far coverage is from its target, at every alpha."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import style
from app.caches import run_cache
from app.components.calibration import calibration_cache
from app.components.shared import figures
from app.components.shared.runs import titles
from app.formatting import plain, sentence
from charts.nominal_coverage import coverage_minus_target
from charts.run_names import told_apart
from core.errors import HedgeError
from core.reports.report import DEFAULT_SCORES


def every_alpha(run_ids: Sequence[str]) -> None:
    """Show how far the coverage of the runs is from its target, a figure for each score."""
    st.subheader("Does coverage hold at every alpha?", anchor=False)
    names = titles([run_cache.record(name) for name in run_ids])
    frames = []
    for run_id in run_ids:
        try:
            frames.append(calibration_cache.nominal_coverage(run_id).assign(name=names[run_id]))
        except HedgeError as error:
            st.info(plain(sentence(str(error))))
    if not frames:
        return
    frame = pd.concat(frames, ignore_index=True)
    long = list(dict.fromkeys(frame["name"]))
    shown = frame.assign(name=frame["name"].map(dict(zip(long, told_apart(long), strict=True))))
    with style.stacked_when_narrow("every_alpha"):
        for column, score in zip(st.columns(len(DEFAULT_SCORES), gap="medium"), DEFAULT_SCORES, strict=True):
            with column:
                figure = coverage_minus_target(shown, score)
                figures.draw(figure, key=figure.name)
    more = " The band is that of the first run." if len(names) > 1 else ""
    st.caption(
        "Coverage minus its target, 1 − alpha, in percentage points, on the test questions. The dashed line is the "
        f"target. If the guarantee holds, coverage lies in the gold band for 95% of draws at each alpha.{more}"
    )
    figures.download("Data as CSV", frame, "nominal-and-actual-coverage", figures.about(run_ids))
