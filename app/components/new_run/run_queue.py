"""A long queue as one table, in the order in which the runs will start. Selected runs can be moved or cancelled."""

import hashlib
from collections.abc import Sequence

import streamlit as st

from app.formatting import counted, plain, sentence
from core import access
from core.reports.titles import details, record_task_title
from core.runs import actions, engine
from core.runs.status import RunStatus

AS_CARDS = 3
"""Up to this many waiting runs are shown as a card each."""
CHOSEN = "queue_chosen"
SHOWN = 7
HEIGHT = 280


def run_queue(queued: Sequence[RunStatus]) -> None:
    """Show the table and its buttons."""
    with st.container(border=True, gap="small"):
        st.markdown(f"**{counted(len(queued), 'run')} waiting**, the next one first")
        for message in dict.fromkeys(status.message for status in queued if status.message):
            st.caption(plain(sentence(message)))
        chosen = _table(queued)
        with st.container(horizontal=True, vertical_alignment="center"):
            others = {status.run_id for status in queued if not access.owns(status.record.launched_by)}
            _buttons([status.run_id for status in queued], [] if others & set(chosen) else chosen)


def _table(queued: Sequence[RunStatus]) -> list[str]:
    """The ids of the selected runs. The selection follows the runs, not the rows, if other runs leave the queue."""
    ids = [status.run_id for status in queued]
    selected = set(st.session_state.get(CHOSEN, ()))
    shape = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:12]
    table = st.dataframe(
        {
            "Model": [status.record.spec.model_name for status in queued],
            "Task": [record_task_title(status.record) for status in queued],
            "Asked": [details(status.record.spec) for status in queued],
        },
        hide_index=True,
        height=HEIGHT if len(ids) > SHOWN else "auto",
        # Each queue gets its own key, because Streamlit identifies rows only by their position.
        key=f"queue-{shape}",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [i for i, run_id in enumerate(ids) if run_id in selected]}},
    )
    chosen = [ids[i] for i in table["selection"]["rows"] if i < len(ids)]
    st.session_state[CHOSEN] = tuple(chosen)
    return chosen


def _buttons(ids: Sequence[str], chosen: Sequence[str]) -> None:
    none = not chosen
    if st.button("Run first", disabled=none, key="queue_first", help="Choose rows of the table, then press."):
        engine.put_first([run_id for run_id in ids if run_id in set(chosen)])
        st.rerun()
    if st.button("Earlier", disabled=none, key="queue_earlier", help="One place up."):
        engine.reorder(moved(ids, chosen, up=True))
        st.rerun()
    if st.button("Later", disabled=none, key="queue_later", help="One place down."):
        engine.reorder(moved(ids, chosen, up=False))
        st.rerun()
    if st.button("Cancel", disabled=none, key="queue_cancel"):
        refused = actions.cancel(chosen).refused
        st.session_state[CHOSEN] = ()
        if not refused:
            st.rerun()
        st.error(plain(sentence(next(iter(refused.values())))))
    st.caption(f"{len(chosen):,} chosen" if chosen else "none chosen")


def moved(ids: Sequence[str], chosen: Sequence[str], *, up: bool) -> list[str]:
    """The order after moving the chosen runs one place up or down.

    A chosen run stays if it is already at that end, or if only chosen runs stand between it and that end.

    >>> moved(["a", "b", "c", "d"], ["b", "c"], up=True), moved(["a", "b", "c"], ["c"], up=False)
    (['b', 'c', 'a', 'd'], ['a', 'b', 'c'])
    """
    order = list(ids) if up else list(reversed(ids))
    for i in range(1, len(order)):
        if order[i] in chosen and order[i - 1] not in chosen:
            order[i - 1], order[i] = order[i], order[i - 1]
    return order if up else list(reversed(order))
