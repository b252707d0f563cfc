"""What the frame says on every page: which runs can't be read, and when a run ends that the person launched.

The frame reads only ``run.json`` files, and only those that have changed. So no database can delay a page.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlencode

import streamlit as st

from app import navigation
from app.caches import run_cache
from app.caches.run_cache import UnreadableRun
from app.components.shared.runs import shown_on, title
from app.errors import spoken
from app.formatting import counted, plain
from core import access
from core.access import UserRole, without_places
from core.errors import HedgeError
from core.runs.store import ENDED, STATE_WORDS, RunRecord

LOG = logging.getLogger(__name__)
WATCHED = "runs_watched"
POLL_S = 4.0
MOST = 3
MORE = "more_unreadable_runs"


def unreadable_runs() -> None:
    """Name the runs that can't be read, with a button that deletes one if the person may do that."""
    try:
        run_cache.look_again()
        problems = run_cache.runs().problems
    except Exception:  # The page itself reports it.
        LOG.exception("the runs can't be listed")
        return
    if not problems:
        return
    with st.container(gap="xsmall"):
        for unreadable in problems[:MOST]:
            _unreadable(unreadable)
    if len(problems) > MOST:
        others = st.expander(f"{counted(len(problems) - MOST, 'more run')} can't be read", on_change="rerun", key=MORE)
        if others.open:
            with others:
                for unreadable in problems[MOST:]:
                    _unreadable(unreadable)


def _unreadable(unreadable: UnreadableRun) -> None:
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.warning(plain(without_places(str(unreadable))), width="stretch")
        if unreadable.may_delete and st.button(
            "Delete run",
            key=f"delete_unreadable_{unreadable.run_id}",
            help="Moves the run to the bin. You can restore it for a week.",
        ):
            from core.runs import actions  # with the database, for which no page waits

            with spoken():
                actions.delete(unreadable.run_id)
                st.rerun()


def watch(page: str) -> None:
    """Show a notice for each run that ends while the page is open. Polls every four seconds if runs are unfinished.

    The ``page`` New run polls by itself, and shows what has become of each run.
    """
    if page == navigation.NEW_RUN.name:
        return
    try:
        waiting = _unfinished()
    except Exception:  # The page itself reports what is wrong with the runs. A failing notice must not prevent that.
        LOG.exception("no run can be watched")
        return
    at_hand = set(st.session_state.get(WATCHED, ()))
    st.session_state[WATCHED] = at_hand | waiting
    if st.session_state[WATCHED]:
        st.fragment(_tell, run_every=POLL_S)()


def seen_here() -> None:
    """Mark all runs as seen: the person is looking at the list of runs, which shows their state better."""
    st.session_state[WATCHED] = _unfinished()


def _tell() -> None:
    watched: set[str] = st.session_state.get(WATCHED, set())
    if not watched:  # polling ends with the next action; a rerun for it alone could undo a click that was just made
        return
    now = _records(watched)
    over = [record for record in now if record.state in ENDED]
    for record in over[:MOST]:
        st.toast(_said(record), duration="long")
    if len(over) > MOST:
        st.toast(f"{len(over) - MOST} more runs have ended.", duration="long")
    st.session_state[WATCHED] = {record.run_id for record in now if record.state not in ENDED}


def _records(run_ids: Iterable[str]) -> list[RunRecord]:
    """The records of these runs alone, because many pages ask every four seconds. Left out are deleted runs."""
    records = []
    for run_id in run_ids:
        with suppress(HedgeError):
            record = run_cache.record(run_id)
            if record.run_id == run_id:  # and not another one whose id begins with that of a deleted run
                records.append(record)
    return records


def _said(record: RunRecord) -> str:
    """What has become of a run, with a link to what can be done with it. The browser opens the link in a new tab."""
    text = plain(f"{STATE_WORDS[record.state].capitalize()}: {title(record)}")
    if record.state != "done":
        return f"{text}\n\n[See why on New run]({navigation.NEW_RUN.name})"
    page, view, words = shown_on(record)
    return f"{text}\n\n[{words}]({page.name}?{urlencode(view)})"


def _unfinished() -> set[str]:
    """The unfinished runs whose end the person waits for: those that he or she launched."""
    if not access.may(UserRole.LAUNCHER):
        return set()
    under_way, name = run_cache.runs().under_way, access.actor().name
    return {record.run_id for record in under_way if access.mode() == "local" or record.launched_by == name}
