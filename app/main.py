"""The script of every page: the frame around it. `app/server.py` serves it.

`streamlit run app/main.py` would serve it without the guard. Streamlit looks in the file for an app before it serves
it, finds the one below, and imports the file in place of running it: this import refuses.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit adds only this file's folder to the path.
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

if __name__ == "main":
    sys.exit("start Hedge with `hedge` or `streamlit run app/server.py`: app/main.py is only a part of it")
    app = st.App(__file__)  # type: ignore[unreachable]

from app import first_paint, menu, navigation, notices, style, tab_title  # noqa: E402
from app.background import following  # noqa: E402
from app.components.shared.shortcuts import shortcuts  # noqa: E402
from app.errors import spoken  # noqa: E402
from app.serving import login  # noqa: E402
from core import settings  # noqa: E402

settings.hold()
st.set_page_config(
    page_title=tab_title.shown(),
    page_icon=str(navigation.ICON),
    layout="wide",
    # One menu entry of our own makes Streamlit show the whole menu, including the light and dark switch that the
    # minimal toolbar leaves out.
    menu_items={"About": "Hedge shows how sure a language model really is."},
)
st.html(style.FRAME)
st.logo(str(navigation.ICON), size="medium")
if login.gate():
    page = st.navigation(menu.pages(), position="top")
    notices.watch(page.url_path)
    notices.unreadable_runs()
    with tab_title.titled(page.title), following(page.url_path), spoken():
        try:
            page.run()
        finally:  # also where a page has nothing to show and stops
            shortcuts()
first_paint.shown.set()
