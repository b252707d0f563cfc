"""Large tables of components as files that browsers keep: ``/tables/HASH``.

Streamlit would send a table with each visit. A table's address is the hash of its content, so a browser asks for it
once, and only someone who was shown the page knows the address. The server answers for tables that one of its pages has
offered and that are still in memory. For any other, as after a request that reached another server behind the same
address, the component asks for the table itself (:mod:`app.components.shared.bundled`).
"""

from __future__ import annotations

import gzip
import hashlib
import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.serving.compression import LEVEL, takes_gzip
from app.serving.start import base_path

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from starlette.requests import Request

SMALLEST = 20_000
"""Bytes; a smaller table is sent with its page."""
MOST_BYTES = 64_000_000
"""Compressed bytes of all tables in memory. Those of 100,000 questions take about 4 MB."""
KEPT_BY_BROWSERS = {"cache-control": "private, immutable, max-age=2592000", "vary": "accept-encoding"}

_lock = threading.Lock()
_contents: OrderedDict[str, bytes] = OrderedDict()
"""The compressed tables by their names. The one that was offered last is the last."""
_names: dict[int, tuple[weakref.ref[pa.Table], str]] = {}
"""The names of tables that still exist, by identity: a page that runs again offers the same table."""


def offer(table: object) -> str:
    """The path at which the table is served from now on. Empty for any other object, and for a table that is small or
    can't be packed.
    """
    import pyarrow as pa

    from core.tables.packed_table import can_pack, packed

    if not isinstance(table, pa.Table) or table.nbytes < SMALLEST or not can_pack(table):
        return ""
    with _lock:
        reference, name = _names.get(id(table), (None, ""))
        if reference is None or reference() is not table or name not in _contents:
            content = packed(table)
            name = hashlib.sha256(content).hexdigest()
            _contents[name] = gzip.compress(content, LEVEL, mtime=0)
            _names[id(table)] = (weakref.ref(table, _forgetting(id(table))), name)
        _contents.move_to_end(name)
        while len(_contents) > 1 and sum(map(len, _contents.values())) > MOST_BYTES:
            _contents.popitem(last=False)
    return f"{base_path()}/tables/{name}"


def _forgetting(identity: int) -> Callable[[object], object]:
    return lambda _: _names.pop(identity, None)


def routes(base: str) -> list[Route]:
    """The addresses of all tables, below the path of the pages."""
    return [Route(f"{base}/tables/{{name}}", _answer, methods=["GET"])]


async def _answer(request: Request) -> Response:
    content = _contents.get(request.path_params["name"])
    if content is None:
        return PlainTextResponse("This server has no such table; reload the page.", 404)
    headers = KEPT_BY_BROWSERS
    if takes_gzip(request.headers):
        headers = headers | {"content-encoding": "gzip"}
    else:
        content = gzip.decompress(content)
    return Response(content, headers=headers, media_type="application/octet-stream")
