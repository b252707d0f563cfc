"""The doctor's findings, one per row, and what each means for a run."""

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
    checkup = doctor_cache.checkup()
    waiting = not checkup.ended.is_set()
    st.fragment(_follow, run_every=POLL_S if waiting else TICK_S)(checkup, waiting)


def _follow(checkup: Checkup, was_waiting: bool) -> None:
    with spoken():
        doctor_cache.refresh(checkup)
        if doctor_cache.checkup() is not checkup and not was_waiting:
            st.rerun()  # another checkup was started
        if not checkup.ended.is_set():
            st.info(f"Checking this machine, which takes about ten seconds … {checkup.seconds:.0f} s")
            return
        if was_waiting:
            st.rerun()  # rerun the whole page, which ends the polling
        if checkup.problem:
            st.error(plain(sentence(checkup.problem)))
        else:
            _draw(checkup)
        _age(checkup)
        if st.button("Check again"):
            doctor_cache.again()
            st.rerun()


def _age(checkup: Checkup) -> None:
    now = time.monotonic()
    sentence = f"Checked {duration(now - checkup.looked)} ago"
    if checkup.looked_again > checkup.looked:
        sentence += f"; values that can change, {duration(now - checkup.looked_again)} ago"
    again = "everything" if checkup.problem else "the disk, the database, the agent and the hub"
    st.caption(
        plain(f"{sentence}. While this page is open, {again} are checked again every {doctor_cache.REFRESH_S:g} s.")
    )


def _draw(checkup: Checkup) -> None:
    bad = [finding for finding in checkup.findings if finding.good is False]
    unjudged = any(finding.good is None for finding in checkup.findings)
    if bad:
        st.warning(
            f"{counted(len(bad), 'finding')} {'needs' if len(bad) == 1 else 'need'} attention: "
            f"{plain(', '.join(finding.name for finding in bad))}."
        )
    elif unjudged:
        st.success("Everything that could be checked is in order. Rows without a verdict are not there or not in use.")
    else:
        st.success("Everything is in order.")
    for finding in sorted(checkup.findings, key=lambda finding: finding.good is not False):
        with st.container(border=True):
            name, value, meaning = st.columns(WIDTHS, gap="medium")
            title = plain(f"{finding.name[:1].upper()}{finding.name[1:]}".replace("Gpu", "GPU"))
            name.markdown(f"**{title}**{VERDICTS[finding.good]}")
            value.markdown(plain(finding.value))
            meaning.markdown(plain(finding.meaning))
