"""The shelf: published result sets, which one click imports, and a comparison with their published figures."""

import re
from collections.abc import Mapping, Sequence

import streamlit as st

from app import state
from app.components.data import imported_notice, published_figures, shelf_jobs
from app.components.data.shelf_jobs import ShelfJob
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence, shortened, size
from app.state.data import NOTHING, DataView
from core.access import without_places
from core.errors import HedgeError
from core.shelf import leaderboard
from core.shelf.bring import Brought, here
from core.shelf.entries import NO_HASH, Entry, ShelfFile, entries, size_of, unhashed
from core.shelf.own_links import is_link
from core.shelf.recompute import summary

FOUND_KEY = "leaderboard_found"
ASKED_KEY = "leaderboard_asked"
"""The model that was looked up last, whether it was found or not. The page runs often, but the hub is asked only
once."""
TYPED_KEY = "leaderboard_typed"

ENTRY_KEY = "shelf_entry"
REFRESH_S = 0.5
STAGES = {"downloading": "Downloading", "importing": "Importing", "recomputing": "Recomputing published figures"}
LABELS = {
    "model": "Models",
    "data": "Data sets",
    "task": "Tasks",
    "set": "Sets of pairs",
    "judge": "Judges",
    "prompt": "Prompts",
}
NO_LICENCE = "The authors state no licence. The files are fetched for your own use, and Hedge passes nothing on."
FIRST = "llm-uncertainty-bench"
"""The entry that is shown if none is chosen."""


def is_open(view: DataView) -> bool:
    """Whether a person has chosen something of the shelf, or a download is running or has ended."""
    return bool(view.shelf) or shelf_jobs.current() is not None


def section(view: DataView) -> None:
    """Show what is on the shelf, and the download that is running or has ended."""
    st.markdown("Results are downloaded, checked, imported, and recomputed here.")
    with spoken():
        job = shelf_jobs.current()
        if job is not None and not job.ended.is_set():
            _at_work(job)
            return
        if job is not None:
            _ended(job)
        entries_by_name, problems = entries()
        for problem in problems:
            st.warning(plain(sentence(without_places(problem))))
        titles = {name: shelf_entry.title for name, shelf_entry in entries_by_name.items()} | {
            leaderboard.NAME: leaderboard.TITLE
        }
        names = sorted(titles, key=lambda name: (name != FIRST, titles[name]))
        if view.shelf and view.shelf not in titles:
            st.warning(plain(f"There is no {view.shelf} on the shelf. The first result set is shown."))
        st.session_state[ENTRY_KEY] = view.shelf if view.shelf in titles else names[0]
        chosen = st.selectbox(
            "Result set",
            names,
            format_func=lambda name: titles[name],
            key=ENTRY_KEY,
            on_change=state.taking(DataView, "shelf", ENTRY_KEY, shelf_model="", shelf_data=""),
        )
        entry = looked_up(view.shelf_model) if chosen == leaderboard.NAME else entries_by_name[chosen]
        if entry is not None:
            _form(entry, {"model": view.shelf_model, "data": view.shelf_data})
        published_figures.published_figures(chosen, view)
        with st.expander("Import your own link"):
            _own_link()


def _own_link() -> None:
    """Show a field for the address of a file, or of a data set on the hub."""
    with st.form("shelf_own_link", border=False, enter_to_submit=False):
        left, right = st.columns([2, 1])
        link = left.text_input(
            "Link",
            placeholder="https://… or OWNER/NAME",
            help="The https address of one file in a format that can be imported, or a data set of the Hugging Face "
            "hub.",
        ).strip()
        only = right.text_input(
            "Only files with", help="A part of the path, or a pattern with *. Empty: all files of the data set."
        ).strip()
        st.caption("Nobody has recorded a hash of these files. Their size and kind are checked before they are read.")
        if st.form_submit_button("Download and import the link"):
            if not is_link(link):
                st.error("Type an https address, or OWNER/NAME of a data set of the Hugging Face hub.")
            else:
                shelf_jobs.start_link(link, only)
                st.rerun()


