"""Choose one run or several, on every page that shows runs: a line that says what is chosen, and a dialog to change it.

The line is a fragment, and so is the dialog (:mod:`app.components.shared.run_list`): what a person types or ticks there
does not run the page again until they take their choice. The choice lives in the page's view, and so in its link.
"""

from collections.abc import Sequence

import streamlit as st

from app import state
from app.background import under_dialog
from app.caches import run_cache
from app.caches.run_cache import Runs
from app.components.shared import run_list
from app.components.shared.caveat_notes import caveat_note
from app.components.shared.run_list import Picker
from app.components.shared.runs import no_runs_yet, title, titles
from app.formatting import counted, plain, shortened
from app.showcase import default_comparison, default_run
from app.state.fields import MOST_COMPARED
from app.state.shared import NO_RUNS, SharedView
from app.tab_title import name_tab
from core.reports.caveats import in_one
from core.reports.run_groups import sharing_questions
from core.reports.titles import record_details, record_task_title
from core.runs.store import STATE_WORDS, RunRecord

FIRST_SHOWN = 6
MOST_CHIPS = 12
"""The chosen runs that the line names. The others are in the dialog."""
SAID_KEY = "run_picker_said"


def pick_run(view: SharedView, what: str, *, ranges: bool = False, pinned_id: str = "") -> RunRecord | None:
    """Show which run is chosen, with a button to choose another, and return the run that the view names.

    If the view names none, it is :func:`~app.showcase.default_run` with ``pinned_id``. If the view names a run that
    can't be shown, the page says so and shows the default run instead. Returns None if there is no finished run.
    ``what`` is what the page would show. With ``ranges``, the page also shows runs whose figures are ranges.
    """
    runs = run_cache.runs()
    by_id = {record.run_id: record for record in (runs.answered if ranges else runs.finished)}
    if not by_id:
        no_runs_yet(what)
        return None
    if view.run not in by_id:
        default = default_run(runs.finished or tuple(by_id.values()), pinned_id=pinned_id)
        if view.run:
            st.warning(plain(_why_not(view.run) + f" The run {title(default)} is shown instead."))
        view = state.change(type(view), run=default.run_id)
    page = type(view)

    def take(run_ids: tuple[str, ...]) -> None:
        state.choose_run(run_ids[0], page)

    picker = Picker(_name(page), _listed(runs), (view.run,), take, ranges=ranges)
    one_line(picker, title(by_id[view.run]), record_details(by_id[view.run]))
    name_tab(title(by_id[view.run]))
    caveat_note(by_id[view.run])
    return by_id[view.run]


def pick_runs(
    view: SharedView, what: str, *, first: int = FIRST_SHOWN, also: Sequence[str] = (), most: int = MOST_COMPARED
) -> tuple[str, ...]:
    """Show which runs are chosen, with buttons to remove, add and choose runs, and return their ids.

    Without a choice, these are the showcase and its sisters, or the ``first`` of them, and the runs ``also`` that the
    link names elsewhere. Returns an empty tuple if there
    are no runs, which a message says with ``what`` the page would show, or if a person removed all of them.
    """
    runs = run_cache.runs()
    records = runs.finished
    if not records:
        no_runs_yet(what)
        return ()
    finished = {record.run_id for record in records}
    for name in _linked(view):
        if name not in finished:
            st.warning(plain(_why_left_out(name)))
    chosen = chosen_runs(view, records, first=first, also=also)
    cleared = view.runs == NO_RUNS
    page = type(view)

    def take(run_ids: tuple[str, ...]) -> None:
        state.change(page, runs=",".join(run_ids) or NO_RUNS)

    _many_line(Picker(_name(page), _listed(runs), chosen, take, most=most))
    if cleared:
        st.info("No run is chosen. Choose at least one run above.")
        default = default_comparison([record.run_id for record in records], most=first)
        label = "Show the first run again" if len(default) == 1 else f"Show the first {len(default)} runs again"
        st.button(label, key=f"{_name(page)}_default", on_click=state.change, args=(page,), kwargs={"runs": ""})
    return chosen


def chosen_runs(
    view: SharedView, records: Sequence[RunRecord], *, first: int = FIRST_SHOWN, also: Sequence[str] = ()
) -> tuple[str, ...]:
    """The runs among the finished ``records`` that a view names, or those that are shown without a choice."""
    finished = [record.run_id for record in records]
    chosen = tuple(name for name in _linked(view) if name in finished)
    if chosen or view.runs == NO_RUNS:
        return chosen
    default = default_comparison(finished, most=first)
    return tuple(dict.fromkeys([*default, *(name for name in also if name in finished)]))


def _linked(view: SharedView) -> list[str]:
    """The runs that a view names, whether they exist or not."""
    return [] if view.runs == NO_RUNS else [name for name in view.runs.split(",") if name]


def _name(page: type[SharedView]) -> str:
    return page.__name__.removesuffix("View").lower()


def _listed(runs: Runs) -> tuple[RunRecord, ...]:
    """The runs that answer questions, whatever their state."""
    return tuple(record for record in runs.records if record.spec.answers)


