"""The two kinds of question in the Stream lab: the runs whose questions come before and after the change."""

from typing import Any

import streamlit as st

from app import state
from app.caches import run_cache
from app.caches.run_cache import RunKey, load_compared, load_evaluation, run_key
from app.components.shared.run_picker import pick_run
from app.components.shared.runs import titles
from app.formatting import plain
from app.showcase import showcase
from app.state.shared import SharedView
from app.state.stream_lab import NO_CHANGE, StreamLabView
from core.reports import stream_lab
from core.reports.run_filter import record_task_key, task_order
from core.reports.titles import record_task_title
from core.runs.store import RunRecord

AFTER_KEY = "stream_after"


def pick_first(view: StreamLabView, *, linked: bool) -> RunRecord | None:
    """Show the choice of the run that comes before the change, and return it; None if there is no finished run.

    Without a choice, it is the run that a person selected on another page, or the showcase's for streams. A link to
    some stream (``linked``) that names no run opens with the showcase itself, as earlier versions did.
    """
    selected = state.remembered(SharedView).run
    if not view.run and selected not in ("", showcase().run):
        view = state.change(StreamLabView, run=selected)
    pinned_id = "" if linked else showcase().stream
    with st.container(gap="xxsmall"):
        st.markdown(":small[Before the change]")
        return pick_run(view, "A stream of questions whose kind changes", pinned_id=pinned_id)


def pick_second(record: RunRecord, view: StreamLabView) -> RunRecord | None:
    """Show the choice of the run that comes after the change, and return it; None for a stream without a change.

    A run of a link that can't follow is named in a warning, and the default is shown instead.
    """
    by_id = {other.run_id: other for other in second_runs(record)}
    chosen = view.after or next(iter(by_id), NO_CHANGE)
    if chosen not in (*by_id, NO_CHANGE):
        default = next(iter(by_id), NO_CHANGE)
        instead = record_task_title(by_id[default]) if default in by_id else "a stream without a change"
        st.warning(
            plain(
                f"The run {chosen[:80]} can't come after {record_task_title(record)}: it has to be a finished run of "
                f"the same model, asked in the same way, on another task with as many options. {instead} is shown "
                "instead."
            )
        )
        chosen = default
    names = titles(list(by_id.values()))
    st.session_state[AFTER_KEY] = chosen
    st.selectbox(
        "After the change",
        [*by_id, NO_CHANGE],
        format_func=lambda run_id: names.get(run_id, "No change: only the first run"),
        key=AFTER_KEY,
        on_change=state.taking(StreamLabView, "after", AFTER_KEY, change=""),
    )
    if not by_id:
        st.caption(
            f"A change needs another finished run of {plain(record.spec.model_name)} with as many options, asked in "
            "the same way about another task."
        )
    return by_id.get(chosen)


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
    k = option_count(record.run_id)

    def order(other: RunRecord) -> tuple[bool, tuple[int, str], str]:
        return other.spec.dtype != own.dtype, task_order(record_task_key(other)), other.run_id

    fitting = [other for other in alike if option_count(other.run_id) == k]
    return sorted(fitting, key=order)


def stream_tables(first: str, second: str | None, score: str) -> dict[str, Any]:
    """The tables from which the Stream lab's component computes, for two runs, or one without a change.

    Raises :class:`~core.errors.InputError` for runs that can't be one stream.
    """
    return _stream_tables(run_key(first), None if second is None else run_key(second), score)


def option_count(run_id: str) -> int:
    """The number of options of a finished run's questions."""
    return load_compared(run_key(run_id)).k


# 0.2 MB per entry, at most 11 MB for two runs of 100,000 questions: 3 MB in all. A view needs one.
@st.cache_resource(max_entries=16, show_spinner="Reading the questions …")
def _stream_tables(first: RunKey, second: RunKey | None, score: str) -> dict[str, Any]:
    runs = load_evaluation(first), None if second is None else load_evaluation(second)
    return stream_lab.stream_tables(stream_lab.stream_pool(*runs, score))