def _form(entry: Entry, linked: Mapping[str, str]) -> None:
    """Describe an entry, with a choice of files and a download button. ``linked`` is the choice in the page's link."""
    st.markdown(plain(entry.about))
    st.caption(f"{plain(entry.authors)}{_paper(entry)}. {_licence(entry)}")
    if entry.protocol:
        st.caption(plain(f"The authors' protocol. {entry.protocol_said}"))
    if entry.note:
        st.caption(plain(entry.note))
    where = {}
    if entry.choices:
        for column, choice in zip(st.columns(len(entry.choices)), entry.choices, strict=True):
            key = f"shelf-{entry.name}-{choice}"
            if choice in linked:
                st.session_state[key] = _asked_for(entry, choice, linked[choice])
            else:  # a choice that the link does not hold
                st.session_state.setdefault(key, list(entry.values_of(choice)[:1]))
            where[choice] = column.multiselect(
                LABELS.get(choice, choice),
                entry.values_of(choice),
                format_func=lambda value: entry.names.get(value, value),
                key=key,
                on_change=_chosen if choice in linked else None,
                args=(entry, choice, key) if choice in linked else None,
            )
        if not all(where.values()):
            st.caption("Choose at least one of each.")
            return
    files = entry.chosen(where=where)
    missing = [file for file in files if not here([file])]
    about, unknown = size(size_of(files)), unhashed(missing)
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Download and import ({about})" if missing else "Import the set"
        if st.button(label, key="shelf_bring"):
            shelf_jobs.start(entry, where)
            st.rerun()
        st.caption(_files_said(files, missing), help=NO_HASH if unknown else None)


def _asked_for(entry: Entry, choice: str, names: str) -> list[str]:
    """The values that the link's ``names`` ask for. Says which are unknown; without any, the first value is chosen."""
    if names == NOTHING:
        return []
    values = {name: entry.value_named(choice, name) for name in names.split(",") if name}
    for name in (name for name, value in values.items() if value is None):
        st.warning(plain(f"The link asks for {name}, which is not in this result set."))
    return list(dict.fromkeys(value for value in values.values() if value)) or list(entry.values_of(choice)[:1])


def _chosen(entry: Entry, choice: str, key: str) -> None:
    """Write what a person chose into the link."""
    values = list(st.session_state[key])
    text = "" if values == list(entry.values_of(choice)[:1]) else ",".join(values) or NOTHING
    # The whole result set is named with it: a link with a model alone would open another set's first model.
    state.change(DataView, **{"shelf": st.session_state[ENTRY_KEY], f"shelf_{choice}": text})


def _files_said(files: Sequence[ShelfFile], missing: Sequence[ShelfFile]) -> str:
    """The number of files, the number that is already downloaded, and how they are checked."""
    sentence = f"{counted(len(files), 'file')}, about {size(size_of(files))}. "
    if not missing:
        return sentence + f"{'It is' if len(files) == 1 else 'All of them are'} here already, so nothing is downloaded."
    present, unknown = len(files) - len(missing), len(unhashed(missing))
    sentence += f"{present} of them {'is' if present == 1 else 'are'} here already. " if present else ""
    if not unknown:
        return sentence + "Each is checked against its recorded hash."
    if unknown == 1:
        return sentence + "1 of them has no known hash, and its first download is not checked by hash."
    return sentence + f"{unknown} of them have no known hash, and their first downloads are not checked by hash."


def _paper(entry: Entry) -> str:
    match = re.fullmatch(r"arXiv (\d{4}\.\d{4,5})", entry.paper)
    return f", [{entry.paper}](https://arxiv.org/abs/{match[1]})" if match else ""


def _licence(entry: Entry) -> str:
    return f"Licence: {plain(entry.licence)}." if entry.licence else NO_LICENCE


