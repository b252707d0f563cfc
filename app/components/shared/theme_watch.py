"""The theme that a person sees, for figures whose colours are fixed when they are drawn.

Streamlit replaces the stand-ins for colours in a Plotly figure once (:mod:`charts.theme`). If the theme changes later,
the figure would keep the colours of the old one. On a page with such a figure a component of the browser watches the
theme and reruns the page when it changes, and the figure is redrawn.
"""

import streamlit as st

from charts.bundles import script

KEY = "shown_theme"
DRAWN_KEY = "drawn_in_theme"

_mount = st.components.v2.component("hedge_theme_watch", js=script("theme_watch"))


def theme_to_draw() -> str:
    """The theme that is shown, "light" or "dark". :func:`watch` says when it is another."""
    reported = (st.session_state.get(KEY) or {}).get("theme")
    theme = str(reported or st.context.theme.type or "light")
    st.session_state[DRAWN_KEY] = theme
    return theme


def watch() -> None:
    """Mount the watch at the end of a page, if the page asked for the theme."""
    drawn = st.session_state.pop(DRAWN_KEY, None)
    if drawn is not None:
        _mount(key=KEY, data={"theme": drawn}, on_theme_change=lambda: None)
