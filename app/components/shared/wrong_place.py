"""A hint for a file that was given to the wrong page: what it is, where it belongs, and a button that goes there."""

import hashlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app import navigation
from app.formatting import plain
from core import access
from core.errors import AccessError, HedgeError, InputError, Undecided
from core.exchange.dropped import question_files
from core.exchange.dropped.apart import apart
from core.exchange.dropped.kinds import KINDS
from core.exchange.dropped.recognition import kind_of
from core.questions import catalogue, split_task
from core.storage.names import cut_name, named

ON_PERPLEXITY = {
    "conversation": "Upload it under “How words are scored, and your own conversations”.",
    "choices": "Upload it under “Which reply is the counselor's own?”.",
}
CARRIED_KEY = "carried_files"
LARGEST_CARRIED = 200_000_000
"""Bytes of a file that is taken to another page."""


@dataclass(frozen=True, slots=True)
class CarriedFile:
    """A file that was uploaded on another page and moved to this one."""

    name: str
    content: bytes

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return len(self.content)

    @property
    def file_id(self) -> str:
        """A hash of its content."""
        return hashlib.sha256(self.content).hexdigest()[:12]

    def getbuffer(self) -> bytes:
        """Its bytes, as an uploaded file gives them."""
        return self.content


def carry(name: str, content: bytes) -> None:
    """Move an uploaded file to the Data page."""
    st.session_state[CARRIED_KEY] = [CarriedFile(name, content)]


def carried() -> list[CarriedFile]:
    """The files that were moved here from other pages."""
    files: list[CarriedFile] = st.session_state.get(CARRIED_KEY, [])
    return files


def kind_of_upload(name: str, content: bytes) -> str:
    """The kind of an uploaded file (:data:`core.exchange.dropped.kinds.KINDS`); empty if it is unknown."""
    with tempfile.TemporaryDirectory(prefix="hedge-hint-") as folder:
        path = Path(folder) / (cut_name(Path(name).name, most=80) or "file")
        path.write_bytes(content)
        return _kind(path)


def _kind(path: Path) -> str:
    try:
        return apart(kind_of, path, name=path.name)
    except (HedgeError, OSError, ValueError, RecursionError):
        return ""


def hint(name: str, content: bytes, *, here: str) -> bool:
    """Say what an upload is if it belongs elsewhere than ``here`` (a kind). Returns whether it does."""
    kind = kind_of_upload(name, content)
    return kind != here and _say(kind, name, content)


def hint_of_task(task: str) -> None:
    """Say how a file of questions is read, or what a file is that was entered as a task but has no questions."""
    if not catalogue.is_file(task):
        return
    try:
        path = named(split_task(task)[1] or task)
        access.check_path(path)
    except (AccessError, InputError):
        return  # the launch says so
    if not path.is_file():
        return
    kind = _kind(path)
    if kind and KINDS[kind].place != "new_run" and kind != "answers":
        _say(kind, path.name, path.read_bytes() if path.stat().st_size <= LARGEST_CARRIED else None)
    elif kind == "questions" and not split_task(task)[1]:
        is_read, line = _read_as(path, path.stat().st_mtime_ns, path.stat().st_size)
        (st.caption if is_read else st.warning)(plain(line))


@st.cache_data(max_entries=32, show_spinner=False)
def _read_as(path: Path, written: int, size: int) -> tuple[bool, str]:
    """Whether a file of questions is read, and how, or why not; ``written`` and ``size`` are those of this version."""
    try:
        return True, f"{path.name}: {apart(question_files.read_as, path, path.name, name=path.name)[1]}"
    except HedgeError as error:
        line = str(error).replace(str(path), path.name)
        if isinstance(error, Undecided):
            line = f"{re.split(r'; [^;]*--', line)[0]}; import it on the page Data, which asks"
        return False, line


def _say(kind: str, name: str, content: bytes | None) -> bool:
    """Show the hint. Returns whether there is anything to say."""
    place = KINDS[kind].place if kind else ""
    if not place:
        return False
    what = f"{name} {KINDS[kind].phrase}"
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        if place in ("runs", "jury"):
            st.markdown(plain(f"{what}. It belongs on the page Data, which imports it."), width="stretch")
            if content is not None and st.button("Take it to Data", key=f"carry-{name}"):
                carry(name, content)
                navigation.go(navigation.DATA)
        elif place == "perplexity":
            st.markdown(plain(f"{what}. {ON_PERPLEXITY[kind]}"), width="stretch")
            navigation.link(navigation.PERPLEXITY, "Open Perplexity")
        else:
            st.markdown(plain(f"{what}. {KINDS[kind].sentence}"), width="stretch")
            if content is not None and kind == "questions" and st.button("Take it to Data", key=f"carry-{name}"):
                carry(name, content)
                navigation.go(navigation.DATA)
    return True
