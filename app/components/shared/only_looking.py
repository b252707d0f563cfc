"""A message for people who may look at a page but change nothing."""

import streamlit as st

from core import access
from core.access import UserRole


def only_looking(what: str, *, aside: bool = False) -> None:
    """Say that the person can't do ``what`` (as in "import results") on this server, and who can help.

    ``aside`` says it in small letters, for one of several things that a page offers.
    """
    way = (
        "Ask its administrator for another role to do so."
        if access.mode() == "login"
        else "Run Hedge on your own computer to do so."
    )
    (st.caption if aside else st.info)(f"On this server, you can look at everything but not {what}. {way}")


def others_are_served() -> bool:
    """Whether people use this server from elsewhere, so that they name no folder of this machine."""
    return access.mode() != "local"


def may_launch(what: str, *, aside: bool = True) -> bool:
    """Whether the person may launch. If not, it says that they can't do ``what`` in the place of the control."""
    if access.may(UserRole.LAUNCHER):
        return True
    only_looking(what, aside=aside)
    return False
