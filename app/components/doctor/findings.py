"""The doctor's findings: what needs attention, and every check with what it means for a run."""

import time
from collections.abc import Sequence

import streamlit as st

from app.background import run_again_when
from app.components.doctor import doctor_cache, verification
from app.components.doctor.doctor_cache import Checkup
from app.errors import spoken
from app.formatting import counted, duration, plain, sentence
from charts.html_page import fragment
from core.checks.doctor import Finding

CHECKING = """<p class="checking" role="status">
  Checking this machine, which takes about ten seconds … <span class="seconds" style="--begun: {{ seconds }}"></span>
</p>"""
VERDICTS = {True: ": good", False: ": **needs attention**", None: ""}
"""What is not there, or switched off, is neither good nor bad; its value says so."""
WIDTHS = [2, 4, 4]


def findings() -> None:
    """Show what needs attention, or that the checkup is running. All checks are folded."""
    checkup = doctor_cache.checkup()
    waiting = not checkup.ended.is_set()
    if waiting:
        st.html(fragment(CHECKING, seconds=int(checkup.seconds)))
        run_again_when(checkup.ended.is_set)
    else:
        shown = checkup.findings
        st.fragment(_refreshed, run_every=doctor_cache.REFRESH_S)(checkup)
        run_again_when(lambda: checkup.findings != shown)
    busy = verification.is_running()
    if busy:
        verification.verification()
    with st.expander("All checks", expanded=verification.has_failed()):
        if not waiting:
            st.fragment(_every, run_every=doctor_cache.REFRESH_S)(checkup)
        if not busy:
            verification.verification()


def _refreshed(checkup: Checkup) -> None:
    with spoken():
        doctor_cache.refresh(checkup)
        if doctor_cache.checkup() is not checkup:
            st.rerun()  # another checkup was started
        if checkup.problem:
            st.error(plain(sentence(checkup.problem)))
        else:
            _attention(checkup.findings)


def _attention(found: Sequence[Finding]) -> None:
    """Show what needs attention, and what each of it means for a run."""
    bad = [finding for finding in found if finding.good is False]
    if not bad:
        st.markdown("Everything that could be checked is in order.")
        return
    st.markdown(f"**{counted(len(bad), 'finding')} {'needs' if len(bad) == 1 else 'need'} attention:**")
    st.markdown("\n".join(f"- **{_title(each)}**: {plain(each.value)}. {plain(each.meaning)}" for each in bad))


def _every(checkup: Checkup) -> None:
    """Show every finding, its age, and the button that checks again."""
    for finding in sorted(checkup.findings, key=lambda finding: finding.good is not False):
        name, value, meaning = st.columns(WIDTHS, gap="medium")
        name.markdown(f"**{_title(finding)}**{VERDICTS[finding.good]}")
        value.markdown(plain(finding.value))
        meaning.markdown(plain(finding.meaning))
    _age(checkup)
    if st.button("Check again"):
        doctor_cache.again()
        st.rerun()


def _title(finding: Finding) -> str:
    return plain(f"{finding.name[:1].upper()}{finding.name[1:]}".replace("Gpu", "GPU"))


def _age(checkup: Checkup) -> None:
    now = time.monotonic()
    sentence = f"Checked {duration(now - checkup.looked)} ago"
    if checkup.looked_again > checkup.looked:
        sentence += f"; values that can change, {duration(now - checkup.looked_again)} ago"
    again = "everything" if checkup.problem else "the disk, the database, the agent, the servers and the hub"
    st.caption(
        plain(f"{sentence}. While this page is open, {again} are checked again every {doctor_cache.REFRESH_S:g} s.")
    )
