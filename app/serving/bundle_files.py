"""The components' scripts and styles as files that browsers keep: ``/bundles/NAME-HASH.js`` and ``.css``."""

import functools
import hashlib

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.serving.start import base_path
from charts.bundles import BUNDLES

KINDS = {".js": "text/javascript", ".css": "text/css"}
FOR_GOOD = {"cache-control": "public, immutable, max-age=31536000"}
HASH_DIGITS = 16


def address(file: str) -> str:
    """The path at which a bundle such as ``alpha_lab.js`` is served. It changes with the bundle's content."""
    return f"{base_path()}/bundles/{_name(file)}"


def routes(base: str) -> list[Route]:
    """The addresses of all bundles, below the path of the pages."""
    return [Route(f"{base}/bundles/{{name}}", _answer, methods=["GET"])]


async def _answer(request: Request) -> Response:
    file = _files().get(request.path_params["name"])
    if file is None:
        return PlainTextResponse("There is no such file; reload the page.", 404)
    path = BUNDLES / file
    content = path.read_bytes()
    # After an update without a restart, browsers would keep the new content at the old address.
    headers = FOR_GOOD if _digest(content) in request.path_params["name"] else {"cache-control": "no-store"}
    return Response(content, headers=headers, media_type=KINDS[path.suffix])


@functools.cache
def _name(file: str) -> str:
    path = BUNDLES / file
    return f"{path.stem}-{_digest(path.read_bytes())}{path.suffix}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:HASH_DIGITS]


@functools.cache
def _files() -> dict[str, str]:
    """From the names in addresses to the files. No other file can be asked for."""
    return {_name(path.name): path.name for path in BUNDLES.iterdir() if path.suffix in KINDS}
