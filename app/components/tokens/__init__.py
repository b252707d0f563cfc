"""A text whose tokens are shaded by surprise. Pointing at a token, or focusing it, shows what was expected."""

from pathlib import Path
from typing import Any

from app.components.shared.bundled import component
from core.models.spelling import in_words, token_names

_mount = component("tokens", Path(__file__).with_name("tokens.html"))


def token_text(view: dict[str, Any], *, key: str) -> None:
    """Show a token view (:mod:`core.models.adapters.token_view`)."""
    rows = [row | {"alternatives": [(in_words(text), p) for text, p in row["alternatives"]]} for row in view["tokens"]]
    names = token_names([row["text"] for row in rows])
    _mount(key=key, data={"tokens": rows, "names": names, "model": view["model"]})
