"""A component's scripts as the one module that streamlit takes, and the style that live figures share."""

from __future__ import annotations

import re
from pathlib import Path

from core.settings import ROOT

COMPONENTS = ROOT / "app" / "components"
"""Where the scripts and styles of the app's components are, as files."""
LIVE_CSS = COMPONENTS / "shared" / "live.css"
"""The style of live figures."""

LOCAL_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.{1,2}/[^"]+)";$', re.MULTILINE)


def scripts(entry: Path) -> tuple[Path, ...]:
    """The entry script and every script that it imports, directly or not; each after those that it imports."""
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
    """The entry script with its imports, one script after another. The import lines fall away, so no name may be
    declared in two of them."""
    return "\n".join(LOCAL_IMPORT.sub("", path.read_text(encoding="utf-8")) for path in scripts(entry))
