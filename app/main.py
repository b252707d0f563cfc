"""The script that `streamlit run app/main.py` runs: the frame around every page."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit adds only this file's folder to the path.
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from app import first_paint, login, navigation, notices, style  # noqa: E402
from app.background import following  # noqa: E402
from app.components.shared import theme_watch  # noqa: E402
from app.components.shared.shortcuts import shortcuts  # noqa: E402
from app.errors import spoken  # noqa: E402
from core import access  # noqa: E402

st.set_page_config(
    page_title="Hedge",
    page_icon=str(navigation.ICON),
    layout="wide",
    # One menu entry of our own makes Streamlit show the whole menu, including the light and dark switch that the
    # minimal toolbar leaves out.
    menu_items={"About": "Hedge shows how sure a language model really is."},
)
st.html(style.FRAME)
st.logo(str(navigation.ICON), size="medium")
if access.mode() == "local" and (address := st.get_option("server.address")) not in access.LOOPBACK:
    st.error(
        f"This server answers on {address or 'all addresses'}, where others can reach it and do everything that you "
        "can. Start it with `python -m app --public`, with which they can only look, with `--login`, or on 127.0.0.1."
    )
    st.stop()
if login.gate():
    page = st.navigation(navigation.pages(), position="top")
    notices.watch(page.url_path)
    with following(page.url_path), spoken():
        try:
            page.run()
            theme_watch.watch()
        finally:  # also where a page has nothing to show and stops
            shortcuts()
first_paint.shown.set()
