"""Small tables whose words wrap, where Streamlit's own data frame would hide columns in a narrow window.

They are written as HTML, because a table of Streamlit's that is wider than the window can't be scrolled with the
keyboard.
"""

from __future__ import annotations

import re
from html import escape

import pandas as pd
import streamlit as st

ALL = 9
"""As ``texts``: figures with words, which are aligned on the left too."""
IN_BRACKETS = re.compile(r"\([^()]*\)")
UNBROKEN = "\u00a0"


def static_table(frame: pd.DataFrame, *, alt: str, texts: int = 1) -> None:
    """Show a small table, whose index is not shown, without sorting or selection.

    ``alt`` says what the table holds. The first ``texts`` columns (1, 2 or :data:`ALL`) hold words, and all others
    figures, which are aligned on the right. An interval in brackets stays on one line.
    """
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in frame.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_cell(str(value))}</td>' for value in row)}</tr>"
        for row in frame.itertuples(index=False, name=None)
    )
    st.html(
        f'<div class="static-table texts-{texts}" role="region" tabindex="0" aria-label="{escape(alt)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    return escape(IN_BRACKETS.sub(lambda found: found[0].replace(" ", UNBROKEN), text))
