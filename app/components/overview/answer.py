"""Which model hedges well: the answer in words, the runs in one of three forms, and the controls that change them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from app.caches import overview_cache
from app.components.overview import filters, run_table
from app.components.overview.first_page import mount
from app.components.overview.matrix import matrix_data
from app.components.shared import controls, published_switch, run_paper
from app.formatting import counted, plain
from app.state.overview import YOURS, OverviewView
from core.questions.option_names import OF_CLASSES
from core.reports.compare.benchmark import SetRule
from core.reports.overview import published
from core.reports.overview.headline import by_size, headline
from core.reports.overview.matrix import Matrix, by_model_and_task, leads, matrix
from core.reports.overview.published import PublishedResult
from core.reports.report import shown_with
from core.reports.run_filter import SETTINGS, RunFilter, is_own, offered, record_task_key, with_filtered_at_defaults
from core.reports.titles import differences, model_titles
from core.reports.toy_models import what_they_are
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

FIGURES = {"matrix": "Set sizes", "scatter": "Scatter plot", "runs": "All figures"}
FIGURE_KEY = "overview_figure"
EXPORTED = ("forest", "accuracy-and-set-size", "heat-map-mean-set-size", "heat-map-coverage", "bars-mean-set-size")
"""The figures of the shown runs that can be exported here; Compare has all of them."""
MODELS_ALONE = "Language models"
"""Before the words on how models were asked, where classifiers stand beside them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the section shows of the runs that the filters keep, apart from its controls."""

    table: pd.DataFrame
    """The overview frame, with the column ``shots``."""
    problems: tuple[str, ...]
    """One sentence for each run that can't be read."""
    active: RunFilter
    offered: filters.Offered
    printed: tuple[PublishedResult, ...]
    """The published results that are shown."""
    specs: Mapping[str, RunSpec]
    """The spec of each run that is kept, with the default for each setting that the filters fix: such a setting is the
    same in all rows, so no row says it."""
    headline: str
    """The answer in words, and what the toy models among the runs are."""
    order: tuple[str, ...]
    """The runs that the answer compares, those with the smallest sets first."""
    words: str
    """The filters in words."""
    hidden: int
    """How many of a person's own runs the filters hide."""


def answer(showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView) -> Answer:
    """Show the section. The headline speaks of the ``showcase``'s task if it is among those shown."""
    shared = overview_cache.shared_view(view)
    section = overview_cache.cached_view(
        finished,
        ("section", shared),
        lambda: _section(showcase, finished, shared),
        lasts=lambda value: not value.problems,
    )
    with st.container(gap=None):
        st.subheader("Which model hedges well?", anchor=False)
        if section.headline:
            st.markdown(plain(section.headline))
    alone = bool(section.printed) and view.figure != "runs"
    if not section.specs and alone:
        st.caption("No run here matches the filters. Only published figures are shown.")
    elif not section.specs:
        filters.none_matches(filters.in_words(section.active, section.offered, narrowing=True))
    if not section.table.empty or (alone and not section.specs):
        _figure(section, finished, view)
    _controls(view, finished, section.active, section.offered)
    _hidden_own(section.hidden)
    if not section.table.empty:
        rule = SetRule(view.alpha, shown_with(view.score), "exact", view.empty)
        run_paper.overview_paper(section.table["run"].tolist(), lambda: _ordered(section), rule, EXPORTED)
    return section


def _section(showcase: RunRecord, finished: Sequence[RunRecord], view: OverviewView) -> Answer:
    values, active = filters.with_published(offered(finished)), filters.active_filter(view, finished)
    records = [record for record in finished if active.keeps(record)]
    table, problems = overview_cache.overview(records, view.alpha, view.score)
    if not table.empty:
        table = table.assign(shots=table["run"].map({record.run_id: record.spec.shots for record in records}))
    specs = {record.run_id: with_filtered_at_defaults(record.spec, active) for record in records}
    models = model_titles(specs)
    names = {run: " · ".join([models[run], *differences(spec)]) for run, spec in specs.items()}
    return Answer(
        table=table,
        problems=problems,
        active=active,
        offered=values,
        printed=tuple(filters.printed(view, active)),
        specs=specs,
        headline=_answer(table, names, view, record_task_key(showcase)),
        order=tuple(by_size(table, view.score, task=record_task_key(showcase))),
        words=_words(records, active, values),
        hidden=sum(is_own(record) for record in finished if record.run_id not in specs),
    )


