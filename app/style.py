"""The only style that Streamlit's own widgets need in addition to ``.streamlit/config.toml``."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from charts.palette import FAINT, theme_colors

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

LEVEL_KEY = "level"
LEVEL = f"""<style>
@media (min-width: 1150px) {{ [class*="st-key-{LEVEL_KEY}_"] {{ min-height: 5.3rem; }} }}
</style>"""
"""Gives the containers whose keys begin with :data:`LEVEL_KEY` room for three lines of text, so that what stands below
them in columns side by side is level."""

PANELS_KEY = "panels"
PANELS = f"""<style>
.st-key-{PANELS_KEY} {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); }}
</style>"""
"""Draws the content of the container :data:`PANELS_KEY` in as many equal columns as fit."""

COMPUTING = r"""<style>
.computing { display: flex; gap: .6em; margin: 0; font-size: .875rem; line-height: 1.25rem; }
.computing::before {
  content: ""; flex: none; width: .875em; height: .875em; margin-top: .15em;
  border: 2px solid currentColor; border-right-color: transparent;
  border-radius: 50%; animation: computing 1s linear infinite;
}
@keyframes computing { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .computing::before { animation: none; } }
@property --seconds { syntax: "\3c integer\3e"; inherits: false; initial-value: 0; }
.seconds { counter-reset: seconds var(--seconds); animation: seconds 36000s steps(36000) forwards; }
.seconds::after { content: counter(seconds) " s"; font-variant-numeric: tabular-nums; }
@keyframes seconds { from { --seconds: var(--begun); } to { --seconds: calc(var(--begun) + 36000); } }
</style>"""
"""Draws the line that says what is being computed (:mod:`app.background`), with a ring that turns before it, and counts
seconds from ``--begun`` in the browser, so that no script runs for them. Streamlit drops a style with an angle bracket
before a letter, so that of the type is written as its code."""

LONG_WORDS = """<style>
[data-testid="stSelectbox"] input { text-overflow: ellipsis; }
[data-testid="stFileUploaderDropzone"] span { white-space: normal; }
[data-testid="stMultiSelect"] [role="group"]:has(> [data-testid="stMultiSelectTagsContainer"]) { max-height: 16rem; }
button [data-has-shortcut]:has(kbd[aria-label="Shortcut ←"]) { flex-direction: row-reverse; }
</style>"""
"""Ends a choice that is too long for its box with three dots, where Streamlit cuts it in the middle of a letter, breaks
the line that says which files can be uploaded, gives a list of chosen options more lines than four, and puts a left
arrow on the left of its button's word."""

LINKS = """<style>
[data-testid="stPageLink"] a { padding-inline: 0; }
[data-testid="stPageLink"] a p { text-decoration: underline; text-underline-offset: 3px; }
</style>"""
"""Underlines links to other pages, as all other links are, because beside buttons one would take them for plain words.
A link that is first on its line begins where the lines above it begin."""

_BORDER = f"light-dark({theme_colors('light').border}, {theme_colors('dark').border})"
SEGMENTS = f"""<style>
[data-testid="stButtonGroup"] button {{ min-height: 2.4rem; }}
[data-testid="stButtonGroup"] button[data-variant="segmented_control"] {{ border-color: {_BORDER} !important; }}
[data-testid="stButtonGroup"] button:is([aria-checked="true"], [aria-pressed="true"]) {{
  color: inherit !important; border-color: currentColor !important; z-index: 1;
}}
</style>"""
"""Draws what is chosen among a few values in the colour of the page's text. Streamlit draws it in the primary colour,
which in the dark theme looks fainter than what is not chosen. The buttons are as tall as the lists and fields beside
them, so that their labels are level. Each has all four sides, because the one beside the chosen one may be on another
line."""

MORE_COLUMNS = """<style>
[data-testid="stDataFrame"] { timeline-scope: --columns; }
[data-testid="stDataFrame"] .dvn-scroller { scroll-timeline: --columns inline; }
[data-testid="stDataFrame"]::after {
  content: "scroll sideways for more columns →"; position: absolute; top: 100%; right: 0;
  font-size: .75rem; line-height: 1rem; opacity: 0; pointer-events: none;
  animation: more-columns linear both; animation-timeline: --columns;
}
@keyframes more-columns { from, 90% { opacity: .75; } to { opacity: 0; } }
</style>"""
"""Says below a table that it has columns to the right of those that are seen. The words are tied to the table's
sideways scrolling: where a table has nothing to scroll, they are not shown."""

TOASTS = """<style>
[data-testid="stToastContainer"] { top: auto !important; bottom: 1rem; }
[data-testid="stToastText"] { display: block !important; }
[data-testid="stToastViewButton"] { display: none !important; }
</style>"""
"""Puts notices into the lower corner, where they cover no heading, and shows their text in full: Streamlit cuts it
after three lines, and a link that follows a long title is lost."""

