"""The Overview's filters. What is chosen stands in the page's address."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app import state
from app.formatting import plain
from app.state.overview import OverviewView
from core.reports.overview.filters import ALL, SETTINGS, Choices, RunFilter
from core.reports.titles import FORM_TITLES, PRECISION_TITLES, STRATEGY_TITLES

FIELDS = {"strategy": "strategy", "form": "form", "dtype": "precision"}
"""A setting of a run → the view's field."""
LABELS = {"strategy": "Prompt", "form": "Answers", "dtype": "Precision"}
TITLES: dict[str, Mapping[str, str]] = {
    "strategy": STRATEGY_TITLES,
    "form": FORM_TITLES,
    "dtype": PRECISION_TITLES,
}
ALL_TITLES = {"strategy": "any prompt", "form": "any form of answer", "dtype": "any precision"}
SOURCE_TITLES = {ALL: "All runs", "shipped": "Shipped with Hedge", "yours": "Yours"}
CLEARED = {"models": "", "tasks": "", "strategy": "", "form": "", "precision": "", "whose": ALL}
"""The view's fields without any filter: as the page begins."""
EVERY_RUN = CLEARED | dict.fromkeys(FIELDS.values(), ALL)
"""The view's fields with every run."""
COMMA = "%2C"
"""A comma within a name, because names in a link are separated by commas."""


def chosen(view: OverviewView) -> RunFilter:
    """The filter that the view describes."""
    return RunFilter(
        _names(view.models), _names(view.tasks), view.strategy, view.form, view.precision, source=view.whose
    )


def filter_controls(view: OverviewView, active: RunFilter, offered: Choices) -> None:
    """Show the filters behind one button. ``active`` is what they come to, ``offered`` what they can be."""
    with st.popover("Filters", icon=":material/filter_list:", width="stretch"):
        _several("Models", "models", active.models, {name: name for name in offered.models})
        _several("Tasks", "tasks", active.tasks, offered.tasks)
        for name in SETTINGS:
            _one(name, getattr(active, name), getattr(offered, name))
        if offered.has_own:
            st.session_state["overview_whose"] = view.whose
            st.segmented_control(
                "Runs",
                list(SOURCE_TITLES),
                format_func=SOURCE_TITLES.__getitem__,
                required=True,
                key="overview_whose",
                on_change=state.taking(OverviewView, "whose", "overview_whose"),
            )
        if chosen(view) != RunFilter():
            st.button("Clear the filters", on_click=set_fields, args=(CLEARED,), key="clear_in_filters")


def in_words(active: RunFilter, offered: Choices, *, narrowing: bool = False) -> str:
    """What the filters keep, in words; ``narrowing``: only what leaves runs out."""
    said = [SOURCE_TITLES[active.source]] if active.source != ALL else []
    said += [", ".join(active.models)] if active.models else []
    said += [", ".join(offered.tasks.get(key, key) for key in active.tasks)] if active.tasks else []
    for name in SETTINGS:
        value = getattr(active, name)
        if value == ALL and narrowing:
            continue
        said.append(ALL_TITLES[name] if value == ALL else TITLES[name].get(value, value))
    text = " · ".join(said)
    return text if active.models else f"{text[:1].upper()}{text[1:]}"  # not a model's name


def set_fields(fields: Mapping[str, str]) -> None:
    """Set several fields of the view at once. For the buttons that clear or widen the filters."""
    state.change(OverviewView, **fields)


def none_matches(words: str) -> None:
    """Say that the filters keep no run, with a button that clears them."""
    st.info(plain(f"No finished run matches the filters: {words}."))
    st.button("Clear the filters", on_click=set_fields, args=(CLEARED,), key="clear_filters")


def _several(label: str, field: str, active: tuple[str, ...], titles: Mapping[str, str]) -> None:
    key = f"overview_{field}"
    st.session_state[key] = list(active)
    st.multiselect(
        label,
        list(dict.fromkeys([*titles, *active])),
        format_func=lambda name: titles.get(name, name),
        key=key,
        on_change=_take_names,
        args=(field, key),
        placeholder=f"All {label.lower()}",
        select_all=False,
    )


def _one(name: str, active: str, offered: tuple[str, ...]) -> None:
    key = f"overview_{name}"
    st.session_state[key] = active
    titles = {ALL: "All", **TITLES[name]}
    st.selectbox(
        LABELS[name],
        list(dict.fromkeys([ALL, *offered, active])),
        format_func=lambda value: titles.get(value, value),
        key=key,
        on_change=state.taking(OverviewView, FIELDS[name], key),
    )


def _take_names(field: str, key: str) -> None:
    names = [name.replace(",", COMMA) for name in st.session_state[key]]
    state.change(OverviewView, **{field: ",".join(names)})


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.replace(COMMA, ",") for name in text.split(",") if name)
