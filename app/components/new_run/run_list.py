"""The current state of runs: progress, rate, remaining time, device, and the actions that are possible."""

from collections.abc import Sequence

import streamlit as st

from app import navigation, notices
from app.caches import live_runs
from app.caches.live_runs import LiveRuns
from app.components.new_run import form, run_groups, run_queue
from app.components.shared.caveat_notes import caveat_note
from app.components.shared.resume import resume_button
from app.components.shared.runs import shown_on, titles
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence, size
from core import access
from core.models.devices.nvml import GpuMetrics
from core.reports.titles import details, record_task_title
from core.runs import actions, engine, store, trash
from core.runs.agent import host_reports
from core.runs.status import RunStatus
from core.runs.trash import TrashedRun
from core.storage import disk

POLL_S = 1.0
LOG_LINES = 40
NOTABLE = 1.5
"""A card says how long scoring took if the run took this many times as long."""
ENDED_SHOWN = 5
DELETED = "deleted_runs"
CHANGE_HELP = "Puts this run's choices into the form, so that you can change them and launch another run."
DELETE_HELP = "Moves the run to the bin. You can restore it for a week."


def run_list(*, was_busy: bool) -> None:
    """Show all unfinished runs and the latest finished ones. Polls every second while a run is active.

    ``was_busy`` says whether one was when the form above was drawn, which is drawn again if none is any more.
    """
    busy = live_runs.current(refresh=True).busy
    st.fragment(_live, run_every=POLL_S if busy else None)(busy or was_busy)


def _live(was_busy: bool) -> None:
    with spoken():
        now = live_runs.current()
        if was_busy and not now.busy:
            st.rerun()  # rerun the whole page: polling ends, and other parts see the finished run
        _database(now)
        notices.seen_here()
        queued = [status for status in now.statuses if status.state == "queued"]
        running = [status for status in now.statuses if status.state == "running"]
        ended = [status for status in now.statuses if status.ended]
        if not now.statuses and not now.problem and not now.waiting_s:
            st.caption("Runs that you launch appear here with their progress.")
        listed = run_groups.run_groups(now.statuses)
        gpus = host_reports.latest_metrics() if running else {}
        for status in running:
            _card(status, gpus.get(status.worker))
        as_cards = len(queued) <= run_queue.AS_CARDS
        for status in queued if as_cards else ():
            _card(status, alone=len(queued) == 1)
        if not as_cards:
            run_queue.run_queue(queued)
        # A group's card lists its finished runs. One that stopped has a card of its own, which says why.
        ended = [status for status in ended if status.run_id not in listed or status.state != "done"]
        for status in ended[:ENDED_SHOWN]:
            _card(status)
        if len(ended) > ENDED_SHOWN:
            st.caption(f"{counted(len(ended) - ENDED_SHOWN, 'more run')} ended recently. All runs are listed below.")


def _database(now: LiveRuns) -> None:
    if now.problem:
        st.error(plain(sentence(now.problem)))
    elif now.waiting_s:
        st.warning(
            f"The run database has not answered for {duration(now.waiting_s)}. The runs below are as they were then."
        )


def _card(status: RunStatus, gpu: GpuMetrics | None = None, *, alone: bool = True) -> None:
    with st.container(border=True, gap="small"):
        spec = status.record.spec
        with st.container(horizontal=True, wrap=False):
            task = record_task_title(status.record)
            st.markdown(f"**{plain(spec.model_name)}** on {plain(task)}", width="stretch")
            st.markdown(f"**{_state_words(status)}**", width="content")
        st.caption(plain(f"{details(spec)}{_scoring_words(status)}"))
        if status.state == "running":
            _progress(status)
            if words := _device(status, gpu):
                st.caption(plain(" · ".join(words)))
        if status.message and status.state == "failed":
            st.error(plain(sentence(status.message)))
        elif status.message and status.state == "paused":
            st.warning(plain(sentence(status.message)))
        elif status.message and status.state != "done":
            st.caption(plain(sentence(status.message)))
        if status.state == "done" and spec.answers:
            caveat_note(status.record)
        with st.container(horizontal=True, vertical_alignment="center"):
            _actions(status, alone=alone)
        _log(status)


def _state_words(status: RunStatus) -> str:
    record = status.record
    if status.state == "done" and record.started and record.ended:
        return f"finished in {duration(record.ended - record.started)}"
    return store.STATE_WORDS[status.state]


def _scoring_words(status: RunStatus) -> str:
    """How much of a finished run's time the scoring took; the rest is loading and the self-check."""
    record = status.record
    seconds = record.provenance.get("scoring_seconds")
    if status.state != "done" or not (seconds and record.started and record.ended):
        return ""
    if record.ended - record.started < NOTABLE * seconds:
        return ""
    rest = "checking" if record.spec.servers else "loading and checking"
    return f" · {max(seconds, 0.1):.1f} s of scoring, the rest is {rest}"


