"""The published claims, tested on the chosen runs or on a published table."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from app.components.shared import figures
from app.formatting import plain
from charts.claim import claim
from core.reports.compare import claims
from core.reports.compare.claims import PublishedClaim
from core.reports.overview import published


def published_claims(rows: pd.DataFrame, score: str) -> None:
    """Show the three claims, tested on the chosen runs or on a published table."""
    tables = {"runs": "The chosen runs", "ye-2024": "Figures of Ye et al. 2024, as published"}
    which = st.segmented_control(
        "Tested on", list(tables), format_func=tables.__getitem__, default="runs", required=True, key="claims_on"
    )
    table = rows[rows["score"] == score] if which == "runs" else published.published(which)
    st.caption(
        "Certainty is the mean set size. A model counts once, with its mean over the sets of questions on which all of "
        "these models were tested. A verdict needs a 95% interval that leaves 0 out and a p below 0.05. A correlation "
        "does not contradict what only “may” be: there can be no general tendency and yet an instance. The intervals "
        "treat the models as independent draws, which models of one family are not quite. "
        "With eight models or fewer they are a little wide: they hold the truth in 95 to 98 of 100 draws."
    )
    columns = st.columns(3)
    for column, made in zip(columns, claims.claims(table), strict=True):
        with column:
            _claim(made, which)


def _claim(made: PublishedClaim, which: str) -> None:
    st.markdown(f"“{made.statement}”")
    st.markdown(f"**{plain(made.verdict[:1].upper() + made.verdict[1:])}**")
    if math.isnan(made.figure):
        st.caption(plain(f"{made.measure}: nothing to compute it from."))
        return
    interval = f" ({made.low:+.2f} to {made.high:+.2f})" if math.isfinite(made.low) else ""
    p = "" if math.isnan(made.p_value) else f", p {made.p_value:.2g}"
    st.caption(plain(f"{made.measure}: {made.figure:+.2f}{interval}{p}, n = {made.n}."))
    if made.instance:
        st.caption(plain(made.instance))
    x_title = {"accuracy": "Accuracy", "scale": "Parameters", "tuning": "Mean set size of the base model"}[made.name]
    figure = claim(
        made.points, f"{made.name}-{which}", x_title, log=made.name == "scale", diagonal=made.name == "tuning"
    )
    figures.show(
        figure,
        {"tuning": "Above the line tuning made sets larger."}.get(made.name, "A mark is a model; a hover names it."),
    )
