"""The second kind of question in the Stream lab: the run whose questions come after the change."""

from __future__ import annotations

import streamlit as st

from app import state
from app.caches import run_cache
from app.components.shared.runs import titles
from app.components.stream_lab import stream_lab_cache
from app.formatting import plain
from app.state.stream_lab import NO_CHANGE, StreamLabView
from core.reports.run_filter import record_task_key, task_order
from core.reports.titles import record_task_title
from core.runs.store import RunRecord

AFTER_KEY = "stream_after"


def pick_second(record: RunRecord, view: StreamLabView) -> RunRecord | None:
    """Show the choice of the run that comes after the change, and return it; None for a stream without a change.

    A run of a link that can't follow is named in a warning, and the default is shown instead.
    """
    found = {other.run_id: other for other in second_runs(record)}
    chosen = view.after or next(iter(found), NO_CHANGE)
    if chosen not in (*found, NO_CHANGE):
        default = next(iter(found), NO_CHANGE)
        instead = record_task_title(found[default]) if default in found else "a stream without a change"
        st.warning(
            plain(
                f"The run {chosen[:80]} can't come after {record_task_title(record)}: it has to be a finished run of "
                f"the same model, asked in the same way, on another task with as many options. {instead} is shown "
                "instead."
            )
        )
        chosen = default
    names = titles(list(found.values()))
    st.session_state[AFTER_KEY] = chosen
    st.selectbox(
        "After the change",
        [*found, NO_CHANGE],
        format_func=lambda run_id: names.get(run_id, "No change: only the first run"),
        key=AFTER_KEY,
        on_change=state.taking(StreamLabView, "after", AFTER_KEY, change=""),
        help="Finished runs of the same model on other tasks with as many options, asked in the same way.",
    )
    if not found:
        st.caption(
            f"A change needs another finished run of {plain(record.spec.model_name)} with as many options, asked in "
            "the same way about another task."
        )
    return found.get(chosen)


def second_runs(record: RunRecord) -> list[RunRecord]:
    """The finished runs of the same model on other tasks, asked in the same way and with as many options; those of the
    same precision come first."""
    own, task = record.spec, record_task_title(record)
    alike = [
        other
        for other in run_cache.runs().finished
        if ((spec := other.spec).model_name, spec.model_fingerprint) == (own.model_name, own.model_fingerprint)
        and (spec.form, spec.strategy, spec.shots) == (own.form, own.strategy, own.shots)
        and record_task_title(other) != task
    ]
    if not alike:
        return []
    k = stream_lab_cache.option_count(record.run_id)

    def order(other: RunRecord) -> tuple[bool, tuple[int, str], str]:
        return other.spec.dtype != own.dtype, task_order(record_task_key(other)), other.run_id

    fitting = [other for other in alike if stream_lab_cache.option_count(other.run_id) == k]
    return sorted(fitting, key=order)
