"""The dialog in which runs are chosen: a search, chips, and the runs grouped by their questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import streamlit as st

from app import style
from app.background import DIALOG_KEY
from app.components.shared import run_filters
from app.components.shared.runs import titles
from app.formatting import counted, plain
from core.reports.run_filter import matching, offered
from core.reports.run_groups import RunGroup, grouped, setting_words, sharing_questions
from core.runs.store import STATE_WORDS, RunRecord

OPEN_KEY = "run_dialog_open"
"""The page whose dialog is open."""
DISMISSED_KEY = "run_dialog_dismissed"
"""Set from the time a dialog is dismissed until the page has run again."""
DRAFT_KEY = "run_dialog_draft"
"""The runs that are pressed in the dialog, in the order in which a person pressed them."""
TAKEN_KEY = "run_dialog_taken"
"""The run that a person has just pressed where only one can be chosen."""
SHOWN_KEY = "run_dialog_shown"
FIRST_ROWS = 60
"""The runs that the list shows at first, and how many more each click adds. The cost grows with what is shown."""
HEIGHT = 420
RANGES_ONLY = "its figures are ranges"
NO_ANSWER = "its letters are no answer"


@dataclass(frozen=True)
class Picker:
    """The runs from which a page chooses, and what it does with the choice."""

    page: str
    """The page's name, with which its widgets' keys begin."""
    records: Sequence[RunRecord]
    """All runs that are listed, the latest first. Only finished ones can be chosen."""
    chosen: tuple[str, ...]
    take: Callable[[tuple[str, ...]], None]
    """Writes a choice into the view."""
    most: int = 1
    """The most runs that can be chosen. With 1, a click takes a run at once."""
    noun: str = "run"
    """What is chosen, in one word."""
    given_names: Mapping[str, str] = field(default_factory=dict)
    """The name of what each run stands for, by its id, where that is not the run's title."""
    properties: tuple[str, ...] = tuple(run_filters.LABELS)
    """The properties that have chips: fields of :class:`~core.reports.run_filter.RunFilter`."""

    shares_questions: bool = True
    """Whether a switch keeps the runs that share their questions with the first one that is chosen."""
    ranges: bool = False
    """Whether the page can show runs whose figures are ranges, because their server did not list all letters."""

    @cached_property
    def by_id(self) -> dict[str, RunRecord]:
        """The runs that can be chosen, by their id."""
        done = (record for record in self.records if record.state == "done")
        with_figures = (record for record in done if not record.has_no_answer)
        return {record.run_id: record for record in with_figures if self.ranges or not record.bounded}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name of each run by its id, no two of them alike."""
        return self.given_names or titles(self.records)


def open_dialog(picker: Picker) -> None:
    """Open the page's dialog with what is chosen now. For the callback of a button."""
    st.session_state[OPEN_KEY] = picker.page
    st.session_state[DRAFT_KEY] = picker.chosen
    st.session_state[SHOWN_KEY] = FIRST_ROWS


def dialog_if_open(picker: Picker) -> None:
    """Show the page's dialog if a person has opened it and not yet closed it.

    A run of the whole page may send the dialog again just after a person has closed it. The browser then shows it until
    another such run has ended, so this starts one.
    """
    if st.session_state.pop(DISMISSED_KEY, False):
        st.rerun()
    if st.session_state.get(OPEN_KEY) == picker.page:
        heading = f"Choose another {picker.noun}" if picker.most == 1 else f"Choose up to {picker.most} {picker.noun}s"
        st.session_state[DIALOG_KEY] = True
        st.dialog(heading, width="large", on_dismiss=_dismiss)(_dialog)(picker)


def label(record: RunRecord, name: str) -> str:
    """A run below its task's heading as Markdown: its model, and in grey the rest of its ``name``."""
    words = setting_words(record, name)
    return plain(record.spec.model_name) + (f" :gray[{plain(words)}]" if words else "")


def _dismiss() -> None:
    _close()
    st.session_state[DISMISSED_KEY] = True


def _close() -> None:
    st.session_state.pop(OPEN_KEY, None)
    st.session_state[DIALOG_KEY] = False


def _dialog(picker: Picker) -> None:
    if taken := st.session_state.pop(TAKEN_KEY, None):
        _take(picker, taken)
    st.html(style.RUN_LIST)
    left, right = st.columns([2, 1], gap="medium")
    with right:
        filtered = _filtered(picker)
    with left:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            words = st.text_input(
                "Search",
                key=f"{picker.page}_search",
                type="search",
                live=True,
                placeholder="Model, task, setting or id",
                icon=":material/search:",
                width="stretch",
            )
            if picker.most > 1:
                _buttons(picker)
        matches = matching(filtered, words or "")
        with st.container(height=HEIGHT, border=True, key=style.RUN_LIST_KEY):
            # The groups of the runs that are chosen now stand first, where a person looks for others like them.
            groups = sorted(
                grouped(matches), key=lambda group: not any(record.run_id in picker.chosen for record in group.records)
            )
            _groups(picker, groups)


