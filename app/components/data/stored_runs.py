"""All runs with their size on disk, with buttons to open, repeat or delete them, and the bin."""

import hashlib
import math
import time
from collections import Counter
from datetime import UTC, datetime

import streamlit as st

from app.caches import run_cache
from app.components.new_run.run_list import DELETED, binned_titles
from app.components.shared.runs import open_run, titles
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence, size
from core import access
from core.access import UserRole
from core.errors import HedgeError
from core.reports.run_filter import matching
from core.runs import actions, store, trash
from core.runs.actions import ActionResult

DAY_S = 86_400
SHOWN = 7
HEIGHT = 300
SEARCHED = "Model, task, setting or id"


def run_shelf() -> None:
    """Show the folded part, which reads its content only when it is opened."""
    shelf = st.expander("All runs, disk space and bin", key="shelf", on_change="rerun")
    if shelf.open:
        with shelf, spoken():
            _runs()
            st.markdown("**Bin**")
            _bin()


def _runs() -> None:
    records = [record for record in run_cache.runs().records if not store.is_bundled(record.run_id)]
    if not records:
        st.caption("There are no runs of your own yet. Runs that ship with Hedge can't be deleted and are not listed.")
        return
    sizes = {record.run_id: run_cache.disk_use(record.run_id) for record in records}
    words = titles(records)
    total = f"{counted(len(records), 'run')}, {size(sum(sizes.values()))} in total."
    typed = st.text_input(
        "Search", key="shelf_search", type="search", live=True, placeholder=SEARCHED, icon=":material/search:"
    )
    records = matching(records, typed or "")
    ids = [record.run_id for record in records]
    shape = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:12]
    st.caption(f"{total} Select rows, then choose an action.")
    table = st.dataframe(
        {
            "Run": [words[run_id] for run_id in ids],
            "State": [store.STATE_WORDS[record.state] for record in records],
            "Launched": [datetime.fromtimestamp(record.created, UTC) for record in records],
            "Disk": [size(sizes[run_id]) for run_id in ids],
        },
        column_config={
            "Launched": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", timezone=st.context.timezone)
        },
        hide_index=True,
        height=HEIGHT if len(ids) > SHOWN else "auto",
        key=f"shelf-{shape}",
        on_select="rerun",
        selection_mode="multi-row",
    )
    chosen = [ids[i] for i in table["selection"]["rows"] if i < len(ids)]
    with st.container(horizontal=True, vertical_alignment="center"):
        done = len(chosen) == 1 and run_cache.record(chosen[0]).state == "done"
        if st.button("Open", disabled=not done, key="shelf_open"):
            open_run(chosen[0])
        if st.button("Repeat", disabled=not chosen, key="shelf_repeat"):
            _tell(actions.repeat(chosen))
        if st.button("Delete", disabled=not chosen, key="shelf_delete"):
            _tell(_delete(chosen))
        st.caption(f"{len(chosen):,} chosen" if chosen else "none chosen")


def _delete(run_ids: list[str]) -> ActionResult:
    done, refused = [], {}
    for run_id in run_ids:
        try:
            actions.delete(run_id)
            done.append(run_id)
        except HedgeError as error:
            refused[run_id] = str(error)
    st.session_state[DELETED] = tuple(done)
    return ActionResult(tuple(done), refused)


def _tell(outcome: ActionResult) -> None:
    if not outcome.refused:
        st.rerun()
    for reason, number in Counter(outcome.refused.values()).items():
        st.error(plain(f"{sentence(reason)} ({counted(number, 'run')})"))


def _bin() -> None:
    binned = trash.binned()
    if not binned:
        st.caption("The bin is empty. Deleted runs stay here for a week, and you can restore them.")
        return
    words = binned_titles(binned)
    for each in binned:
        with st.container(horizontal=True, vertical_alignment="center"):
            left = max(0.0, each.deleted + trash.KEEP_S - time.time())
            when = duration(left) if left < DAY_S else counted(math.ceil(left / DAY_S), "day")
            st.caption(plain(f"{words[each.run_id]}: {size(each.size)}, deleted for good in {when}"), width="stretch")
            if access.owns(each.launched_by) and st.button("Restore", key=f"restore-{each.folder.name}"):
                trash.restore(each.run_id)
                st.rerun()
    if not access.may(UserRole.ADMINISTRATOR):
        return
    if st.button(f"Empty the bin ({size(sum(each.size for each in binned))})", help="This deletes the runs for good."):
        trash.empty_bin()
        st.rerun()
