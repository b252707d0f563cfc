"""Import results from other tools and from the shelf, and export Hedge's own."""

import streamlit as st

from app import state
from app.components.data import drop_zone, export_files, shelf
from app.components.data.own_runs import own_runs
from app.components.shared.only_looking import only_looking
from app.components.shared.page_head import head
from app.state.data import DataView
from core import access
from core.access import UserRole

head(
    "Import and export",
    "Import results of other tools, and export your own.",
    terms=("run", "prediction set", "set size", "accuracy"),
)
view = state.view(DataView)

if access.may(UserRole.LAUNCHER):
    own_runs()
    drop_zone.section()
    with st.expander("The shelf: published results of large models", expanded=shelf.is_open(view)):
        shelf.section(view)
else:
    only_looking("import results")

with st.expander("Export results", expanded=bool(view.runs)):
    export_files.section(view)
