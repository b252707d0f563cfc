"""The drop zone: any number of files, folders and archives, which are read, shown, and imported in one click."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st

from app import navigation, state
from app.components.data import imported_notice
from app.components.data.column_form import column_forms, mappings
from app.components.data.doubts import doubts_of_tables, first_option, questions_or_results
from app.components.data.dropped_files import dropped, forget
from app.components.data.import_preview import preview, short_names
from app.components.perplexity import choice_benchmark, perplexity_form
from app.components.shared.bundled import component
from app.components.shared.wrong_place import CARRIED_KEY, carried
from app.errors import spoken
from app.formatting import counted, plain, sentence, shortened
from app.state.fields import joined
from app.state.new_run import NewRunView
from core.errors import HedgeError
from core.exchange.dropped.apart import FORK_SERVER, apart
from core.exchange.dropped.files import DroppedFile
from core.exchange.dropped.found import FoundFile, Reading
from core.exchange.dropped.kinds import KINDS, listed
from core.exchange.dropped.question_files import keep
from core.models.perplexity import choices, conversation_files
from core.models.perplexity.choices import digest_of
from core.models.perplexity.conversations import Conversation
from core.tables.encodings import read_text

LINES = 20
"""The most lines that say how a file was read."""
GENERATION_KEY = "drop_generation"
FOLDERS_KEY = "drop_folders"
ZONE_KEY = "drop_zone"
TALL = f"""<style>
.st-key-{ZONE_KEY} [data-testid="stFileUploaderDropzone"] {{
  min-height: 5.5rem; align-items: center; border: 1px dashed;
}}
.st-key-{ZONE_KEY} [data-testid="stFileUploaderDropzoneInstructions"] {{ display: none; }}
</style>"""
"""Makes the drop zone large enough to aim at. Its label says the largest size as all sizes here are written."""
_keep_paths = component("dropped_paths", styled=False)
FORMATS = (
    f"**Runs**: {listed('runs')}. **Juries**: {listed('jury')}. **For other pages**: {listed('new_run', 'perplexity')}."
)


def section() -> None:
    """Show the drop zone, and below it what was read and the possible actions."""
    imported_notice.show()
    FORK_SERVER.warm()  # so that the first file is not waited for
    generation = st.session_state.setdefault(GENERATION_KEY, 0)
    folders = bool(st.session_state.get(FOLDERS_KEY))
    st.html(TALL)
    with st.container(key=ZONE_KEY):
        files = st.file_uploader(
            f"Drop files, folders or archives here, each of at most {st.get_option('server.maxUploadSize')} MB",
            accept_multiple_files="directory" if folders else True,
            key=f"drop-{generation}-{folders}",
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("What can be dropped", type="tertiary"):
            st.markdown(FORMATS)
            st.toggle(
                "Let the button choose a folder",
                key=FOLDERS_KEY,
                help="Folders can always be dropped. A folder's name may say the model.",
            )
            st.caption(
                "Hedge recognises a file by its content, and computes every figure that a file states again to check "
                "it. Files up to 200 MB that can be read with 1 GB of memory; use `hedge import PATH …` for "
                "larger ones."
            )
        _keep_paths(key="dropped_paths", width="content")  # shows nothing
    if files:
        st.session_state.pop(CARRIED_KEY, None)
    elif moved := carried():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(f"{moved[0].name} was taken here from another page."), width="stretch")
            st.button("Dismiss", on_click=st.session_state.pop, args=(CARRIED_KEY,), key="dismiss_carried")
    given: Sequence[Any] = files or carried()
    if not given:
        forget()
        return
    bar = st.empty()
    bar.progress(0.0, text="Opening the files")

    def progress(share: float, name: str) -> None:
        bar.progress(min(share, 1.0), text=plain(f"Reading {shortened(name, 80)}"))

    with spoken():
        read = dropped(given, mappings(), progress)
        bar.empty()
        questions_or_results(read.reading)
        doubts_of_tables(read.reading)
        column_forms(read.reading)
        if preview(read):
            st.session_state[GENERATION_KEY] = generation + 1
            st.session_state.pop(CARRIED_KEY, None)
            forget()
            st.rerun()
        show(read.reading)


def show(reading: Reading) -> None:
    """Show the files that are of use on another page, by kind."""
    by_kind: dict[str, list[FoundFile]] = {}
    for file in reading.elsewhere:
        if KINDS[file.kind].place:
            by_kind.setdefault(file.kind, []).append(file)
    if not by_kind:
        return
    st.markdown("**For other pages**")
    for kind, files in by_kind.items():
        kind_record = KINDS[kind]
        starts = _starts(files) if kind == "questions" else {}
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            named = short_names([file.file.name for file in files])
            title = counted(len(files), kind_record.title, kind_record.plural)
            st.markdown(f"**{title}**: {plain(named)}. {kind_record.sentence}", width="stretch")
            _button(kind, files, starts)
        lines = {file.file.name: file.read_as for file in files if file.read_as}
        for name, line in list(lines.items())[:LINES]:
            st.caption(plain(f"{short_names([name])}: {line}"))


def _button(kind: str, files: Sequence[FoundFile], starts: Mapping[str, int | None]) -> None:
    try:
        if kind == "questions" and st.button(
            "Use on New run",
            key="use-questions",
            disabled=None in starts.values(),
            help="Say first which number the first option has." if None in starts.values() else None,
        ):
            tasks = joined(keep(f.file.path, f.file.name, starts.get(f.file.name)) for f in files)
            state.change(NewRunView, tasks=tasks)
            navigation.go(navigation.NEW_RUN)
        if kind == "conversation" and st.button("Open on Perplexity", key=f"use-{kind}"):
            navigation.go(navigation.PERPLEXITY, talks=",".join(keep_conversations([f.file for f in files])))
        if kind == "choices" and st.button("Open on Perplexity", key=f"use-{kind}"):
            keep_choices(files[-1].file.path)
            navigation.go(navigation.PERPLEXITY)
        if kind in ("model", "weights"):
            navigation.link(navigation.NEW_RUN, "Open New run")
    except HedgeError as error:
        st.error(plain(sentence(str(error))))


def _starts(files: Sequence[FoundFile]) -> dict[str, int | None]:
    """The number of the first option of each bank that can be read in two ways; None until a person says it."""
    return {file.file.name: first_option(file.file.name) for file in files if file.undecided}


def keep_conversations(files: Sequence[DroppedFile]) -> list[str]:
    """Add conversations to those of this window and return the hashes of those to show. Raises an error if a file has
    none."""
    fresh: dict[str, Conversation] = {}
    notes = []
    for file in files:
        name = PurePosixPath(file.name).name
        read = apart(conversation_files.parse, file.path.read_bytes(), name, name=name)
        fresh |= {conversation.digest: conversation for conversation in read.conversations}
        notes.append(f"{name}: {read.read_as}.")
    return perplexity_form.keep(fresh, notes)


def keep_choices(path: Path) -> None:
    """Use a file's choices in this window, and unfold them. Raises an error if the file has none."""
    parsed = choices.parse(read_text(path)[0], path.name)
    digest = digest_of(parsed)
    st.session_state[choice_benchmark.UPLOADED] = {digest: parsed}
    st.session_state[choice_benchmark.SOURCE_KEY] = digest
    st.session_state[choice_benchmark.OPEN_KEY] = True
