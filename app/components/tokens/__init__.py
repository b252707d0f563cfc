"""A text whose tokens are shaded by surprise. Pointing at a token, or focusing it, shows what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from charts.scripts import bundle

HERE = Path(__file__).parent
SCRIPT = HERE / "tokens.js"

_mount = st.components.v2.component(
    "hedge_tokens",
    html=(HERE / "tokens.html").read_text(encoding="utf-8"),
    css=(HERE / "tokens.css").read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


def token_text(view: dict[str, Any], *, key: str) -> None:
    """Show a token view (:mod:`core.models.adapters.token_view`)."""
    _mount(key=key, data={"tokens": view["tokens"], "model": view["model"]})
