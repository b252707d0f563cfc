"""What the server does around the first paint, so that nobody waits for it: before it, and after it.

Before it listens, Streamlit would read the metadata of all installed packages, because some bring components. None that
Hedge uses does, so it is spared that: 0.3 s of processor time with 220 packages.

Until a browser has loaded Streamlit's own scripts, which takes about a second, the server would do nothing. In that
time a thread imports what the first page needs and reads its runs. As soon as the first page's script has ended, the
thread imports what the other pages need.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.components.v2.manifest_scanner import ComponentManifest

LISTENING_POLL_S = 0.02
TURN_S = 0.0005
"""While the thread imports and reads, the server's own thread, which sends the browser its scripts, has to wait at most
so long for its turn. Python's own value is ten times as much, and there are some hundred turns."""
THREAD = "hedge-first-paint"
WITHOUT_SESSION = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")

shown = threading.Event()
"""Set when a page's script has ended for the first time."""


def start() -> None:
    """Start the thread. Call this before the server starts."""
    from streamlit.components.v2 import manifest_scanner

    manifest_scanner.scan_component_manifests = no_components
    # Streamlit warns at each call of a cached function in a thread without a session. Here that is on purpose.
    WITHOUT_SESSION.addFilter(lambda record: record.threadName != THREAD)
    threading.Thread(target=_prepare, daemon=True, name=THREAD).start()


def _prepare() -> None:
    from streamlit import runtime
    from streamlit.runtime.runtime import RuntimeState

    while not runtime.exists() or runtime.get_instance().state is RuntimeState.INITIAL:
        time.sleep(LISTENING_POLL_S)
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_S)
    read_first_page()
    shown.wait()
    sys.setswitchinterval(before)
    import_components()


def no_components(max_workers: int | None = None) -> list[tuple[ComponentManifest, Path]]:
    """In the place of Streamlit's own search of the installed packages."""
    return []


def read_first_page() -> None:
    """Import what the first page needs, and fill its caches with the runs that it shows without a link."""
    from app.components.overview import answer, ways_in  # noqa: F401 - imported for the page

    answer.read_ahead()


def import_components() -> None:
    """Import the components of every page, with the libraries that they draw with."""
    import app.components

    for module in pkgutil.walk_packages(app.components.__path__, "app.components."):
        importlib.import_module(module.name)
