"""Starts this host's run agent with the server, and again whenever runs wait without one."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress

AGENT_AFTER_S = 5.0
"""Delay before the run agent starts: the first page is painted first and keeps both cores busy until then."""
LOOK_EVERY_S = 20.0
"""How often the server checks whether runs are waiting without an agent."""


def start() -> None:
    """Start the thread that keeps the agent alive."""
    threading.Thread(target=_keep_agent, daemon=True, name="hedge-keep-agent").start()


def _keep_agent() -> None:
    """Start the agent, and start it again whenever it was killed together with its workers while runs wait."""
    time.sleep(AGENT_AFTER_S)
    wake_agent()
    while True:
        time.sleep(LOOK_EVERY_S)
        with suppress(Exception):  # the database may come back; until then the pages report the fault
            from core.runs import engine

            engine.ensure_agent_if_needed()


def wake_agent() -> None:
    """Start this host's run agent, so that runs that a reboot interrupted continue.

    If that fails, the server keeps running without it: the New run page tries again and says why.
    """
    try:
        from core.runs import engine

        engine.ensure_agent()
    except Exception as error:
        logging.getLogger(__name__).warning("the run agent did not start: %s", error)
