"""What the server does before and after the first paint, so that nobody waits for it.

Importing creates about 300,000 objects, and Python's garbage collector would check them three times. It is off until
the first page has been shown, which saves 0.2 s. Imported objects are then moved to the permanent generation, which the
collector ignores.

Until a browser has loaded Streamlit's own scripts, which takes about a second, the server would do nothing. In that
time a thread imports what the first page needs. When the first page has been painted, the thread imports what the other
pages need.
"""

import gc
import importlib
import inspect
import pkgutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PAINTED_AFTER_S = 1.0
"""The browser paints for about this long after the script has ended. On a slow or busy machine it takes longer, about
as long as the imports of the first page took."""
NOBODY_CAME_S = 30.0
"""If no page has been shown this long after the start, the garbage collector is turned on again."""
TURN_S = 0.0005
"""While the thread imports, the server's own thread, which sends scripts to the browser, waits at most this long for
its turn. Python's default is ten times as long, and there are about a hundred turns."""

shown = threading.Event()
"""Set when a page's script has ended for the first time."""


def collect_nothing() -> None:
    """Turn the garbage collector off until the first page has been shown."""
    gc.disable()


def start() -> None:
    """Start the thread. Call this when the server has started: components register with it."""
    threading.Thread(target=_prepare, daemon=True, name="hedge-imports").start()


def _prepare() -> None:
    begun = time.monotonic()
    try:
        with short_turns():
            import_first_page()
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


@contextmanager
def short_turns() -> Iterator[None]:
    """In the block, threads switch after :data:`TURN_S`."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def import_first_page() -> None:
    """Import what the first page needs.

    At the first element, Streamlit looks at the stack of calls, for which Python looks through the files of all modules
    once: 0.1 s, which do not fall into the first page's script if Python has done so before.
    """
    from app.components.overview import answer, ways_in  # noqa: F401

    inspect.stack()


def import_components() -> None:
    """Import the components of every page, with the libraries that they draw with."""
    import app.components

    for module in pkgutil.walk_packages(app.components.__path__, "app.components."):
        importlib.import_module(module.name)
