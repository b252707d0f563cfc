"""The Overview's filters. The choice is kept in the page's address."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from app import state
from app.components.shared import run_filters
from app.formatting import plain
from app.state.fields import joined, split
from app.state.overview import ALL, YOURS, OverviewView
from core.reports.overview import published
from core.reports.overview.published import PublishedResult
from core.reports.run_filter import SETTINGS, TITLES, RunFilter, resolved
from core.runs.store import RunRecord

FIELDS = {
    "models": "models",
    "tasks": "tasks",
    "strategy": "strategy",
    "shots": "shots",
    "form": "form",
    "dtype": "precision",
    "sources": "whose",
}
"""A field of :class:`RunFilter` → the view's field."""
ALL_TITLES = {
    "strategy": "any prompt",
    "shots": "any number of shots",
    "form": "any form of answer",
    "dtype": "any precision",
}
CLEARED = dict.fromkeys(FIELDS.values(), "") | {"whose": ALL}
"""The view's fields without any filter, with which the page begins."""
EVERY_RUN = CLEARED | {FIELDS[name]: ALL for name in SETTINGS}
"""The view's fields with every run."""
OWN_SOURCES = ("launched", "imported")
"""The sources that the link calls :data:`YOURS`."""
PUBLISHED_MODELS_KEY = "overview_published_models"

Offered = Mapping[str, Mapping[str, str]]
"""What :func:`core.reports.run_filter.offered` returns."""


def active_filter(view: OverviewView, records: Sequence[RunRecord]) -> RunFilter:
    """The filter that the view describes, with the page's defaults where the view leaves a setting open."""
    named = {name: tuple(split(getattr(view, field))) for name, field in FIELDS.items()}
    if YOURS in named["sources"]:
        named["sources"] = tuple(
            dict.fromkeys([*OWN_SOURCES, *(source for source in named["sources"] if source != YOURS)])
        )
    left_open = [name for name in SETTINGS if not named[name]]
    chosen = RunFilter(**{name: () if ALL in values else values for name, values in named.items()})
    return resolved(chosen, left_open, records)


def with_published(offered: Offered) -> Offered:
    """What the filters offer, with the published tables among the sources."""
    tables = {name: f"{source.title}, published" for name, source in published.SOURCES.items()}
    return {**offered, "sources": {**offered["sources"], **tables}}


def printed(view: OverviewView, active: RunFilter) -> list[PublishedResult]:
    """The published results that are shown: those that the filters name, and the others if they are switched on."""
    return [
        result
        for result in published.results(active)
        if result.source in active.sources
        or result.model in active.models
        or (view.published == "on" and published.SOURCES[result.source].beside)
    ]


def filter_controls(view: OverviewView, active: RunFilter, offered: Offered) -> None:
    """Show the filters. ``active`` is the current filter, and ``offered`` holds the possible values."""
    # Chips of runs' models stay chips; the published models are a list of their own below them.
    published_models = published.models()
    own = replace(active, models=tuple(m for m in active.models if m in offered["models"] or m not in published_models))
    run_filters.chips({name: offered[name] for name in FIELDS}, "overview", chosen=own, on_change=_take)
    _published_models(active, offered)
    if any(getattr(view, field) != cleared for field, cleared in CLEARED.items()):
        st.button("Clear the filters", on_click=set_fields, args=(CLEARED,), key="clear_in_filters")


def in_words(active: RunFilter, offered: Offered, *, narrowing: bool = False, settings: bool = True) -> str:
    """The filters in words; with ``narrowing``, only those that leave runs out. Without ``settings``, the filters
    for prompting settings are missing, because classifiers have none."""
    parts = []
    for name in ("sources", "models", "tasks", *(SETTINGS if settings else ())):
        values = getattr(active, name)
        titles = {**TITLES.get(name, {}), **offered[name]}
        if values:
            parts.append(", ".join(titles.get(value, value) for value in values))
        elif name in SETTINGS and not narrowing:
            parts.append(ALL_TITLES[name])
    text = " · ".join(parts)
    return text if active.models else f"{text[:1].upper()}{text[1:]}"  # not a model's name


def set_fields(fields: Mapping[str, str]) -> None:
    """Set several fields of the view at once. For the buttons that clear or widen the filters."""
    state.change(OverviewView, **fields)


def none_matches(words: str) -> None:
    """Say that the filters keep no run, with a button that clears them."""
    st.info(plain(f"No finished run matches the filters: {words}."))
    st.button("Clear the filters", on_click=set_fields, args=(CLEARED,), key="clear_filters")


def _published_models(active: RunFilter, offered: Offered) -> None:
    """Show the list of published models. Models chosen there join the chosen models of runs."""
    names = [name for name in published.models() if name not in offered["models"]]
    st.session_state[PUBLISHED_MODELS_KEY] = [name for name in names if name in active.models]
    st.multiselect(
        "Model, published",
        names,
        key=PUBLISHED_MODELS_KEY,
        on_change=_take,
        args=("models", "overview_models"),
        placeholder="All",
        select_all=False,
    )


def _take(name: str, key: str) -> None:
    """Write the chips of a property into the view. Without any, a setting or a source keeps every run."""
    values = list(st.session_state.get(key) or [])
    if name == "models":
        values += st.session_state.get(PUBLISHED_MODELS_KEY) or []
    if set(values) == set(OWN_SOURCES):
        values = [YOURS]
    every = "" if name in ("models", "tasks") else ALL
    state.change(OverviewView, **{FIELDS[name]: joined(values) or every})
