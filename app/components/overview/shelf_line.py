"""One line that leads to the shelf, where only the runs that come with Hedge are here."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import navigation
from core.runs import store
from core.runs.store import RunRecord

ENTRY = "llm-uncertainty-bench"


def shelf_line(finished: Sequence[RunRecord]) -> None:
    """Show the line if every finished run comes with Hedge."""
    if all(store.is_bundled(record.run_id) for record in finished):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                "These are pocket models. Published results of models up to 72 B parameters are on the shelf.",
                width="content",
            )
            navigation.link(navigation.DATA, "Open the shelf", shelf=ENTRY)
