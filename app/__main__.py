"""`python -m app`: start the server from the repository root and open the app.

Arguments are streamlit's: ``python -m app --server.port 8600 --server.headless true``.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import NoReturn

from core.errors import HedgeError
from core.settings import ROOT, settings

LISTENING_POLL_S = 0.02
AGENT_AFTER_S = 5.0
"""The first page is painted first; both cores are busy until then."""


def main(arguments: list[str]) -> NoReturn:
    """Never returns; leaves with streamlit's exit status, or with 1 where HEDGE_HOME can't be made."""
    home = settings().home
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"HEDGE_HOME is {home}, which can't be made ({error.strerror}); set it to a folder you may write to")
    # Relative paths in the environment are meant from where the person stands, and streamlit finds its
    # configuration only in the folder it starts in.
    os.environ["HEDGE_HOME"] = str(home)
    os.chdir(ROOT)
    waking = threading.Timer(AGENT_AFTER_S, wake_agent)
    waking.daemon = True
    waking.start()
    from streamlit.web import cli

    threading.Thread(target=import_charts, daemon=True).start()
    sys.exit(cli.main(["run", str(ROOT / "app" / "main.py"), *arguments], prog_name="python -m app"))


def import_charts() -> None:
    """Import what the first page draws with, as soon as the server listens.

    The browser is loading Streamlit's own scripts then, and the server would wait for it. Imported by the page itself,
    pandas, Altair and the reports would keep the first chart waiting.
    """
    from streamlit import runtime
    from streamlit.runtime.runtime import RuntimeState

    while not runtime.exists() or runtime.get_instance().state is RuntimeState.INITIAL:
        time.sleep(LISTENING_POLL_S)
    import core.reports.frames  # noqa: F401


def wake_agent() -> None:
    """Start this host's run agent, so that runs which a reboot interrupted go on.

    Where that fails, the server lives on without: the New run page tries again and says why.
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
