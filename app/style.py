"""The only style that Streamlit's own widgets need in addition to ``.streamlit/config.toml``."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from charts.theme import FAINT

CHOSEN = """<style>
[data-tag] { background: transparent !important; color: inherit !important; border: 1px solid currentColor; }
[data-tag] button { color: inherit !important; }
</style>"""
"""Draws the chosen options of a multiselect in the page's text and background colours. Streamlit draws them in white on
the primary colour, which is too light for that in the dark theme."""

STACKED_KEY = "stacked_when_narrow"
_ROW = f'[class*="st-key-{STACKED_KEY}"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]'
STACKED = f"""<style>
@media (max-width: 1150px) {{
  {_ROW}:has(> [data-testid="stColumn"]) {{ flex-direction: column; }}
  {_ROW} > [data-testid="stColumn"] {{ width: 100%; min-width: 100%; flex: 1 1 auto; }}
}}
</style>"""
"""Puts the columns of :func:`stacked_when_narrow` below each other in a window that is narrower than 1,150 px.
Streamlit does so only below 640 px, where a figure beside a form or a table has long become too narrow."""

CAPTIONS = f"""<style>
[data-testid="stCaptionContainer"] {{ opacity: {FAINT} !important; }}
</style>"""
"""Draws captions as faint as the words of charts. Streamlit's own opacity, 0.6, gives them a contrast of 4.37 : 1 on
white, and text of this size needs 4.5 : 1 (WCAG 2.2, success criterion 1.4.3)."""

RUN_LIST_KEY = "run_list"
RUN_LIST = f"""<style>
.st-key-{RUN_LIST_KEY} [data-testid="stButtonGroup"] > [role] {{
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); gap: 0.25rem;
}}
.st-key-{RUN_LIST_KEY} [data-testid="stButtonGroup"] > [role] > button {{
  width: 100%; max-width: none; height: auto; min-height: 2rem; justify-content: flex-start; border-radius: 6px;
}}
.st-key-{RUN_LIST_KEY} [data-testid="stButtonGroup"] button > div {{ justify-content: flex-start; width: 100%; }}
.st-key-{RUN_LIST_KEY} [data-testid="stButtonGroup"] p {{ white-space: normal; text-align: left; }}
.st-key-{RUN_LIST_KEY} [data-testid="stButtonGroup"] button[data-selected] {{ font-weight: 650; }}
</style>"""
"""Draws the runs of the container :data:`RUN_LIST_KEY` in columns, so that a person can scan their names."""

COMPUTING = """<style>
.computing { display: flex; gap: .6em; margin: 0; font-size: .875rem; line-height: 1.25rem; }
.computing::before {
  content: ""; flex: none; width: .875em; height: .875em; margin-top: .15em;
  border: 2px solid currentColor; border-right-color: transparent;
  border-radius: 50%; animation: computing 1s linear infinite;
}
@keyframes computing { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .computing::before { animation: none; } }
</style>"""
"""Draws the line that says what is being computed (:mod:`app.background`), with a ring that turns before it."""

LONG_WORDS = """<style>
[data-testid="stSelectbox"] input { text-overflow: ellipsis; }
[data-testid="stFileUploaderDropzone"] span { white-space: normal; }
</style>"""
"""Ends a choice that is too long for its box with three dots, where Streamlit cuts it in the middle of a letter, and
breaks the line that says which files can be uploaded."""

LINKS = """<style>
[data-testid="stPageLink"] a p { text-decoration: underline; text-underline-offset: 3px; }
</style>"""
"""Underlines links to other pages, as all other links are. Beside buttons one would take them for plain words."""

SEGMENTS = """<style>
[data-testid="stButtonGroup"] button:is([aria-checked="true"], [aria-pressed="true"]) { color: inherit !important; }
</style>"""
"""Draws what is chosen among a few values in the colour of the page's text. Streamlit draws it in the primary colour,
which in the dark theme looks fainter than what is not chosen."""

BESIDE_KEY = "beside_the_figures"
BESIDE = f"""<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-{BESIDE_KEY}) {{
  flex: 1 1 13rem; min-width: min(13rem, 100%); width: auto;
}}
</style>"""
"""Lets the container :data:`BESIDE_KEY` fill what the figures leave of their row, if words can be read there."""

FRAME = CHOSEN + STACKED + CAPTIONS + LONG_WORDS + LINKS + BESIDE + SEGMENTS + COMPUTING
"""What every page needs."""


def stacked_when_narrow(name: str) -> DeltaGenerator:
    """A container whose own columns stand below each other in a narrow window. ``name`` is its own on the page."""
    return st.container(key=f"{STACKED_KEY}_{name}")
