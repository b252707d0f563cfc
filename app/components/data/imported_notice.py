"""What was imported last in this window: links that lead on, and the button that removes it again."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app import navigation
from app.caches import run_cache
from app.components.shared.runs import titles
from app.errors import spoken
from app.formatting import counted, plain
from app.state.fields import MOST_COMPARED
from core.errors import HedgeError
from core.jury.pipeline import jury_store
from core.questions.bank_names import bank_name, task_title
from core.runs import actions, store
from core.runs.store import RunRecord

NOTICE_KEY = "imported_notice"
REMOVED_KEY = "removed_notice"
LINKS_HEIGHT = 300
"""Height in pixels of a list of links to imported runs. Longer lists scroll."""
MOST_GROUPS = 6
"""The most links that compare runs of one task."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The runs and juries of an import; those that are ``fresh`` were not here before."""

    runs: tuple[str, ...]
    fresh: tuple[str, ...]
    juries: tuple[str, ...]
    fresh_juries: tuple[str, ...]


def leave(*, runs: Sequence[str], fresh: Sequence[str], juries: Sequence[str], fresh_juries: Sequence[str]) -> None:
    """Leave a notice for the next time that the page runs."""
    st.session_state.pop(REMOVED_KEY, None)
    done = Imported(tuple(dict.fromkeys(runs)), tuple(fresh), tuple(dict.fromkeys(juries)), tuple(fresh_juries))
    st.session_state[NOTICE_KEY] = done
    st.toast(_said(done), icon=":material/check_circle:")  # the notice itself may be out of sight


def show() -> None:
    """Show the notice of the last import, if there is one."""
    if removed := st.session_state.get(REMOVED_KEY):
        st.info(f"{removed} Removed runs stay in the bin on the page New run for a week.")
    done: Imported | None = st.session_state.get(NOTICE_KEY)
    if done is None:
        return
    with st.container(border=True), spoken():
        st.success(_said(done), icon=":material/check_circle:")
        here = set(store.run_ids())
        links([name for name in done.runs if name in here])
        jury_links(done.juries)
        with st.container(horizontal=True):
            if done.fresh or done.fresh_juries:
                st.button(
                    "Remove these",
                    on_click=_remove,
                    args=(done,),
                    key="remove_imported",
                    help="Removes what this import added. Runs that were here before stay.",
                )
            st.button("Dismiss", on_click=st.session_state.pop, args=(NOTICE_KEY,), key="dismiss_imported")


def _said(done: Imported) -> str:
    parts = [counted(len(done.fresh), "run")] if done.fresh else []
    parts += [counted(len(done.fresh_juries), "jury", "juries")] if done.fresh_juries else []
    sentence = f"{' and '.join(parts) or 'Nothing new was'} imported."
    before = len(done.runs) - len(done.fresh) + len(done.juries) - len(done.fresh_juries)
    return sentence + (f" {before:,} {'was' if before == 1 else 'were'} here already." if before else "")


def _remove(done: Imported) -> None:
    """Take back what the import added: runs go to the bin."""
    gone, failed = 0, []
    for run_id in done.fresh:
        try:
            actions.delete(run_id)
            gone += 1
        except HedgeError as error:
            failed.append(str(error))
    for jury_id in done.fresh_juries:
        try:
            jury_store.delete(jury_id)
            gone += 1
        except HedgeError as error:
            failed.append(str(error))
    st.session_state.pop(NOTICE_KEY, None)
    st.session_state[REMOVED_KEY] = " ".join([f"{gone:,} removed.", *(plain(failure) for failure in failed)])


def jury_links(names: Sequence[str]) -> None:
    """Show a link to the Jury page for each of these juries that is still here."""
    here = set(jury_store.jury_ids())
    for name in names:
        if name in here:
            title = jury_store.read_record(name).name
            navigation.link(navigation.JURY, plain(f"Open {title} on the Jury page"), jury=name)


def links(names: Sequence[str]) -> None:
    """Show links to runs: as many as possible on Compare and on Calibration, and each one in the Alpha lab."""
    names = list(dict.fromkeys(names))
    if not names:
        return
    records = {name: run_cache.record(name) for name in names}
    with st.container(horizontal=True):
        if len(names) == 1:
            navigation.link(navigation.ALPHA_LAB, "Open in the Alpha lab", run=names[0])
            navigation.link(navigation.CALIBRATION, "Calibration", runs=names[0])
            return
        for label, group in _compared(records):
            navigation.link(navigation.COMPARE, plain(label), runs=",".join(group), published="off")
        first = "Calibration" if len(names) <= MOST_COMPARED else f"Calibration of the first {MOST_COMPARED}"
        navigation.link(navigation.CALIBRATION, first, runs=",".join(names[:MOST_COMPARED]))
    titles_by_run = titles(list(records.values()))
    with (
        st.expander("Open in the Alpha lab", expanded=len(names) <= 4),
        st.container(height=LINKS_HEIGHT if len(names) > 8 else "content", gap=None),
    ):
        for number, name in enumerate(names, start=1):
            navigation.link(navigation.ALPHA_LAB, plain(f"{number}. {titles_by_run[name]}"), run=name)


def _compared(records: dict[str, RunRecord]) -> list[tuple[str, list[str]]]:
    """Links to Compare, one for each set of questions that several runs were tested on, with at most as many runs as
    the page can show."""
    by_questions: dict[tuple[str, str], list[str]] = {}
    for name, record in records.items():
        bank = record.provenance.get("bank")
        digest = str(bank.get("test_questions", "")) if isinstance(bank, dict) else ""
        title = task_title(record.spec.task, bank_name(record.spec, record.provenance))
        by_questions.setdefault((title if not digest else "", digest), []).append(name)
    groups = [names for names in by_questions.values() if len(names) > 1]
    if len(groups) == 1 and len(groups[0]) <= MOST_COMPARED:
        return [("Compare these", groups[0])]
    links = []
    for names in groups[:MOST_GROUPS]:
        first = records[names[0]]
        title = task_title(first.spec.task, bank_name(first.spec, first.provenance))
        for start in range(0, len(names), MOST_COMPARED):
            part = names[start : start + MOST_COMPARED]
            if len(part) > 1:
                whole = len(part) == len(names)
                which = f"{len(names)}" if whole else f"{start + 1} to {start + len(part)} of {len(names)}"
                links.append((f"Compare {which} runs of {title}", part))
    return links
