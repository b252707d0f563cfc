"""Makes Hedge's modules (``core``, ``charts``, ``app``) importable, without hiding anybody else's.

A checkout has them beside ``hedge``. An installed Hedge has them in ``hedge/_app``, because names like ``core`` and
``app`` are too common for site-packages. The program ``hedge`` is a process of its own, where they come first on the
path. In a notebook they come last, so that the user's own modules win; if one of those has such a name, Hedge raises
an error.
"""

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "_app" if (HERE / "_app").is_dir() else HERE.parent
USED_BY_NOTEBOOKS = ("core", "charts")


def put_first() -> None:
    """Let Hedge's modules come before all others, in this process and in those that it starts.

    Hedge starts them as ``python -m core…`` in its own folder, where Python looks first unless PYTHONSAFEPATH is set.
    """
    sys.path[:] = [str(FOLDER), *(path for path in sys.path if path != str(FOLDER))]
    os.environ.pop("PYTHONSAFEPATH", None)


def put_last() -> None:
    """Let Hedge's modules come after all others. Raises :class:`ImportError` if one of those has the same name."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    for name in USED_BY_NOTEBOOKS:
        file = _file_of(name)
        if file is None or not Path(file).resolve().is_relative_to(FOLDER):
            raise ImportError(
                f"hedge needs a module named {name}, but Python has another one with this name ({file}); rename it, or "
                "import hedge in a process that does not have it on its path"
            )


def _file_of(name: str) -> str | None:
    """The file of the module that ``import name`` gives."""
    if (loaded := sys.modules.get(name)) is not None:
        return getattr(loaded, "__file__", None)
    spec = importlib.util.find_spec(name)
    return spec.origin if spec else None
