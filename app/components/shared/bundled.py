"""Components of the browser. Their bundles and large tables are files that it keeps (:mod:`app.serving.bundle_files`,
:mod:`app.serving.table_files`), so that only the first visit waits for them: Streamlit would send them with each visit.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from app.serving import table_files
from app.serving.bundle_files import address

LOAD = """const at = (path) => new URL(path, location.origin).href;
const [bundle, style] = await Promise.all([
  import(at(%(script)s)),
  %(style)s && fetch(at(%(style)s)).then((answer) => answer.text()),
]);
const sheet = new CSSStyleSheet();
sheet.replaceSync(style + ":host { visibility: visible }");
export default (call) => {
  const root = call.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  return bundle.default(call);
};
"""
"""The script that Streamlit sends: it loads the bundle and its style from their files."""
UNTIL_STYLED = ":host { visibility: hidden }"


def component(name: str, html: Path | str = "", *, bundle: str = "", styled: bool = True) -> Any:
    """Register a component called ``hedge_NAME``: its HTML, or the file that holds it, and the script and the style of
    its ``bundle``, which is called ``name`` unless given. Returns the function that mounts it.
    """
    text = html.read_text(encoding="utf-8") if isinstance(html, Path) else html
    bundle = bundle or name
    style = address(f"{bundle}.css") if styled else ""
    script = LOAD % {"script": json.dumps(address(f"{bundle}.js")), "style": json.dumps(style)}
    mount = st.components.v2.component(
        f"hedge_{name}", html=text or None, css=UNTIL_STYLED if styled else None, js=script
    )

    def mount_with_files(*, key: str, data: Mapping[str, Any] | None = None, **options: Any) -> Any:
        files = _files(key, data or {})
        if files:
            options["on_tables_change"] = lambda: _send_tables(key)
        return mount(key=key, data=data and {**data, **files}, **options)

    return mount_with_files


def _files(key: str, data: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The addresses of the large tables in the data; none if this browser could not load them."""
    if _name(key) in st.session_state:
        return {}
    offered = {name: table_files.offer(value) for name, value in data.items()}
    return {name: {"table_file": path} for name, path in offered.items() if path}


def _send_tables(key: str) -> None:
    """Send the component's tables in its messages from now on: another server may have answered for their files."""
    st.session_state[_name(key)] = True


def _name(key: str) -> str:
    return f"{key}_sends_tables"