def _progress(status: RunStatus) -> None:
    progress = status.progress
    if progress is None or not progress.total:
        st.progress(0.0, text=plain(progress.stage if progress else "starting"))
        return
    spec = status.record.spec
    unit = "prompt" if spec.answers else "message" if spec.measures_perplexity else "step"
    parts = [f"{progress.done:,} of {counted(progress.total, unit)}", progress.stage]
    if progress.rate:
        fast = progress.rate >= 0.95
        parts.append(f"{progress.rate:,.1f} a second" if fast else f"1 in {1 / progress.rate:,.0f} s")
    if progress.remaining_s is not None:
        parts.append(f"{duration(progress.remaining_s)} left")
    if status.worker:
        parts.append(f"worker {status.worker}")
    st.progress(min(1.0, progress.done / progress.total), text=plain(" · ".join(parts)))


def _device(status: RunStatus, gpu: GpuMetrics | None) -> list[str]:
    """What computes the run: the device with its load, memory and temperature, the scoring method, and the batch's
    budget.
    """
    engine_said = status.record.provenance.get("engine", {})
    words = [engine_said["device"]] if engine_said.get("device") else []
    if gpu:
        words = [gpu.name, f"{gpu.used_gib:.1f} of {gpu.total_gib:.0f} GiB in use"]
        words += [f"{100 * gpu.load:.0f}% busy"] if gpu.load is not None else []
        words += [f"{gpu.celsius} °C"] if gpu.celsius is not None else []
    if engine_said.get("rung"):
        words.append(f"scores by {engine_said['rung']}")
    budget = engine_said.get("budget") or {}
    if budget.get("bytes"):
        words.append(f"a batch takes at most {size(budget['bytes'])}")
    if status.tries > 1:
        words.append(f"try {status.tries}")
    return words


def _actions(status: RunStatus, *, alone: bool) -> None:
    run_id = status.run_id
    if not access.owns(owner := status.record.launched_by) and not store.is_bundled(run_id):
        st.caption(plain(f"Only {owner or 'the administrator of this server'} and an administrator can change it."))
    if status.state == "done":
        # A link and not a button: the browser handles the click, so it is not lost if the list is redrawn at that
        # moment.
        page, view, open_words = shown_on(status.record)
        navigation.link(page, open_words, **view)
        if page is navigation.ALPHA_LAB:
            navigation.link(navigation.ONE_QUESTION, "One question", run=run_id)
    elif status.ended and access.owns(owner):
        label = "Try again" if status.state == "failed" else "Resume"
        if resume_button(status.record, key=f"resume-{run_id}", label=label):
            st.rerun()
        spec = status.record.spec
        if spec.answers and st.button(
            "Change the settings", key=f"change-{run_id}", on_click=form.fill, args=(spec,), help=CHANGE_HELP
        ):
            st.rerun()  # the whole page, because the form is not part of this list
    elif access.owns(owner):
        if status.state == "queued" and not alone and st.button("Run first", key=f"first-{run_id}"):
            engine.put_first([run_id])
            st.rerun(scope="fragment")
        if st.button("Cancel", key=f"cancel-{run_id}"):
            engine.cancel(run_id)
            st.rerun()
    if status.ended and not store.is_bundled(run_id):
        if access.owns(owner) and st.button("Delete", key=f"delete-{run_id}", help=DELETE_HELP):
            actions.delete(run_id)
            st.session_state[DELETED] = (run_id,)
            st.rerun()
        st.caption(f"{size(disk.disk_use(store.folder_of(run_id)))} on disk")


def binned_titles(binned: Sequence[TrashedRun]) -> dict[str, str]:
    """The title of each run in the bin by its id; a run whose record is damaged has its id."""
    records = {each.run_id: record for each in binned if (record := each.record)}
    return {each.run_id: each.run_id for each in binned} | titles(list(records.values()))


def undo_notice() -> None:
    """Show what was deleted last in this window, with a button that restores it."""
    gone: tuple[str, ...] = st.session_state.get(DELETED, ())
    binned = [each for each in trash.binned() if each.run_id in gone]
    gone = tuple(dict.fromkeys(each.run_id for each in binned))
    if not gone:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        what = binned_titles(binned)[gone[0]] if len(gone) == 1 else counted(len(gone), "run")
        st.markdown(f"Deleted {plain(what)}.", width="stretch")
        if st.button("Undo", key="undo_delete"):
            del st.session_state[DELETED]
            for run_id in gone:
                trash.restore(run_id)
            st.rerun()
        if st.button("Dismiss", key="dismiss_delete"):
            del st.session_state[DELETED]
            st.rerun()


def _log(status: RunStatus) -> None:
    log = st.expander("Log", key=f"log-{status.run_id}", on_change="rerun")
    if log.open:
        lines = store.read_log(status.run_id, lines=LOG_LINES)
        log.code("\n".join(lines) or "nothing yet", language=None, wrap_lines=True)


def agent_notice() -> None:
    """Make sure that an agent executes the runs that wait, and say so if none does."""
    runs = live_runs.current()
    if not runs.busy or engine.agent_alive() or runs.problem:  # the agent can't run without a database
        return
    with spoken(), st.spinner("Waking the agent that executes runs …"):
        engine.ensure_agent()
