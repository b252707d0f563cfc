"""Files that do not become runs: what each of them is, and a button that moves it to the page that uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import streamlit as st

from app import navigation
from app.components.data.doubts import first_option
from app.components.data.import_preview import short_names
from app.components.perplexity import choice_benchmark, perplexity_form
from app.formatting import counted, plain, sentence
from core.errors import HedgeError
from core.exchange.dropped.apart import apart
from core.exchange.dropped.files import DroppedFile
from core.exchange.dropped.found import FoundFile, Reading
from core.exchange.dropped.kinds import KINDS
from core.exchange.dropped.question_files import keep
from core.models.perplexity import choices, conversation_files
from core.models.perplexity.choices import digest_of
from core.models.perplexity.conversations import Conversation
from core.tables.encodings import read_text

LINES = 20
"""The most lines that say how a file was read."""
TASKS_KEY = "launch_tasks"
"""The tasks of the form on New run."""


def show(reading: Reading) -> None:
    """Show the files that are of use on another page, by kind."""
    by_kind: dict[str, list[FoundFile]] = {}
    for found in reading.elsewhere:
        if KINDS[found.kind].place:
            by_kind.setdefault(found.kind, []).append(found)
    if not by_kind:
        return
    st.markdown("**For other pages**")
    for kind, files in by_kind.items():
        of = KINDS[kind]
        starts = _starts(files) if kind == "questions" else {}
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            named = short_names([found.file.name for found in files])
            title = counted(len(files), of.title, of.plural)
            st.markdown(f"**{title}**: {plain(named)}. {of.sentence}", width="stretch")
            _button(kind, files, starts)
        lines = {found.file.name: found.read_as for found in files if found.read_as}
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
            st.session_state[TASKS_KEY] = [keep(f.file.path, f.file.name, starts.get(f.file.name)) for f in files]
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
    return {found.file.name: first_option(found.file.name) for found in files if found.undecided}


def keep_conversations(files: Sequence[DroppedFile]) -> list[str]:
    """Add conversations to those of this window and return the hashes of those to show. Raises an error if a file has
    none."""
    found: dict[str, Conversation] = {}
    notes = []
    for file in files:
        name = PurePosixPath(file.name).name
        read = apart(conversation_files.parse, file.path.read_bytes(), name, name=name)
        found |= {one.digest: one for one in read.conversations}
        notes.append(f"{name}: {read.read_as}.")
    return perplexity_form.keep(found, notes)


def keep_choices(path: Path) -> None:
    """Use a file's choices in this window, and unfold them. Raises an error if the file has none."""
    made = choices.parse(read_text(path)[0], path.name)
    digest = digest_of(made)
    st.session_state[choice_benchmark.UPLOADED] = {digest: made}
    st.session_state[choice_benchmark.SOURCE_KEY] = digest
    st.session_state[choice_benchmark.OPEN_KEY] = True
