"""The drop zone: any number of files, folders and archives, which are read, shown, and imported in one click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.components.data import imported_notice, other_places
from app.components.data.column_form import column_forms, mappings
from app.components.data.doubts import doubts_of_tables, questions_or_results
from app.components.data.dropped_files import CARRIED_KEY, carried, dropped, forget
from app.components.data.import_preview import preview
from app.errors import spoken
from app.formatting import plain, shortened
from charts.bundles import script
from core.exchange.dropped.apart import READERS
from core.exchange.dropped.kinds import listed

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
_keep_paths = st.components.v2.component("hedge_dropped_paths", js=script("dropped_paths"))
FORMATS = (
    f"**Runs**: {listed('runs')}. **Juries**: {listed('jury')}. **For other pages**: {listed('new_run', 'perplexity')}."
)


def section() -> None:
    """Show the drop zone, and below it what was read and the possible actions."""
    imported_notice.show()
    READERS.warm()  # so that the first file is not waited for
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
        st.toggle(
            "Let the button choose a folder",
            key=FOLDERS_KEY,
            help="Folders can always be dropped. A folder's name may say the model.",
        )
        with st.popover("What can be dropped", type="tertiary"):
            st.markdown(FORMATS)
            st.caption(
                "Hedge recognises a file by its content, and computes every figure that a file states again to check "
                "it. Files up to 200 MB that can be read with 1 GB of memory; use `hedge import PATH …` for "
                "larger ones."
            )
        _keep_paths(key="dropped_paths", width="content")  # shows nothing
    if files:
        st.session_state.pop(CARRIED_KEY, None)
    elif found := carried():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(f"{found[0].name} was taken here from another page."), width="stretch")
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
        other_places.show(read.reading)
