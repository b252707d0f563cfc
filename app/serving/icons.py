"""Icons from a font with those that are used, 14 kB. Streamlit's own font has all 4,000 and 375 kB, and its page loads
it before it shows anything.

Streamlit has no setting for it. Its page therefore gets a style of ours, which is Streamlit's own with another address
of this font: ``/icons/style-HASH.css``. ``assets/fonts/icons.txt`` names the icons, and ``assets/fonts/README.md`` says
how the font is made. Another version of Streamlit may use other icons, so it keeps its own font.
"""

import functools
import hashlib
import re
from importlib import metadata, resources

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.serving.bundle_files import FOR_GOOD, HASH_DIGITS
from app.serving.start import base_path
from core.settings import ASSETS

MADE_FOR = "1.67.0"
"""The version of Streamlit whose icons the font has."""
FONT = ASSETS / "fonts" / "icons.woff2"
STYLE = re.compile(r'(?<=<link rel="stylesheet" crossorigin href=")\./static/(css/[\w.-]+\.css)(?=">)')
"""The style in Streamlit's page."""
ALL_ICONS = re.compile(r"\.\./media/MaterialSymbols-Rounded\.[\w-]+\.woff2")
KINDS = {"woff2": "font/woff2", "css": "text/css"}


def with_our_icons(page: str) -> str:
    """Streamlit's page with our style instead of Streamlit's. If Streamlit has changed, the page as it is."""
    if metadata.version("streamlit") != MADE_FOR:
        return page
    style = next((name for name in _files() if name.endswith(".css")), "")
    return STYLE.sub(f"{base_path()}/icons/{style}", page) if style else page


def routes(base: str) -> list[Route]:
    """The addresses of the font and of the style, below the path of the pages."""
    return [Route(f"{base}/icons/{{name}}", _answer, methods=["GET"])]


async def _answer(request: Request) -> Response:
    name = request.path_params["name"]
    content = _files().get(name)
    if content is None:
        return PlainTextResponse("There is no such file; reload the page.", 404)
    return Response(content, headers=FOR_GOOD, media_type=KINDS[name.rpartition(".")[2]])


@functools.cache
def _files() -> dict[str, bytes]:
    """The font, and Streamlit's style with the address of this font, by their names. No style if it has changed."""
    font = FONT.read_bytes()
    files = {f"icons-{_digest(font)}.woff2": font}
    static = resources.files("streamlit") / "static"
    path = STYLE.search((static / "index.html").read_text(encoding="utf-8"))
    if path:
        style, replaced = ALL_ICONS.subn(next(iter(files)), (static / "static" / path[1]).read_text(encoding="utf-8"))
        if replaced:
            content = style.replace("../media/", "../static/media/").encode()
            files[f"style-{_digest(content)}.css"] = content
    return files


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:HASH_DIGITS]
