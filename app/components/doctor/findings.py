"""The doctor's findings, one per row, and what each means for a run."""

from __future__ import annotations

import time

import streamlit as st

from app.components.doctor import doctor_cache
from app.components.doctor.doctor_cache import Checkup
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence

POLL_S = 0.5
TICK_S = 5.0
"""Seconds between redraws of a finished checkup, so that it shows its current age and any changes."""
VERDICTS = {True: ": good", False: ": **needs attention**", None: ""}
"""What is not there, or switched off, is neither good nor bad; its value says so."""
WIDTHS = [2, 4, 4]


def findings() -> None:
    """Show the findings, and follow the checkup while it runs."""
    found = doctor_cache.checkup()
    waiting = not found.ended.is_set()
    st.fragment(_follow, run_every=POLL_S if waiting else TICK_S)(found, waiting)


def _follow(found: Checkup, was_waiting: bool) -> None:
    with spoken():
        doctor_cache.refresh(found)
        if doctor_cache.checkup() is not found and not was_waiting:
            st.rerun()  # another checkup was started
        if not found.ended.is_set():
            st.info(f"Checking this machine, which takes about ten seconds … {found.seconds:.0f} s")
            return
        if was_waiting:
            st.rerun()  # rerun the whole page, which ends the polling
        if found.problem:
            st.error(plain(sentence(found.problem)))
        else:
            _draw(found)
        _age(found)
        if st.button("Check again"):
            doctor_cache.again()
            st.rerun()


def _age(found: Checkup) -> None:
    now = time.monotonic()
    said = f"Checked {duration(now - found.looked)} ago"
    if found.looked_again > found.looked:
        said += f"; values that can change, {duration(now - found.looked_again)} ago"
    again = "everything" if found.problem else "the disk, the database, the agent and the hub"
    st.caption(plain(f"{said}. While this page is open, {again} are checked again every {doctor_cache.REFRESH_S:g} s."))


def _draw(found: Checkup) -> None:
    bad = [finding for finding in found.found if finding.good is False]
    unjudged = any(finding.good is None for finding in found.found)
    if bad:
        st.warning(
            f"{counted(len(bad), 'finding')} {'needs' if len(bad) == 1 else 'need'} attention: "
            f"{plain(', '.join(finding.name for finding in bad))}."
        )
    elif unjudged:
        st.success("Everything that could be checked is in order. Rows without a verdict are not there or not in use.")
    else:
        st.success("Everything is in order.")
    for finding in sorted(found.found, key=lambda one: one.good is not False):
        with st.container(border=True):
            name, value, meaning = st.columns(WIDTHS, gap="medium")
            title = plain(f"{finding.name[:1].upper()}{finding.name[1:]}".replace("Gpu", "GPU"))
            name.markdown(f"**{title}**{VERDICTS[finding.good]}")
            value.markdown(plain(finding.value))
            meaning.markdown(plain(finding.meaning))
