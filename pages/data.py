"""Import results from other tools and from the shelf, and export Hedge's own."""

import streamlit as st

from app import state
from app.components.data import drop_zone, export_files, shelf
from app.components.shared.page_head import head
from app.state.data import DataView

head("Import and export", "Import results of other tools, and export your own.")
view = state.view(DataView)

st.subheader("Import results", anchor=False)
drop_zone.section()

st.subheader("The shelf", anchor="shelf")
shelf.section(view)

st.subheader("Export results", anchor=False)
export_files.section(view)
