"""What begins and ends with the server."""

import asyncio
import logging
import threading
import time
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st

from app import first_paint
from app.classroom import desks, invite
from app.serving import file_limit, log_limit, stopping
from app.serving.start import base_path
from core.processes.program import return_memory
from core.settings import settings

AGENT_AFTER_S = 5.0
"""Delay before the server looks for waiting runs: the first page is painted first and keeps both cores busy until
then."""
LOOK_EVERY_S = 20.0
"""How often the server checks whether runs are waiting without an agent, and whether a class is old."""
KEEP_S, PAUSE_S = 0.1, 0.2
"""For how long the server computes summaries of new runs at a time, and the pause after it, which pages can use."""

opens_browser = threading.Event()
"""Set by `hedge`: open the first page in the browser, where there is a screen."""
prints_lecturer_link = threading.Event()
"""Set by `hedge --public --lecturer`."""


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """What begins and ends with the server."""
    log_limit.install()
    file_limit.watch(asyncio.get_running_loop())
    start_agent()
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


def start_agent() -> None:
    """Start the thread that calls :func:`wake_agent`, and then :func:`look_after` and
    :func:`keep_summaries` again and again, and returns memory that nothing uses."""
    threading.Thread(target=_keep_agent, daemon=True, name="hedge-keep-agent").start()


def _keep_agent() -> None:
    time.sleep(AGENT_AFTER_S)
    wake_agent()
    looked_at: dict[str, int] = {}
    while True:
        look_after()
        keep_summaries(looked_at)
        return_memory()
        time.sleep(LOOK_EVERY_S)


def look_after() -> None:
    """Delete old classes, and start the agent if it was killed together with its workers while runs wait."""
    with suppress(Exception):  # the file or the database may come back; until then the pages report the fault
        from core.serving.classroom import live_class

        live_class.delete_old(now=time.time())
    with suppress(Exception):
        from core.runs import engine

        engine.ensure_agent_if_needed()


def keep_summaries(looked_at: dict[str, int]) -> None:
    """Keep the summaries of new runs (:func:`core.reports.overview.kept_summaries.keep_new`)."""
    with suppress(Exception):  # a disk may be full; the Overview then computes them
        from core.reports.overview import kept_summaries

        while not kept_summaries.keep_new(looked_at, within_s=KEEP_S):
            time.sleep(PAUSE_S)


def wake_agent() -> None:
    """Start this host's run agent if it has something to do, such as runs that a reboot interrupted. Otherwise the
    first launch starts it, so that a person who only looks has no process for runs.

    If that fails, the server keeps running without it: the New run page tries again and says why.
    """
    try:
        from core.runs import engine, trash
        from core.storage import database

        if settings().archive_url or database.is_shared() or trash.binned():
            engine.ensure_agent()
        else:
            engine.ensure_agent_if_needed()
    except Exception as error:
        logging.getLogger(__name__).warning("the run agent did not start: %s", error)