@st.fragment
def one_line(picker: Picker, name: str, about: str, *, help: str = "") -> None:
    """The line of a single choice: the ``name`` of what is chosen, which opens the dialog, and a caption ``about`` it.

    ``help`` is shown on hover. A choice in the dialog runs the page again.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(
            plain(name),
            key=f"{picker.page}_choose",
            icon=":material/unfold_more:",
            icon_position="right",
            help=help or f"Choose another {picker.noun}",
            wrap=True,
            on_click=run_list.open_dialog,
            args=(picker,),
        ):
            under_dialog()
        if about:
            st.caption(plain(about), width="content")
    run_list.dialog_if_open(picker)


@st.fragment
def _many_line(picker: Picker) -> None:
    """The line of a multiple choice: a chip for each run, which removes it, and buttons for the rest."""
    by_id = picker.by_id
    chosen = [by_id[run_id] for run_id in picker.chosen]
    names = picker.given_names or titles(chosen)
    tasks = list(dict.fromkeys(record_task_title(record) for record in chosen))
    ordered = sorted(chosen, key=lambda record: tasks.index(record_task_title(record)))
    changed = False
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        shown = ordered[:MOST_CHIPS]
        for i, record in enumerate(shown):
            task = record_task_title(record)
            if not i or task != record_task_title(shown[i - 1]):
                st.markdown(f"**{plain(task)}**", width="content")
            changed |= _chip(picker, record, names[record.run_id])
        if len(ordered) > MOST_CHIPS:
            st.caption(f"and {len(ordered) - MOST_CHIPS} more", width="content")
        icon = ":material/checklist:"
        key = f"{picker.page}_choose"
        if st.button("Choose runs", key=key, icon=icon, on_click=run_list.open_dialog, args=(picker,)):
            under_dialog()
        if chosen:
            changed |= st.button(
                "Add runs with the same questions",
                key=f"{picker.page}_share",
                type="tertiary",
                icon=":material/join_inner:",
                help=f"Adds the other finished runs that were tested on the same questions as "
                f"{plain(names[chosen[0].run_id])}, the ones with the most similar settings first.",
                on_click=_add_sharing,
                args=(picker,),
            )
            changed |= st.button(
                "Clear all",
                key=f"{picker.page}_clear",
                type="tertiary",
                icon=":material/close:",
                on_click=picker.take,
                args=((),),
            )
    if message := st.session_state.pop(SAID_KEY, ""):
        st.toast(message)
    if changed:
        st.rerun()
    run_list.dialog_if_open(picker)


def _chip(picker: Picker, record: RunRecord, name: str) -> bool:
    """Show a run that is chosen as a button that removes it. Returns whether it was pressed."""
    rest = tuple(run_id for run_id in picker.chosen if run_id != record.run_id)
    return st.button(
        run_list.label(record, name),
        key=f"{picker.page}_remove_{record.run_id}",
        icon=":material/close:",
        icon_position="right",
        help=f"Remove {plain(name)}",
        on_click=picker.take,
        args=(rest,),
    )


def _add_sharing(picker: Picker) -> None:
    """Add the runs that share their questions with the first one that is chosen, as many as there is room for."""
    by_id = picker.by_id
    sharing = sharing_questions(by_id[picker.chosen[0]], list(by_id.values()), without=picker.chosen)
    added = sharing[: picker.most - len(picker.chosen)]
    if not sharing:
        st.session_state[SAID_KEY] = "No other finished run was tested on these questions."
    elif len(added) < len(sharing):
        left = counted(len(sharing) - len(added), "more run")
        st.session_state[SAID_KEY] = f"At most {picker.most} runs can be chosen. {left} with these questions are left."
    if added:
        picker.take((*picker.chosen, *(record.run_id for record in added)))


def _why_left_out(run_id: str) -> str:
    if any(record.run_id == run_id for record in (*run_cache.runs().ranges, *run_cache.runs().without_answer)):
        return _why_not(run_id)
    if any(unreadable.run_id == run_id for unreadable in run_cache.runs().problems):
        return f"Run {shortened(run_id)} is left out, because it can't be read."
    return f"There is no finished run {shortened(run_id)} here (it may have been deleted)."


def _why_not(run_id: str) -> str:
    for record in run_cache.runs().ranges:
        if record.run_id == run_id:
            return (
                f"The figures of {title(record)} are ranges, because some of its probabilities are not known, and this "
                "page needs every letter's probability. The Alpha lab shows them."
            )
    for record in run_cache.runs().without_answer:
        if record.run_id == run_id:
            return f"{title(record)} has no figures. {in_one(run_cache.caveats(run_id))}"
    if any(unreadable.run_id == run_id for unreadable in run_cache.runs().problems):
        return f"Run {run_id} can't be read."
    known = {record.run_id: record for record in run_cache.runs().unfinished}
    if run_id in known:
        state = STATE_WORDS[known[run_id].state]
        return f"Run {run_id} is {state}; its figures are shown once it has finished successfully."
    return f"There is no run {run_id[:80]} here (it may have been deleted)."
