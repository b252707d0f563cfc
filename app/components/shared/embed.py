"""The button "Embed": what a page shows as one HTML file, for a slide or a blog."""

from collections.abc import Callable

import streamlit as st

from app.components.shared.controls import choice
from app.errors import spoken
from charts.html_page import fragment

COLOURS = {"auto": "As the reader's", "light": "Light", "dark": "Dark"}
"""The titles of the themes of an embed (:data:`charts.lab_outside.THEMES`)."""
HELP = "Save what this page shows as one HTML file, in which everything still moves."
MEDIA_TYPE = "text/html"
FRAME = '<iframe src="{{ name }}" title="{{ title }}" width="100%" height="{{ height }}" style="border: 0"></iframe>'


@st.fragment
def embed(
    make: Callable[[str, bool], bytes],
    named: Callable[[], str],
    title: str,
    *,
    height: int,
    key: str,
    texts: bool = False,
    in_menu: bool = False,
) -> None:
    """Show the button. A press opens a choice of the theme, the file to save, and the line of HTML that shows it.

    ``make`` makes the file in a theme, with or without the texts of a run's questions, which happens only while the
    choice is open, as does ``named``, which gives the file's name. ``title`` names the frame for screen readers,
    ``height`` is that of the frame in pixels, and ``key`` begins the widgets' keys. With ``texts``, a person may leave
    out the texts. Inside a popover (``in_menu``), which can't hold another one, it unfolds.
    """
    opened = (
        st.expander("Embed", icon=":material/code:", key=f"{key}_embed", on_change="rerun")
        if in_menu
        else st.popover("Embed", icon=":material/code:", key=f"{key}_embed", on_change="rerun", help=HELP)
    )
    if not opened.open:
        return
    with opened, spoken():
        theme = choice("Colours", COLOURS, default="auto", key=f"{key}_embed_theme")
        whole = not texts or st.toggle("With the questions' texts", True, key=f"{key}_embed_texts")
        content, name = make(theme, whole), named()
        st.caption(
            f"One HTML file of {len(content) / 1e6:.1f} MB, which starts as this page is now. It needs no network and "
            "no Hedge: open it, or put it beside your slides or your post."
        )
        st.download_button(
            "Save the file",
            content,
            file_name=name,
            mime=MEDIA_TYPE,
            on_click="ignore",
            icon=":material/download:",
            key=f"{key}_embed_save",
        )
        st.caption("This line shows it inside another page:")
        st.code(frame(name, title, height), language="html", wrap_lines=True)


def frame(name: str, title: str, height: int) -> str:
    """The HTML that shows the file ``name`` inside another page.

    >>> frame("a.html", 'Sets of "a"', 720)
    '<iframe src="a.html" title="Sets of &#34;a&#34;" width="100%" height="720" style="border: 0"></iframe>'
    """
    return fragment(FRAME, name=name, title=title, height=height)
