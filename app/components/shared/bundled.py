"""Components of the browser, which Streamlit gets as bundles (:mod:`charts.bundles`)."""

from pathlib import Path
from typing import Any

import streamlit as st

from charts.bundles import script, style


def component(name: str, html: Path | str, *, bundle: str = "") -> Any:
    """Register a component called ``hedge_NAME``: its HTML, or the file that holds it, and the script and the style of
    its ``bundle``, which is called ``name`` unless given. Returns the function that mounts it.
    """
    text = html.read_text(encoding="utf-8") if isinstance(html, Path) else html
    bundle = bundle or name
    return st.components.v2.component(f"hedge_{name}", html=text, css=style(bundle), js=script(bundle))
