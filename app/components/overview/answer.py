"""Which model hedges well: a headline, the filters, and the runs that they keep, shown in one of three forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from app.caches import overview_cache, run_cache
from app.components.overview import filters, run_table
from app.components.overview.matrix import show_matrix
from app.components.shared import controls, export
from app.formatting import counted, plain
from app.state.overview import YOURS, OverviewView
from core.reports.compare.benchmark import SetRule
from core.reports.overview.headline import headline
from core.reports.overview.matrix import by_model_and_task, leads, matrix
from core.reports.report import shown_with
from core.reports.run_filter import RunFilter, is_own, offered, record_task_key, with_filtered_at_defaults
from core.reports.titles import differences
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

FIGURES = {"matrix": "Set sizes", "scatter": "Scatter plot", "runs": "All figures"}
FIGURE_KEY = "overview_figure"
EXPORTED = ("forest", "accuracy-and-set-size", "heat-map-mean-set-size", "heat-map-coverage", "bars-mean-set-size")
"""The figures of the shown runs that can be exported here; Compare has all of them."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The overview frame of the runs that the filters keep, and one sentence for each run that can't be read."""

    table: pd.DataFrame
    problems: tuple[str, ...]


def read_ahead() -> None:
    """Summarise the runs that the section shows without a link, before anybody asks."""
    view, finished = OverviewView(), run_cache.runs().finished
    active = filters.active_filter(view, finished)
    overview_cache.overview([record for record in finished if active.keeps(record)], view.alpha, view.score)


def answer(showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView) -> Shown:
    """Show the section. The headline speaks of the ``showcase``'s task if it is among those shown."""
    values, active = offered(finished), filters.active_filter(view, finished)
    kept = [record for record in finished if active.keeps(record)]
    table, problems = overview_cache.overview(kept, view.alpha, view.score)
    if not table.empty:
        table = table.assign(shots=table["run"].map({record.run_id: record.spec.shots for record in kept}))
    # A setting that the filters fix is the same in all rows, so no row says it.
    specs = {record.run_id: with_filtered_at_defaults(record.spec, active) for record in kept}
    names = {run: _named(spec) for run, spec in specs.items()}
    words = filters.in_words(active, values)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader("Which model hedges well?", anchor=False, width="content")
        controls.switch(view, "figure", "Figure", FIGURES, key=FIGURE_KEY, label_visibility="collapsed")
    if said := headline(table, names, view.score, view.alpha, task=record_task_key(showcase)):
        st.markdown(plain(said))
    _controls(view, active, values)
    _hidden_own(finished, kept)
    if not kept:
        filters.none_matches(filters.in_words(active, values, narrowing=True))
    elif not table.empty:
        _figure(table, specs, words, view)
        rule = SetRule(view.alpha, shown_with(view.score), "exact", view.empty)
        export.section(table["run"].tolist(), rule, EXPORTED, key="overview_export")
    return Shown(table, problems)


def _named(spec: RunSpec) -> str:
    return " · ".join([spec.model_name, *differences(spec)])


def _controls(view: OverviewView, active: RunFilter, values: filters.Offered) -> None:
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    with left:
        controls.alpha_slider(view)
    with middle:
        controls.score_choice(view)
    with right:
        filters.filter_controls(view, active, values)


def _hidden_own(finished: Sequence[RunRecord], kept: Sequence[RunRecord]) -> None:
    """Say that the filters hide some of a person's own runs, with a button that shows them."""
    shown = {record.run_id for record in kept}
    hidden = [one for one in finished if one.run_id not in shown and is_own(one)]
    if hidden:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            said = "is" if len(hidden) == 1 else "are"
            st.caption(f"{counted(len(hidden), 'run')} of yours {said} hidden by the filters.", width="content")
            st.button(
                "Show all of mine",
                type="tertiary",
                key="show_mine",
                on_click=filters.set_fields,
                args=(filters.EVERY_RUN | {"whose": YOURS},),
            )


def _figure(table: pd.DataFrame, specs: Mapping[str, RunSpec], words: str, view: OverviewView) -> None:
    # What draws with Altair is imported where it is needed: the first paint does not wait for it.
    if view.figure == "matrix":
        own = frozenset(run for run in table["run"] if not store.is_bundled(run))
        show_matrix(matrix(table, specs, own, view.score), specs, words, view)
        return
    st.caption(plain(words))
    if view.figure == "scatter":
        from app.components.overview import scatter

        scatter.scatter(table, view)
    else:
        from app.components.shared import figures

        ordered = by_model_and_task(table, specs)
        run_table.grouped_runs(ordered, leads(ordered, specs), view.score)
        run_table.ties(table)
        about = figures.about(ordered["run"].tolist(), view.alpha)
        figures.download("Download these runs as CSV", ordered, "overview", about)
