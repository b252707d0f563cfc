"""What the doctor found, a row each, and what it means for a run."""

from __future__ import annotations

import streamlit as st

from app import checkup
from app.checkup import Checkup
from app.errors import spoken
from app.words import counted, plain, sentence

POLL_S = 0.5
GOOD, BAD = "good", "look here"
WIDTHS = [2, 4, 4]


def findings() -> None:
    """The findings, followed while they are being made."""
    found = checkup.checkup()
    waiting = not found.ended.is_set()
    st.fragment(_follow, run_every=POLL_S if waiting else None)(found, waiting)


def _follow(found: Checkup, was_waiting: bool) -> None:
    with spoken():
        if not found.ended.is_set():
            st.info(f"Looking at this machine, which takes some ten seconds … {found.seconds:.0f} s")
            return
        if was_waiting:
            st.rerun()  # the whole page once more: asking again ends
        if found.problem:
            st.error(plain(sentence(found.problem)))
        else:
            _draw(found)
        if st.button("Look again"):
            checkup.again()
            st.rerun()


def _draw(found: Checkup) -> None:
    bad = [finding for finding in found.found if not finding.good]
    if bad:
        st.warning(f"{counted(len(bad), 'finding')} to look at: {plain(', '.join(finding.name for finding in bad))}.")
    else:
        st.success("Everything is in order.")
    for finding in sorted(found.found, key=lambda one: one.good):
        with st.container(border=True):
            name, value, meaning = st.columns(WIDTHS, gap="medium")
            title = plain(finding.name.capitalize().replace("Gpu", "GPU"))
            name.markdown(f"**{title}**: {GOOD if finding.good else f'**{BAD}**'}")
            value.markdown(plain(finding.value))
            meaning.markdown(plain(finding.meaning))