def _answer(table: pd.DataFrame, names: Mapping[str, str], view: OverviewView, task: str) -> str:
    words = headline(table, names, view.score, view.alpha, task=task)
    return f"{words} {what_they_are(table['model'] if words else ())}".strip()


def _words(records: Sequence[RunRecord], active: RunFilter, values: filters.Offered) -> str:
    """Which runs are shown, in words: how a model was asked, unless all are of classifiers."""
    classifiers = sum(bool(record.provenance.get(OF_CLASSES)) for record in records)
    words = filters.in_words(active, values, settings=classifiers < len(records) or not records)
    return f"{MODELS_ALONE}: {words}" if 0 < classifiers < len(records) else words


def _controls(view: OverviewView, finished: Sequence[RunRecord], active: RunFilter, values: filters.Offered) -> None:
    left, middle, right = st.columns([3, 1, 2], vertical_alignment="bottom")
    with left:
        controls.alpha_slider(view)
    with middle:
        controls.score_choice(view, finished)
    with right, st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if view.figure != "runs":
            published_switch.show(view)
        with st.popover("More", icon=":material/tune:"):
            controls.switch(view, "figure", "Figure", FIGURES, key=FIGURE_KEY)
            filters.filter_controls(view, active, values)


def _hidden_own(hidden: int) -> None:
    """Say that the filters hide some of a person's own runs, with a button that shows them."""
    if hidden:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            verb = "is" if hidden == 1 else "are"
            st.caption(f"{counted(hidden, 'run')} of yours {verb} hidden by the filters.", width="content")
            st.button(
                "Show all of mine",
                type="tertiary",
                key="show_mine",
                on_click=filters.set_fields,
                args=(filters.EVERY_RUN | {"whose": YOURS},),
            )


def _figure(section: Answer, finished: Sequence[RunRecord], view: OverviewView) -> None:
    shared = overview_cache.shared_view(view)

    def cached(what: str, make: Callable[[], Any]) -> Any:
        # It lasts no longer than the section that it is made of.
        return overview_cache.cached_view(finished, (what, shared), make, lasts=lambda _: not section.problems)

    # What draws with Altair is imported where it is needed: the first paint does not wait for it.
    if view.figure == "matrix":
        mount("matrix", **cached("matrix", lambda: _matrix(section, shared)))
        return
    st.caption(plain(section.words))
    if view.figure == "scatter":
        from app.components.overview import scatter

        panels = cached("panels", lambda: scatter.scatter_panels(section.table, shared, section.printed))
        scatter.scatter(section.table, view, panels)
    else:
        from app.components.shared import figures

        ordered = cached("ordered", lambda: _ordered(section))
        leading = cached("leads", lambda: leads(ordered, section.specs))
        # The words above the table say these settings once for all of its runs.
        fixed = [name for name in SETTINGS if len(getattr(section.active, name)) == 1]
        run_table.grouped_runs(ordered, leading, view.score, without=fixed)
        run_table.caveats(ordered)
        about = figures.about(ordered["run"].tolist(), view.alpha)
        figures.download("Download these runs as CSV", ordered, "overview", about)


def _ordered(section: Answer) -> pd.DataFrame:
    """The frame in the order of the table; a model's name says its weights where runs of it have different ones."""
    ordered = by_model_and_task(section.table, section.specs)
    return ordered.assign(model=ordered["run"].map(model_titles(section.specs)))


def _matrix(section: Answer, view: OverviewView) -> dict[str, Any]:
    """What the component shows of the runs of the section and of published results."""
    own = frozenset(run for run in section.specs if not store.is_bundled(run))
    own_matrix = Matrix((), (), {})
    if not section.table.empty:
        own_matrix = matrix(section.table, section.specs, own, view.score, order=section.order)
    return matrix_data(*published.below(own_matrix, section.printed), section.specs, section.words, view)
