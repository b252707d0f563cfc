"""Files that do not become runs: what each of them is, and a button that moves it to the page that uses it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from app import navigation
from app.components.data.doubts import first_option
from app.components.data.import_preview import short_names
from app.components.perplexity import choice_benchmark, perplexity_form
from app.formatting import counted, plain, sentence
from core.errors import HedgeError
from core.exchange.dropped.found import FoundFile, Reading
from core.exchange.dropped.kinds import KINDS
from core.exchange.dropped.question_files import keep
from core.perplexity import choices
from core.perplexity import conversations as talks
from core.perplexity.choices import digest_of

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
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            named = short_names([found.file.name for found in files])
            title = counted(len(files), of.title, of.plural)
            st.markdown(f"**{title}**: {plain(named)}. {of.sentence}", width="stretch")
            _button(kind, files)
        lines = {found.file.name: found.read_as for found in files if found.read_as}
        for name, line in list(lines.items())[:LINES]:
            st.caption(plain(f"{short_names([name])}: {line}"))


def _button(kind: str, files: Sequence[FoundFile]) -> None:
    try:
        if kind == "questions":
            _use_questions(files)
        if kind == "conversation" and st.button("Open on Perplexity", key=f"use-{kind}"):
            navigation.go(navigation.PERPLEXITY, talks=",".join(keep_conversations([f.file.path for f in files])))
        if kind == "choices" and st.button("Open on Perplexity", key=f"use-{kind}"):
            keep_choices(files[-1].file.path)
            navigation.go(navigation.PERPLEXITY)
        if kind in ("model", "weights"):
            navigation.link(navigation.NEW_RUN, "Open New run")
    except HedgeError as error:
        st.error(plain(sentence(str(error))))


def _use_questions(files: Sequence[FoundFile]) -> None:
    """The button that starts banks on New run. A bank whose numbers can be read in two ways is asked about first."""
    starts: dict[str, int | None] = {found.file.name: None for found in files}
    undecided = [found.file.name for found in files if found.undecided]
    for name in undecided:
        starts[name] = first_option(name)
    ready = all(starts[name] is not None for name in undecided)
    if st.button("Use on New run", key="use-questions", disabled=not ready):
        st.session_state[TASKS_KEY] = [keep(f.file.path, f.file.name, starts[f.file.name]) for f in files]
        navigation.go(navigation.NEW_RUN)


def keep_conversations(paths: Sequence[Path]) -> list[str]:
    """Add conversations to those of this window and return their hashes. Raises an error if the file has none."""
    found = [one for path in paths for one in talks.parse(_text(path), _name(path))]
    kept = st.session_state.get(perplexity_form.UPLOADED, {})
    st.session_state[perplexity_form.UPLOADED] = kept | {one.digest: one for one in found}
    return [one.digest for one in found]


def keep_choices(path: Path) -> None:
    """Use a file's choices in this window, and unfold them. Raises an error if the file has none."""
    made = choices.parse(_text(path), _name(path))
    digest = digest_of(made)
    st.session_state[choice_benchmark.UPLOADED] = {digest: made}
    st.session_state[choice_benchmark.SOURCE_KEY] = digest
    st.session_state[choice_benchmark.OPEN_KEY] = True


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig", errors="replace")


def _name(path: Path) -> str:
    """The file's name with an ending by which it is read: JSON lines, or text."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return path.name
    return f"{path.stem}.jsonl" if _text(path).lstrip()[:1] == "{" else path.name
