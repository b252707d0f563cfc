"""Import uploaded results of other tools: they are read, shown, and stored when a person confirms."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.data import import_jury
from app.components.data.import_formats import FORMATS, JURY
from app.components.data.import_offer import offer
from app.components.data.import_table import table_form
from app.formatting import plain
from core.errors import InputError

FORMAT_KEY = "bring_format"
UNNAMED_MODEL = "unknown"
"""The folder of uploaded files. lm-evaluation-harness names a folder after its model, but an upload has no folder."""


def section() -> None:
    """Show the steps of an import: choose a format, upload files, check what was read, confirm."""
    chosen = st.segmented_control(
        "Format",
        list(FORMATS),
        format_func=lambda name: FORMATS[name].title,
        default="table",
        required=True,
        key=FORMAT_KEY,
    )
    of = FORMATS[chosen]
    st.caption(of.sentence)
    files = st.file_uploader(
        f"{of.title} files",
        type=[e.lstrip(".") for e in of.endings],
        accept_multiple_files=True,
        key=f"upload-{chosen}",
    )
    st.caption(
        "For files larger than 200 MB, use `python -m core import`. Every figure that a file states is "
        "computed again and checked."
    )
    if not files:
        return
    temporary = Path(tempfile.mkdtemp(prefix="hedge-upload-"))
    folder = temporary / UNNAMED_MODEL
    folder.mkdir()
    try:
        paths = _write_uploads(files, folder)
        if chosen == JURY:
            import_jury.offer(paths, folder, key=_digest(files))
        elif of.read is None:
            table_form(paths, folder)
        else:
            reader = of.read
            offer(_digest(files), lambda: reader(paths, folder))
    except InputError as error:
        st.error(plain(_without_folder(folder, str(error))))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _without_folder(folder: Path, message: str) -> str:
    """The message with each uploaded file under its own name, without the temporary folder from which it was read."""
    return message.replace(f"{folder}/", "").replace(str(folder), "The upload")


def _write_uploads(files: Sequence[Any], folder: Path) -> list[Path]:
    paths = []
    for file in files:
        path = folder / Path(file.name).name
        if path in paths:
            raise InputError(f"{path.name} was uploaded twice; rename one of the files")
        try:
            path.write_bytes(file.getbuffer())
        except OSError as error:  # for example a name that is too long for this disk
            raise InputError(f"{path.name} can't be saved for reading: {error.strerror}") from error
        paths.append(path)
    return paths


def _digest(files: Sequence[Any]) -> str:
    return hashlib.sha256(repr([(file.name, file.size, file.file_id) for file in files]).encode()).hexdigest()[:12]
