"""Chips that narrow a list of runs: by model, task, prompt, shots, precision, source and state."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from app.formatting import plain
from core.reports.run_filter import RunFilter

LABELS = {
    "models": "Model",
    "tasks": "Task and questions",
    "strategy": "Prompt",
    "shots": "Shots",
    "form": "Answers",
    "dtype": "Precision",
    "sources": "Source",
    "states": "State",
}
"""A field of :class:`RunFilter` → the label of its chips."""
MOST_CHIPS = 12
"""With more values than this, a list that can be searched takes the place of the chips."""


def chips(
    offered: Mapping[str, Mapping[str, str]],
    prefix: str,
    *,
    chosen: RunFilter | None = None,
    on_change: Callable[[str, str], None] | None = None,
) -> RunFilter:
    """Show the chips of every property in which runs differ, and return what is chosen.

    ``offered`` is made by :func:`core.reports.run_filter.offered`. A widget's key is ``prefix``, ``_`` and the field.
    Where the page keeps the choice itself, ``chosen`` is the current one, and ``on_change`` is called with the field
    and the widget's key.
    """
    chosen_values = {}
    for name, values in offered.items():
        key = f"{prefix}_{name}"
        if chosen is not None:
            st.session_state[key] = list(getattr(chosen, name))
        active = st.session_state.get(key) or []
        titles = {**values, **{value: value for value in active if value not in values}}
        if len(titles) > 1 or active:
            take = partial(on_change, name, key) if on_change else None
            chosen_values[name] = tuple(_several(LABELS[name], titles, key, take))
    return RunFilter(**chosen_values)


def _several(label: str, titles: Mapping[str, str], key: str, take: Callable[[], None] | None) -> list[str]:
    if len(titles) > MOST_CHIPS:
        return st.multiselect(
            label,
            list(titles),
            format_func=titles.__getitem__,
            key=key,
            on_change=take,
            placeholder="All",
            select_all=False,
        )
    return st.pills(
        label,
        list(titles),
        selection_mode="multi",
        default=None,
        format_func=lambda value: plain(titles[value]),
        key=key,
        on_change=take,
        wrap=True,
    )
