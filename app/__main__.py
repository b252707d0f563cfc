"""`python -m app`: start the server from the repository root and open the app.

The arguments are Streamlit's own: ``python -m app --server.port 8600 --server.headless true``.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import NoReturn

from app import first_paint
from core.errors import HedgeError
from core.settings import ROOT, settings

AGENT_AFTER_S = 5.0
"""Delay before the run agent starts: the first page is painted first and keeps both cores busy until then."""


def main(arguments: list[str]) -> NoReturn:
    """Run the server and exit with Streamlit's status, or with 1 if HEDGE_HOME can't be created. Never returns."""
    home = settings().home
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(
            f"HEDGE_HOME is {home}, which can't be created ({error.strerror}); set it to a folder that you may write to"
        )
    # Relative paths in the environment refer to the folder in which the person ran the command, so they are resolved
    # before the change of folder. Streamlit finds its configuration only in the folder in which it starts.
    os.environ["HEDGE_HOME"] = str(home)
    os.chdir(ROOT)
    from streamlit.web import cli

    # Not before Streamlit has been imported: on a slow machine two threads would import NumPy at the same time, and
    # one of them would find half of it.
    waking = threading.Timer(AGENT_AFTER_S, wake_agent)
    waking.daemon = True
    waking.start()
    first_paint.start()
    sys.exit(cli.main(["run", str(ROOT / "app" / "main.py"), *arguments], prog_name="python -m app"))


def wake_agent() -> None:
    """Start this host's run agent, so that runs that a reboot interrupted continue.

    If that fails, the server keeps running without it: the New run page tries again and says why.
    """
    try:
        from core.runs import engine

        engine.ensure_agent()
    except Exception as error:
        logging.getLogger(__name__).warning("the run agent did not start: %s", error)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except HedgeError as error:
        sys.exit(str(error))
