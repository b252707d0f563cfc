"""What begins and ends with the server."""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from app import first_paint
from app.classroom import desks, invite
from app.serving import agent_keeper, file_limit, log_limit, stopping
from app.serving.start import base_path

opens_browser = threading.Event()
"""Set by `hedge`: open the first page in the browser, where there is a screen."""
prints_lecturer_link = threading.Event()
"""Set by `hedge --public --lecturer`."""


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """What begins and ends with the server."""
    log_limit.install()
    file_limit.watch(asyncio.get_running_loop())
    agent_keeper.start()
    first_paint.start()
    if prints_lecturer_link.is_set():
        print_lecturer_link()
    if opens_browser.is_set() and not st.get_option("server.headless"):
        threading.Thread(target=webbrowser.open, args=(f"{_site()}{base_path()}",), daemon=True).start()
    with stopping.noticed():
        yield


def _site() -> str:
    """The address of the server for a browser on this machine, or for others if it answers them."""
    address = st.get_option("server.address")
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    host = invite.own_address() if address in ("0.0.0.0", "::", "", None) else address
    return f"{scheme}://{host}:{st.get_option('server.port')}"


def print_lecturer_link() -> None:
    """Print the link that opens classes."""
    link = f"{_site()}{base_path()}/classroom?{desks.LECTURER}={desks.allow_lecturer()}"
    print(f"The lecturer's link. Everyone who opens it may open classes until this server stops:\n{link}", flush=True)
