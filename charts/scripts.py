"""Bundle a component's scripts into the one module that Streamlit accepts, and the style that live figures share."""

from __future__ import annotations

import re
from pathlib import Path

from core.settings import ROOT

COMPONENTS = ROOT / "app" / "components"
"""The folder with the scripts and styles of the app's components."""
LIVE_CSS = COMPONENTS / "shared" / "live.css"
"""The stylesheet of live figures."""
PRESENTER_CSS = COMPONENTS / "shared" / "presenter.css"
"""The stylesheet of the presenter view."""

DEFAULT_EXPORT = re.compile(r"^export default \w+;$", re.MULTILINE)
LOCAL_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.{1,2}/[^"]+)";$', re.MULTILINE)


def scripts(entry: Path) -> tuple[Path, ...]:
    """The entry script and every script that it imports, directly or indirectly. Each comes after those that it
    imports.
    """
    found: dict[Path, None] = {}

    def visit(path: Path) -> None:
        if path in found:
            return
        for relative in LOCAL_IMPORT.findall(path.read_text(encoding="utf-8")):
            visit((path.parent / relative).resolve())
        found[path] = None

    visit(entry.resolve())
    return tuple(found)


def bundle(entry: Path) -> str:
    """Concatenate the entry script and its imports into one script.

    The import lines are removed, so no name may be declared in two of the scripts. What another script exports by
    default stays a function of the one script, because only the entry script may have a default export.
    """
    *others, own = [LOCAL_IMPORT.sub("", path.read_text(encoding="utf-8")) for path in scripts(entry)]
    return "\n".join([*(DEFAULT_EXPORT.sub("", text) for text in others), own])
