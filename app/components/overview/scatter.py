"""Accuracy against set size: small panels by task, colours by model, and a click that opens a run."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from app.components.overview import published_tables
from app.components.overview.first_page import mount
from app.components.shared import figures
from app.components.shared.runs import open_run
from app.formatting import counted, plain
from app.state.overview import OverviewView
from charts import theme
from charts.accuracy_and_set_size import OPENED, accuracy_against_size, model_styles

PANEL = 400
"""The width of a panel in pixels, where the window has so many."""
COLORS = {theme.LAC: "lac", theme.APS: "aps", theme.TRUTH: "truth"}
"""What a colour means → its name in the component's style."""


def scatter(table: pd.DataFrame, view: OverviewView) -> None:
    """Show the panels with their legend, and pairs of models that differ in certainty alone."""
    styles = model_styles(table["model"].tolist())
    mount("legend", models=[{"name": one.name, "meaning": COLORS[one.meaning], "path": one.shape} for one in styles])
    with st.container(horizontal=True, gap="medium"):
        for panel in accuracy_against_size(table, view.score):
            key = f"scatter-{panel.key}"
            with st.container(width=PANEL):
                st.markdown(f"**{plain(panel.title)}** · {counted(panel.options, 'option')}")
                figures.draw(panel.figure, key=key, on_select=partial(_clicked, key))
    with st.container(horizontal=True, gap="medium"):
        st.caption(
            "Each mark is a run, with the 95% intervals of its accuracy and its mean set size. Of two models that are "
            "right equally often on the same questions, the one further down keeps the same promise with fewer "
            "options. A click on a mark opens the run in the Alpha lab.",
            width="stretch",
        )
        about = figures.about(table["run"].tolist(), view.alpha)
        figures.download("Data of these figures", table, f"accuracy-and-{view.score}-set-size", about)
    published_tables.alike_models(table, view.score)


def _clicked(key: str) -> None:
    chosen = st.session_state[key].selection.get(OPENED) or []
    if chosen:
        open_run(str(chosen[0]["run"]))
