"""Small tables whose words wrap, where Streamlit's own data frame would hide columns in a narrow window.

They are written as HTML, because a table of Streamlit's that is wider than the window can't be scrolled with the
keyboard.
"""

import re
from collections.abc import Collection

import pandas as pd
import streamlit as st

from charts.html_page import fragment

ALL = 9
"""As ``texts``: figures with words, which are aligned on the left too."""
IN_BRACKETS = re.compile(r"\([^()]*\)")
UNBROKEN = "\u00a0"
TABLE = (
    '<div class="static-table texts-{{ texts }}" role="region" tabindex="0" aria-label="{{ alt }}">'
    '<table><thead><tr>{% for name in head %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>'
    "<tbody>{% for row in rows %}<tr>{% for cell, bold in row %}"
    "<td>{% if bold %}<b>{{ cell }}</b>{% else %}{{ cell }}{% endif %}</td>{% endfor %}</tr>{% endfor %}</tbody>"
    "</table></div>"
)


def static_table(
    frame: pd.DataFrame, *, alt: str, texts: int = 1, bold: Collection[tuple[int, int]] = frozenset()
) -> None:
    """Show a small table, whose index is not shown, without sorting or selection.

    ``alt`` says what the table holds. The first ``texts`` columns (1, 2 or :data:`ALL`) hold words, and all others
    figures, which are aligned on the right. An interval in brackets stays on one line. Cells at the places in ``bold``
    (row and column, from 0) are bold.
    """
    rows = [
        [(_unbroken(str(value)), (i, j) in bold) for j, value in enumerate(row)]
        for i, row in enumerate(frame.itertuples(index=False, name=None))
    ]
    st.html(fragment(TABLE, head=list(map(str, frame.columns)), rows=rows, alt=alt, texts=texts))


def _unbroken(text: str) -> str:
    return IN_BRACKETS.sub(lambda match: match[0].replace(" ", UNBROKEN), text)
