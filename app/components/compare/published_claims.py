"""The published claims, tested on the chosen runs or on a published table."""

from __future__ import annotations

import math

import streamlit as st

from app.caches import compare_cache
from app.components.shared import figures
from app.formatting import plain
from charts.claim import claim
from core.reports.compare.benchmark import SetRule
from core.reports.compare.claims import PublishedClaim
from core.reports.file_names import About


def published_claims(run_ids: tuple[str, ...], rule: SetRule, score: str) -> None:
    """Show the three claims, tested on the chosen runs or on a published table."""
    tables = {"runs": "The chosen runs", "ye-2024": "Figures of Ye et al. 2024, as published"}
    which = st.segmented_control(
        "Tested on", list(tables), format_func=tables.__getitem__, default="runs", required=True, key="claims_on"
    )
    about = figures.about(run_ids, rule.alpha) if which == "runs" else About()
    found = compare_cache.claims(run_ids, rule, score) if which == "runs" else compare_cache.published_claims(which)
    st.caption(
        "Certainty is measured by the mean set size. Each model counts once, with its mean over the sets of "
        "questions on which all of these models were tested. A verdict needs a 95% interval without 0 and a "
        "p-value below 0.05. A claim that something “may” happen is not contradicted by a correlation: a "
        "single instance can exist without a general tendency. The intervals treat the models as independent "
        "draws, which is not quite true for models of one family. With eight models or fewer, the intervals "
        "are a little wide: they hold the true value in 95 to 98 of 100 draws."
    )
    columns = st.columns(3)
    for column, made in zip(columns, found, strict=True):
        with column:
            _claim(made, which, about)


def _claim(made: PublishedClaim, which: str, about: About) -> None:
    st.markdown(f"“{made.statement}”")
    st.markdown(f"**{plain(made.verdict[:1].upper() + made.verdict[1:])}**")
    if math.isnan(made.figure):
        st.caption(plain(f"{made.measure}: there is nothing to compute it from."))
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
        {"tuning": "Above the line, tuning made the sets larger."}.get(
            made.name, "Each mark is a model. Hover over it to see the name."
        ),
        about,
    )
