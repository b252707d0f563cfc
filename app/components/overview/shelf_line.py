"""One line that leads to the shelf, for a home that has only the runs that come with Hedge."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import navigation
from app.caches import overview_cache
from core import access
from core.access import UserRole
from core.runs import store
from core.runs.store import RunRecord

ENTRY = "llm-uncertainty-bench"


def shelf_line(finished: Sequence[RunRecord]) -> None:
    """Show the line if every finished run comes with Hedge and the person may bring others in."""
    if access.may(UserRole.LAUNCHER) and overview_cache.kept(finished, "all shipped", lambda: _all_shipped(finished)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                "Published results of models up to 72 B parameters are on the shelf.",
                width="content",
            )
            navigation.link(navigation.DATA, "Open the shelf", shelf=ENTRY)


def _all_shipped(finished: Sequence[RunRecord]) -> bool:
    return all(store.is_bundled(record.run_id) for record in finished)