FOCUS = """<style>
.stApp :is(a, button, summary, input[type="checkbox"], [role="radio"], [role="slider"], [role="button"]):focus-visible {
  outline: 3px solid currentColor !important; outline-offset: 1px;
}
.stApp label:has(input:is([type="checkbox"], [type="radio"], [type="range"]):focus-visible) {
  outline: 3px solid currentColor; outline-offset: 2px; border-radius: 3px;
}
[data-testid="stMain"] { scroll-padding-top: 4.5rem; }
</style>"""
"""Draws a ring in the colour of the text around what has the keyboard's focus. Streamlit's own ring has a contrast of
1.5 : 1 on the menu and of 2.7 : 1 elsewhere, and it needs 3 : 1 (WCAG 2.2, success criterion 1.4.11). What the focus
moves to is scrolled out from under the header (2.4.11)."""

TARGETS = """<style>
[data-testid="stTooltipIcon"] button { position: relative; }
[data-testid="stTooltipIcon"] button::after { content: ""; position: absolute; inset: -5px; }
[data-testid="stMultiSelect"] [role="group"] button { min-width: 24px; min-height: 24px; }
</style>"""
"""Makes the places that a finger has to hit at least 24 pixels wide and high (WCAG 2.2, success criterion 2.5.8): a
question mark is drawn with 15 pixels, and the crosses that empty a list with 23."""

BESIDE_KEY = "beside_the_figures"
BESIDE = f"""<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-{BESIDE_KEY}) {{
  flex: 1 1 13rem; min-width: min(13rem, 100%); width: auto;
}}
</style>"""
"""Lets the container :data:`BESIDE_KEY` fill the rest of a row of figures, if it is wide enough for text."""

_PAGE = f"light-dark({theme_colors('light').background}, {theme_colors('dark').background})"
STATIC_TABLE = f"""<style>
.static-table {{
  overflow-x: auto; background:
    linear-gradient({_PAGE}, {_PAGE}) left / 2rem 100% no-repeat local,
    linear-gradient({_PAGE}, {_PAGE}) right / 2rem 100% no-repeat local,
    linear-gradient(to left, rgb(128 128 128 / 0.4), transparent) right / 1rem 100% no-repeat scroll;
}}
[role="dialog"] .static-table {{ background: none; }}
.static-table table {{ width: 100%; border-collapse: collapse; }}
.static-table {{ font-size: 0.875rem; font-variant-numeric: tabular-nums; }}
.static-table :is(th, td) {{
  padding: 0.35rem 0.6rem 0.35rem 0; text-align: left; vertical-align: top; line-height: 1.4;
  border: 0; border-bottom: 1px solid rgb(128 128 128 / 0.25);
}}
.static-table th {{ vertical-align: bottom; font-weight: 400; opacity: {FAINT}; }}
.static-table tr > :first-child {{ min-width: 6rem; }}
@media (min-width: 1000px) {{ .static-table tr > :first-child {{ white-space: nowrap; }} }}
.static-table.texts-1 tr > :nth-child(n + 2), .static-table.texts-2 tr > :nth-child(n + 3) {{
  text-align: right; padding: 0.35rem 0 0.35rem 0.6rem;
}}
</style>"""
"""Draws the tables of :mod:`app.components.shared.static_table`. Where a table is wider than the window, a shadow on
its right says that it scrolls: the two gradients in the page's colour move with the content and cover the shadow at the
end. A dialog is in another colour and has none."""

PRINTED_KEY = "printed_alone"
_MAIN = '[data-testid="stMainBlockContainer"]'
_PRINTED = f".stApp:has(.st-key-{PRINTED_KEY})"
PRINTED = f"""<style>
@media print {{
  {_PRINTED} :is(header, [data-testid="stSidebar"], [data-testid="stToastContainer"]) {{ display: none !important; }}
  {_PRINTED} {_MAIN} > [data-testid="stVerticalBlock"] > :not(:has(.st-key-{PRINTED_KEY})) {{
    display: none !important;
  }}
  {_PRINTED}, {_PRINTED} :is([data-testid="stAppViewContainer"], [data-testid="stMain"], {_MAIN}) {{
    position: static; display: block; overflow: visible; height: auto; padding: 0; max-width: none;
    background: #fff; color: #000; color-scheme: light;
  }}
}}
</style>"""
"""Prints the container :data:`PRINTED_KEY` alone, on white paper and on as many pages as it needs. Streamlit's page is
as tall as the window, so without this only what is seen would be printed."""

FRAME = (
    CHOSEN
    + STACKED
    + LEVEL
    + CAPTIONS
    + LONG_WORDS
    + LINKS
    + BESIDE
    + SEGMENTS
    + MORE_COLUMNS
    + COMPUTING
    + STATIC_TABLE
    + TOASTS
    + FOCUS
    + TARGETS
    + PRINTED
)
"""The styles that every page needs."""


def stacked_when_narrow(name: str) -> DeltaGenerator:
    """A container whose own columns stand below each other in a narrow window. ``name`` is its own on the page."""
    return st.container(key=f"{STACKED_KEY}_{name}")
