"""Notify a person, on whichever page they are, when a run ends.

The frame reads only ``run.json`` files, and only those that have changed. So no database can delay a page.
"""

from __future__ import annotations

import logging
from urllib.parse import urlencode

import streamlit as st

from app.caches import run_cache
from app.components.shared.runs import shown_on, title
from app.formatting import plain
from core.runs.store import ENDED, RunRecord

LOG = logging.getLogger(__name__)
WATCHED = "runs_watched"
POLL_S = 2.0
MOST = 3
SAID = {"done": "Done", "failed": "Failed", "cancelled": "Cancelled"}


def watch() -> None:
    """Show a notice for each run that ends while the page is open. Polls every two seconds if runs are unfinished."""
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
    now = {record.run_id: record for record in run_cache.runs().records}
    over = [now[run_id] for run_id in watched if run_id in now and now[run_id].state in ENDED]
    for record in over[:MOST]:
        st.toast(_said(record), duration="long")
    if len(over) > MOST:
        st.toast(f"{len(over) - MOST} more runs have ended.", duration="long")
    still = {run_id for run_id in watched if run_id in now and now[run_id].state not in ENDED}
    st.session_state[WATCHED] = still
    # A toast shown right before a rerun is lost, so polling stops only at the next tick without a newly ended run.
    if not over and not still:
        st.rerun()


def _said(record: RunRecord) -> str:
    """What has become of a run, with a link to it if it is done. The browser opens the link in a new tab."""
    said = plain(f"{SAID[record.state]}: {title(record)}")
    if record.state != "done":
        return said
    page, view, words = shown_on(record)
    return f"{said}\n\n[{words}]({page.name}?{urlencode(view)})"


def _unfinished() -> set[str]:
    return {record.run_id for record in run_cache.runs().unfinished}
