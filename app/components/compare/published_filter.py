"""Filters the published figures below the runs by table and by model. The choice is kept in the page's address."""

import streamlit as st

from app import state
from app.components.shared import published_switch
from app.formatting import plain
from app.state.compare import EVERY_TABLE, CompareView
from core.reports.overview import published
from core.reports.run_filter import RunFilter

TABLES_KEY = "compare_published_by"
MODELS_KEY = "compare_published_models"


def show(view: CompareView) -> None:
    """Show the switch for published figures, and the filter if it is on."""
    published_switch.show(view)
    if view.published == "on":
        _choices(view)


def active_filter(view: CompareView) -> RunFilter:
    """The filter that the view describes."""
    return RunFilter(models=_names(view.published_models), sources=_tables(view))


def _choices(view: CompareView) -> None:
    chosen = active_filter(view)
    st.session_state[TABLES_KEY] = list(chosen.sources)
    st.pills(
        "Source",
        list(published.SOURCES),
        selection_mode="multi",
        format_func=lambda name: plain(published.SOURCES[name].title),
        key=TABLES_KEY,
        on_change=_take,
    )
    names = published.models()
    st.session_state[MODELS_KEY] = list(chosen.models)
    st.multiselect(
        "Model",
        [*names, *(name for name in chosen.models if name not in names)],
        key=MODELS_KEY,
        on_change=_take,
        placeholder="All",
        select_all=False,
    )
    if chosen != RunFilter():
        st.button("Clear the filter", key="compare_published_clear", on_click=_clear)


def _take() -> None:
    tables = ",".join(st.session_state[TABLES_KEY] or [])
    models = ",".join(st.session_state[MODELS_KEY] or [])
    state.change(CompareView, published_by=tables or EVERY_TABLE, published_models=models)


def _clear() -> None:
    state.change(CompareView, published_by=EVERY_TABLE, published_models="")


def _tables(view: CompareView) -> tuple[str, ...]:
    names = _names(view.published_by)
    return () if EVERY_TABLE in names else names


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)
