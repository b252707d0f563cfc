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
    return Response(path.read_bytes(), headers=FOR_GOOD, media_type=KINDS[path.suffix])


@functools.cache
def _name(file: str) -> str:
    path = BUNDLES / file
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:HASH_DIGITS]
    return f"{path.stem}-{digest}{path.suffix}"


@functools.cache
def _files() -> dict[str, str]:
    """From the names in addresses to the files. No other file can be asked for."""
    return {_name(path.name): path.name for path in BUNDLES.iterdir() if path.suffix in KINDS}
