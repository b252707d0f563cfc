"""What `streamlit run app/main.py` runs: the frame around every page."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # streamlit puts only this file's folder there
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from app import navigation, notices, style  # noqa: E402
from app.errors import spoken  # noqa: E402

st.set_page_config(
    page_title="Hedge",
    page_icon=str(navigation.ICON),
    layout="wide",
    # One entry of our own also brings the menu with the light and dark switch, which the minimal toolbar leaves out.
    menu_items={"About": "Hedge shows how sure a language model really is."},
)
st.html(style.CHOSEN)
st.logo(str(navigation.ICON), size="medium")
page = st.navigation(navigation.pages(), position="top")
notices.watch()
with spoken():
    page.run()
