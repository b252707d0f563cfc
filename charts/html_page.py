"""The HTML that Hedge writes: texts are escaped unless a template marks them as safe, and a file runs no script but its
own.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

ENDS_SCRIPT = re.compile(r"<(?=/script|!--)", re.I)
"""Text that would end a script element early, or hide its end."""


def html_page(name: str, *, script: str = "", data: Any = None, **values: Any) -> bytes:
    """The page ``name`` of this folder with its values and its script, if it has one.

    Its content security policy names the ``script`` by its hash and lets nothing be asked from elsewhere. The script's
    ``data`` is JSON in an element of its own.
    """
    safe = ENDS_SCRIPT.sub(r"<\\", script)
    digest = base64.b64encode(hashlib.sha256(safe.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _environment().get_template(f"{name}.html").render(values, script=safe, data=data, policy=policy)
    return page.encode(errors="replace")  # the name of a file need not be valid Unicode


def fragment(source: str, **values: Any) -> str:
    """A piece of HTML for a page or a notebook; ``source`` is its template.

    >>> fragment("<b>{{ name }}</b>", name="<i>")
    '<b>&lt;i&gt;</b>'
    """
    return _compiled(source).render(values)


@cache
def _compiled(source: str) -> Template:
    return _environment().from_string(source)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False}
    return environment
