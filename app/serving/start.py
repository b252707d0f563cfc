"""The start of a server: its folder and address, and checks that end it with one sentence."""

import os
import sys
from pathlib import Path

import streamlit as st
from streamlit import net_util

from core import access
from core.processes import temporary
from core.settings import ROOT, settings

ON_THIS_MACHINE = (
    "This server is for its own machine: others could do everything that you can. Start it with `hedge --public`, "
    "with which they can only look, or with `hedge --login FILE`."
)


def make_home() -> None:
    """Create HEDGE_HOME, and make its path absolute before the server changes its folder."""
    home = settings().home
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(
            f"HEDGE_HOME is {home}, which can't be created ({error.strerror}); set it to a folder that you may write to"
        )
    os.environ["HEDGE_HOME"] = str(home)
    temporary.choose_folder()


def never_ask_the_internet() -> None:
    """Let Streamlit know no address of this machine on the internet: to learn it, it would ask another host at the
    start, and again for each connection from another site, while nobody else gets an answer.
    """
    net_util.get_external_ip = lambda: None


def check_folder() -> None:
    """Exit unless the server starts in Hedge's folder, the only one in which Streamlit finds its configuration."""
    if Path.cwd() != ROOT:
        sys.exit(f"start the server in {ROOT}, where its configuration is, or start it with `hedge` in any folder")


def check_address(address: str) -> None:
    """Exit if others can reach the server at this address, and nothing says what they may do."""
    if access.mode() == "local" and address not in access.LOOPBACK:
        sys.exit(
            f"the server would answer on {address or 'all addresses'}, where others can reach it and do everything "
            "that you can; start it with `hedge --public`, with which they can only look, or `--login FILE`, "
            "or leave the address out"
        )


def base_path() -> str:
    """The path below which the pages are, as ``/hedge``; empty by default."""
    path = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{path}" if path else ""
