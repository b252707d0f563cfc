"""A text whose tokens are shaded by surprise. Pointing at a token, or focusing it, shows what was expected."""

from pathlib import Path
from typing import Any

from app.components.shared.bundled import component

_mount = component("tokens", Path(__file__).with_name("tokens.html"))


def token_text(view: dict[str, Any], *, key: str) -> None:
    """Show a token view (:mod:`core.models.adapters.token_view`)."""
    _mount(key=key, data={"tokens": view["tokens"], "model": view["model"]})
