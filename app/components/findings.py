"""What the doctor found, a row each, and what it means for a run."""

from __future__ import annotations

import streamlit as st

from app import checkup
from app.checkup import Checkup
from app.errors import spoken
from app.words import counted, plain, sentence

POLL_S = 0.5
GOOD, BAD = "good", "look here"


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
        with st.container(border=True, gap="small"):
            with st.container(horizontal=True, wrap=False):
                st.markdown(f"**{plain(sentence(finding.name).rstrip('.'))}**", width="stretch")
                st.markdown(GOOD if finding.good else f"**{BAD}**", width="content")
            st.markdown(plain(sentence(finding.value)))
            st.caption(plain(finding.meaning))
