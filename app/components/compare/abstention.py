"""What is right where a model may say nothing: risk, coverage and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.caches import run_cache
from app.components.shared import figures
from app.state.compare import CompareView
from charts.abstention_cost import abstention_cost
from charts.figure_files import risk_frame
from charts.risk_curves import risk_curves
from charts.run_names import full_names
from core.reports.compare import selective


def abstaining(run_ids: Sequence[str], rows: pd.DataFrame, view: CompareView) -> None:
    """What is right where the model may say nothing: by share of the surest, and by sets of one option."""
    names = full_names(rows[rows["score"] == view.score])
    runs = [run_cache.compared_evaluation(name) for name in run_ids]
    curves = pd.concat([risk_frame(run, name) for run, name in zip(runs, names, strict=True)], ignore_index=True)
    figures.show(
        risk_curves(curves),
        "A curve that starts low and rises late belongs to a model that knows when it is right.",
    )
    st.markdown("**Answer only where the set holds one option**")
    left, right = st.columns([2, 1])
    name = left.selectbox("Run", names, 0, key="abstaining_run")
    price = right.slider(
        "Cost of saying nothing",
        0.0,
        1.0,
        0.3,
        0.05,
        key="abstaining_cost",
        help="A wrong answer costs 1, a right one 0.",
    )
    made = selective.abstention(runs[names.index(name)], view.score)
    frame = pd.DataFrame(
        {
            "alpha": made.alphas / 1000,
            "answered": made.answered,
            "accuracy": made.accuracy,
            "cost": made.cost(price),
        }
    )
    best = frame.iloc[int(frame["cost"].argmin())]
    here = frame.iloc[view.alpha - 1]
    figures.show(
        abstention_cost(frame),
        f"At alpha {here['alpha']:.3f} it answers {here['answered']:.0%}"
        + ("" if math.isnan(here["accuracy"]) else f" and is right on {here['accuracy']:.0%} of those")
        + f"; the cost is least at alpha {best['alpha']:.3f}, {best['cost']:.3f} a question. Alpha chosen so is chosen "
        "on these test questions.",
    )