def _filtered(picker: Picker) -> list[RunRecord]:
    """Show the chips, and return the runs that they keep."""
    prefix = f"{picker.page}_pick"
    values = {
        name: values_of_property
        for name, values_of_property in offered(picker.records).items()
        if name in picker.properties
    }
    if len(values.get("states", ())) > 1:
        st.session_state.setdefault(f"{prefix}_states", ["done"])
    active = run_filters.chips(values, prefix)
    records = [record for record in picker.records if active.keeps(record)]
    if not picker.shares_questions or not (first := picker.by_id.get(next(iter(picker.chosen), ""))):
        return records
    help_text = f"Keeps the runs that were tested on the same questions as {plain(picker.names[first.run_id])}."
    if st.toggle("Only with the same questions", key=f"{prefix}_questions", help=help_text):
        shared = {first.run_id, *(record.run_id for record in sharing_questions(first, records))}
        records = [record for record in records if record.run_id in shared]
    return records


def _buttons(picker: Picker) -> None:
    """Show the button that confirms the draft, and the one that clears it."""
    draft = _draft()
    st.button("Clear", key=f"{picker.page}_empty", type="tertiary", disabled=not draft, on_click=_set_draft, args=((),))
    if st.button(f"**Use {counted(len(draft), picker.noun)}**", key=f"{picker.page}_take", disabled=not draft):
        _take(picker, draft)


def _take(picker: Picker, run_ids: tuple[str, ...]) -> None:
    picker.take(run_ids)
    _close()
    st.rerun()


def _groups(picker: Picker, groups: Sequence[RunGroup]) -> None:
    """Show the runs of each group below its heading, as many as there is room for."""
    left: int = st.session_state[SHOWN_KEY]
    every = sum(len(group.records) for group in groups)
    if not every:
        st.caption(f"No {picker.noun} matches the search and the chips.")
    for group in groups:
        if left <= 0:
            break
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{plain(_heading(group))}**", width="content")
            if picker.most > 1:
                _choose_all(picker, group)
        _runs(picker, group, group.records[:left])
        left -= len(group.records)
    if every > st.session_state[SHOWN_KEY]:
        label_text = f"Show more of {counted(every, picker.noun)}"
        st.button(label_text, key=f"{picker.page}_more", on_click=_show_more, type="tertiary")


def _heading(group: RunGroup) -> str:
    return f"Yours · {group.title}" if group.own else group.title


def _group_key(picker: Picker, group: RunGroup) -> str:
    return f"{picker.page}_runs_{'own' if group.own else 'shipped'}_{group.title}"


def _show_more() -> None:
    st.session_state[SHOWN_KEY] += FIRST_ROWS


def _runs(picker: Picker, group: RunGroup, shown: Sequence[RunRecord]) -> None:
    """Show runs as buttons that stay pressed, and below them those that can't be chosen."""
    labels = {
        record.run_id: label(record, picker.names[record.run_id]) for record in shown if record.run_id in picker.by_id
    }
    key, draft = _group_key(picker, group), _draft()
    pressed = [run_id for run_id in draft if run_id in labels]
    several = picker.most > 1
    st.session_state[key] = pressed if several else next(iter(pressed), None)
    drawn: dict[str, Any] = {
        "format_func": labels.__getitem__,
        "key": key,
        "on_change": _take_pressed,
        "args": (picker, key, tuple(labels)),
        "label_visibility": "collapsed",
        "width": "stretch",
        "wrap": True,
    }
    if labels and several:
        st.pills(_heading(group), list(labels), selection_mode="multi", default=None, **drawn)
    elif labels:
        st.pills(_heading(group), list(labels), required=True, **drawn)
    for record in shown:
        if record.run_id not in picker.by_id:
            why = STATE_WORDS[record.state]
            if record.state == "done":
                why = NO_ANSWER if record.has_no_answer else RANGES_ONLY
            st.caption(f"{label(record, picker.names[record.run_id])} ({why})")


def _take_pressed(picker: Picker, key: str, shown: Sequence[str]) -> None:
    """Take over what is pressed in a group: into the draft, or as the choice where only one run can be chosen."""
    pressed = st.session_state[key]
    if picker.most == 1:
        st.session_state[TAKEN_KEY] = (pressed,)
        return
    remaining = [run_id for run_id in _draft() if run_id not in shown or run_id in pressed]
    added = [run_id for run_id in pressed if run_id not in remaining]
    _set_draft((*remaining, *added)[: picker.most])


def _draft() -> tuple[str, ...]:
    draft: tuple[str, ...] = st.session_state[DRAFT_KEY]
    return draft


def _set_draft(run_ids: tuple[str, ...]) -> None:
    st.session_state[DRAFT_KEY] = run_ids


def _choose_all(picker: Picker, group: RunGroup) -> None:
    """Show a button that chooses all finished runs of a group, as far as there is room for them."""
    draft = _draft()
    others = [run_id for record in group.records if (run_id := record.run_id) in picker.by_id and run_id not in draft]
    added = tuple(others[: picker.most - len(draft)])
    if added:
        label_text = f"Choose all {len(added)}" if len(added) == len(others) else f"Choose the first {len(added)}"
        key = f"{_group_key(picker, group)}_all"
        st.button(label_text, key=key, type="tertiary", on_click=_set_draft, args=((*draft, *added),))