@st.fragment(run_every=REFRESH_S)
def _at_work(job: ShelfJob) -> None:
    """Show the progress of the download, with a button that cancels it. When it has ended, the page runs again."""
    with spoken():
        if job.ended.is_set():
            st.rerun()
        progress = job.progress
        share = min(progress.done / progress.total, 1.0) if progress.total else 0.0
        st.markdown(f"**{plain(job.title)}**")
        st.progress(share, text=plain(f"{STAGES[progress.stage]} {shortened(progress.file, 70)}"))
        with st.container(horizontal=True, vertical_alignment="center"):
            about = f" of about {size(progress.total)}" if progress.total else ""
            words = f"{size(progress.done)}{about}"
            if progress.stage == "downloading" and progress.rate:
                words += f", {size(progress.rate)}/s"
                words += f", {duration(progress.remaining_s)} left" if progress.remaining_s is not None else ""
            st.caption(words)
            if job.stop.is_set():
                st.caption("Cancelling …")
            else:
                st.button("Cancel", key="shelf_cancel", on_click=job.cancel)


def _ended(job: ShelfJob) -> None:
    """Show the result of the last download."""
    with st.container(border=True):
        if job.brought is None:
            st.error(plain(f"{job.title}: {job.problem}."))
        else:
            _figures(job.brought)
            imported_notice.links(job.brought.runs)
            imported_notice.jury_links(job.brought.juries)
        st.button("Dismiss", key="shelf_dismiss", on_click=shelf_jobs.dismiss)


def _figures(done: Brought) -> None:
    """Show how many published figures were reproduced, and a table of those that differ."""
    new = len(done.runs) - len(done.existed)
    parts = [counted(new, "run")] if new else []
    parts += [counted(len(done.juries), "jury", "juries")] if done.juries else []
    sentence = f"{' and '.join(parts) or 'Nothing new was'} imported from {done.entry.title}."
    sentence += f" {counted(len(done.existed), 'run')} had been here already." if done.existed else ""
    differing = [figure for figure in done.figures if not figure.same]
    show = st.warning if differing else st.success
    show(plain(f"{sentence} {summary(done.figures)}."))
    if differing:
        st.dataframe(
            {
                "Model": [figure.model for figure in differing],
                "Task": [figure.task for figure in differing],
                "Figure": [figure.name for figure in differing],
                "Published": [figure.shown(figure.published) for figure in differing],
                "Here": [figure.shown(figure.recomputed) for figure in differing],
            },
            hide_index=True,
        )


def looked_up(linked: str) -> Entry | None:
    """Ask for a model, look its results up once it is given, and return them; None if there are none to show.

    ``linked`` is the model of the page's address, empty if there is none.
    """
    st.markdown(
        "Log-likelihoods of thousands of models, from lm-evaluation-harness, for every question of GPQA, MuSR, BBH and "
        "MMLU-Pro."
    )
    new = bool(linked) and st.session_state.get(ASKED_KEY) != linked
    if new:
        st.session_state[TYPED_KEY] = linked
    with st.form("leaderboard_model", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = st.text_input(
                "Model",
                key=TYPED_KEY,
                placeholder="ORGANISATION/MODEL",
                help="The model's id on the Hugging Face hub, such as `Qwen/Qwen2.5-7B`, or the address of its page.",
            )
            pressed = st.form_submit_button("Look up")
        st.caption(
            "Each model's data set asks for an agreement on the hub, so that GPQA's questions stay out of training "
            "data. Agree on its page, and start Hedge with your token in `HF_TOKEN`."
        )
    if pressed or new:
        _look_up(typed, linked=new and not pressed)
    result: Entry | None = st.session_state.get(FOUND_KEY)
    if result is not None and result.model != linked:
        state.change(DataView, shelf_model=result.model)
    return result


def _look_up(typed: str, *, linked: bool) -> None:
    """Store the leaderboard's results of a model. A model that was not found is removed from the page's address."""
    st.session_state.pop(FOUND_KEY, None)
    st.session_state[ASKED_KEY] = typed
    with spoken(), st.spinner("Looking the model up on the hub"):
        try:
            result = leaderboard.of_model(typed)
        except HedgeError:
            if not linked:
                state.change(DataView, shelf_model="")
            raise
        st.session_state[FOUND_KEY], st.session_state[ASKED_KEY] = result, result.model
