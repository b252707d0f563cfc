"""A component's scripts as the one module that streamlit takes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

LOCAL_IMPORT = re.compile(r'^import \{[^}]*\} from "\.{1,2}/[^"]+";$', re.MULTILINE)


def bundle(scripts: Iterable[Path]) -> str:
    """Scripts one after another; their imports of each other fall away, so no name may be in two of them."""
    return "\n".join(LOCAL_IMPORT.sub("", path.read_text(encoding="utf-8")) for path in scripts)
