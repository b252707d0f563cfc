"""What the server does before and after the first paint, so that nobody waits for it.

Before it listens, Streamlit reads the metadata of all installed packages, because some contain components. Hedge uses
no such package, so this is skipped: 0.3 s of processor time with 220 packages. At the first element of the first page,
Streamlit would search the sources of all modules, to warn a person who runs a page as a plain script: 0.15 s.

Importing creates about 300,000 objects, and Python's garbage collector would check them three times. It is off until
the first page has been shown, which saves 0.2 s. Imported objects are then moved to the permanent generation, which the
collector ignores.

Until a browser has loaded Streamlit's own scripts, which takes about a second, the server would do nothing. In that
time a thread imports what the first page needs and reads its runs. When the first page has been painted, the thread
imports what the other pages need.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from app import link_ahead, preload, rows_ahead
from app.reading_thread import NAME, imported, short_turns, without_warnings

if TYPE_CHECKING:
    from streamlit.components.v2.manifest_scanner import ComponentManifest

LISTENING_POLL_S = 0.02
PAINTED_AFTER_S = 1.0
"""The browser paints for about this long after the script has ended. On a slow or busy machine it takes longer, about
as long as reading the first page took."""
NOBODY_CAME_S = 30.0
"""If no page has been shown this long after the start, the garbage collector is turned on again."""

shown = threading.Event()
"""Set when a page's script has ended for the first time."""


def start() -> None:
    """Start the thread. Call this before the server starts."""
    from streamlit import delta_generator
    from streamlit.components.v2 import manifest_scanner

    delta_generator._use_warning_has_been_displayed = True
    manifest_scanner.scan_component_manifests = no_components
    without_warnings()
    preload.install()
    link_ahead.install()
    rows_ahead.start(shown)
    threading.Thread(target=_prepare, daemon=True, name=NAME).start()


def _prepare() -> None:
    _wait_for_server()
    begun = time.monotonic()
    try:
        with short_turns():
            read_first_page()
        gc.freeze()
        painting = max(PAINTED_AFTER_S, time.monotonic() - begun)
        if not shown.wait(NOBODY_CAME_S):
            gc.enable()
        shown.wait()
        time.sleep(painting)
        import_components()
        gc.collect()
        gc.freeze()
    finally:
        gc.enable()


def _wait_for_server() -> None:
    from streamlit import runtime
    from streamlit.runtime.runtime import RuntimeState

    while not runtime.exists() or runtime.get_instance().state is RuntimeState.INITIAL:
        time.sleep(LISTENING_POLL_S)


def no_components(max_workers: int | None = None) -> list[tuple[ComponentManifest, Path]]:
    """Replaces Streamlit's search of the installed packages."""
    return []


def read_first_page() -> None:
    """Import what the first page needs, and fill its caches with the runs that it shows without a link."""
    try:
        from app.components.overview import answer, ways_in
    finally:
        imported.set()
    answer.read_ahead()
    ways_in.read_ahead()


def import_components() -> None:
    """Import the components of every page, with the libraries that they draw with."""
    import app.components

    for module in pkgutil.walk_packages(app.components.__path__, "app.components."):
        importlib.import_module(module.name)
