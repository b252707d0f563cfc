"""The caveats of the runs on a page: one caption, where the page says which runs it shows."""

from collections.abc import Iterable, Sequence

import streamlit as st

from app.caches import run_cache
from app.components.shared.runs import titles
from app.formatting import plain
from core.errors import HedgeError
from core.reports.caveats import MARK, first_footnotes, footnotes, in_one
from core.runs.store import RunRecord


def caveat_note(record: RunRecord) -> None:
    """Show the caveats of the one run on the page."""
    if line := caveat_line(record):
        st.caption(plain(line))


def caveat_line(*records: RunRecord) -> str:
    """The caveats of the run on the page behind their mark, or of several runs with their titles; mostly empty."""
    texts = [caveat_text(record.run_id) for record in records]
    if len(records) == 1:
        return f"{MARK} {texts[0]}" if texts[0] else ""
    return " ".join(footnotes(zip(titles(records).values(), texts, strict=True)))


def caveat_notes(records: Sequence[RunRecord]) -> None:
    """Show the caveats of several runs, each behind the title of its run."""
    names = titles(records)
    footnote_caption((names[record.run_id], caveat_text(record.run_id)) for record in records)


def footnote_caption(named: Iterable[tuple[str, str]]) -> None:
    """Show what the marks of these runs mean: for each its name and the text of its caveats. All of them are in the
    hover if there are many."""
    pairs = list(named)
    if shown := first_footnotes(pairs):
        lines = footnotes(pairs)
        st.caption("  \n".join(map(plain, shown)), help=None if shown == lines else "\n\n".join(map(plain, lines)))


def caveat_text(run_id: str) -> str:
    """The caveats of a finished run as text; empty for a run that can't be read, because the page says that itself."""
    try:
        return in_one(run_cache.caveats(run_id))
    except HedgeError:
        return ""
