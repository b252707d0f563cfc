"""Runs that were launched together: their progress, and actions on all of them at once."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from app.caches import overview_cache, run_cache
from app.components.shared.caveat_notes import footnote_caption
from app.components.shared.runs import links_to
from app.formatting import clock, counted, duration, plain, sentence
from core.reports.caveats import marked
from core.reports.titles import differences, model_titles, record_task_title
from core.runs import actions, groups, store
from core.runs.actions import ActionResult
from core.runs.caveats import COLUMN
from core.runs.groups import Group
from core.runs.status import RunStatus
from core.runs.store import ENDED, STATE_WORDS, RunRecord

ALPHA = 100
MOST_RUNS = 60
"""Reading a run's figures for the first time takes some tenths of a second."""

MOST_SHOWN = 3
RECENT_S = 24 * 3600.0
ORDER = ("done", "running", "queued", "failed", "paused", "cancelled")
REPEAT_HELP = "Runs all of them again from the start. Their present results stay in the bin for a week."


def run_groups(statuses: Sequence[RunStatus]) -> set[str]:
    """Show one card for each group of the last day, first those that have not ended, and return the ids of their runs.
    A group that has only one run left has none, because the run has a card of its own."""
    now = {status.run_id: status for status in statuses}
    recent = [group for group in groups.known() if time.time() - group.created < RECENT_S]
    shown_groups = [(group, states) for group in recent if len(states := _states(group, now)) > 1]
    shown_groups.sort(key=lambda pair: set(pair[1].values()) <= set(ENDED))
    for group, states in shown_groups[:MOST_SHOWN]:
        _card(group, states, now)
    return {run_id for _, states in shown_groups[:MOST_SHOWN] for run_id in states}


def _states(group: Group, now: Mapping[str, RunStatus]) -> dict[str, str]:
    """The state of each of the group's runs that still exist."""
    records = {record.run_id: record for record in run_cache.runs().records} if set(group.run_ids) - set(now) else {}
    return {
        run_id: now[run_id].state if run_id in now else records[run_id].state
        for run_id in group.run_ids
        if run_id in now or run_id in records
    }


def _card(group: Group, states: Mapping[str, str], now: Mapping[str, RunStatus]) -> None:
    counts = Counter(states.values())
    finished = [run_cache.record(run_id) for run_id, state in states.items() if state == "done"]
    over = sum(counts[state] for state in ENDED)
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, wrap=False):
            st.markdown(f"**Together**: {plain(_title(group))}", width="stretch")
            st.markdown(f"**{over} of {len(states)} ended**", width="content")
        words = [f"{counts[state]} {STATE_WORDS[state]}" for state in ORDER if counts[state]]
        left = _left(states, now)
        words += [f"about {duration(left)} left"] if left is not None else []
        if over < len(states):
            st.progress(over / len(states), text=plain(" · ".join(words)))
        else:
            st.caption(plain(" · ".join(words)))
            group_figures([record for record in finished if record.spec.answers])
        with st.container(horizontal=True, vertical_alignment="center"):
            links_to([record.spec for record in finished])
            _buttons(group, states)


def _title(group: Group) -> str:
    """The group's name with its launch time, because groups of other models or tasks may have the same name."""
    name = group.name or counted(len(group.run_ids), "run")
    return f"{name} · launched at {clock(group.created, st.context.timezone_offset)}"


def _left(states: Mapping[str, str], now: Mapping[str, RunStatus]) -> float | None:
    """Estimated seconds left, or None if unknown: mean seconds per finished run × unfinished runs / running runs."""
    statuses = [now[run_id] for run_id in states if run_id in now]
    took = [
        s.record.ended - s.record.started for s in statuses if s.state == "done" and s.record.started and s.record.ended
    ]
    running = sum(s.state == "running" for s in statuses)
    unfinished = sum(not s.ended for s in statuses)
    return sum(took) / len(took) * unfinished / running if took and running else None


def _buttons(group: Group, states: Mapping[str, str]) -> None:
    to_cancel = [run_id for run_id, state in states.items() if state not in ENDED]
    to_resume = [run_id for run_id, state in states.items() if state in store.RESUMABLE]
    remaining = "run" if len(to_cancel) == 1 else f"{len(to_cancel)} runs"
    if to_cancel and st.button(f"Cancel the remaining {remaining}", key=f"group-cancel-{group.id}"):
        _done(actions.cancel, to_cancel)
    if to_resume and st.button(f"Resume {len(to_resume)}", key=f"group-resume-{group.id}"):
        _done(actions.resume, to_resume)
    if not to_cancel and st.button(f"Repeat all {len(states)}", key=f"group-repeat-{group.id}", help=REPEAT_HELP):
        _done(actions.repeat, list(states))


def _done(action: Callable[[Sequence[str]], ActionResult], run_ids: Sequence[str]) -> None:
    with st.spinner("Just a moment …"):
        outcome = action(run_ids)
    if not outcome.refused:
        st.rerun()
    for reason, number in Counter(outcome.refused.values()).items():
        st.error(plain(f"{sentence(reason)} ({counted(number, 'run')})"))


def group_figures(records: Sequence[RunRecord]) -> None:
    """Show the table of finished runs that answered questions. A group of too many runs has none."""
    if not records or len(records) > MOST_RUNS:
        return
    table, problems = overview_cache.overview(records, ALPHA)
    for problem in problems:
        st.warning(plain(problem))
    figures_by_run = {row["run"]: row for row in table.to_dict("records")} if not table.empty else {}
    models = model_titles({record.run_id: record.spec for record in records})
    settings = {record.run_id: differences(record.spec) for record in records}
    shared = set.intersection(*map(set, settings.values()))  # not repeated in every row
    rows: dict[str, dict[str, str]] = {}
    caveats = []
    for record in records:
        if record.run_id in figures_by_run:
            figures = figures_by_run[record.run_id]
            own = [setting for setting in settings[record.run_id] if setting not in shared]
            row_name = " · ".join([models[record.run_id], *own])
            text = f"{figures['lac_set_size']:.2f} ({figures['accuracy']:.0%})"
            task = record_task_title(record)
            rows.setdefault(row_name, {"Model": row_name})[task] = marked(text, figures[COLUMN])
            caveats.append((f"{row_name} · {task}", figures[COLUMN]))
    if rows:
        st.dataframe(list(rows.values()), hide_index=True, height="auto")
        st.caption("Mean size of the LAC sets at alpha 0.1, and in brackets the accuracy.")
        footnote_caption(caveats)
