"""The page server's answers below ``/join``: the page that phones open, and what it asks.

=================================  =======================================================================
``GET /join/``, ``GET /join/CODE``  the phone's page; ``/join/-/NAME`` are its script and style
``POST /join/CODE/seat``            take a seat: ``{"name"}``
``POST /join/CODE/answer``          ``{"question", "shares", "turn"}``
``GET /join/CODE/stream``           the updates for every phone, as server-sent events
``GET /join/CODE/mine``             the state of this seat alone
``GET /join/CODE/desk``             the updates for the projector, as server-sent events
``POST /join/CODE/desk``            what the lecturer does: ``{"act", …}``
=================================  =======================================================================

A phone sends its seat's token and a projector its key (:mod:`app.classroom.desks`) as ``Authorization: Bearer …``.
Neither is ever in a cookie, so no other site can act for them. Every refusal is a status and one sentence.
"""

import functools
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from charts.bundles import BUNDLES
from core import access
from core.errors import AccessError, HedgeError, InputError
from core.serving.classroom.refusals import ClassRefusal

LOG = logging.getLogger(__name__)
HERE = Path(__file__).parent
FILES = {name: BUNDLES / name for name in ("phone.js", "phone.css")}
"""The files of the phone's page by their names in its addresses. No other file can be asked for."""
KINDS = {".js": "text/javascript", ".css": "text/css"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
NOT_KEPT = {"cache-control": "no-store"}
Answer = Callable[[Request], Awaitable[Response]]


def routes(base: str) -> list[Route]:
    """The addresses below ``/join``, where ``base`` is the path of the pages: empty, or with a slash before it."""
    join, of_class = f"{base}/join", f"{base}/join/{{code}}"
    answers: list[tuple[str, str, Answer]] = [
        ("GET", join, _to_page),
        ("GET", f"{join}/", _page),
        ("GET", of_class, _page),
        ("GET", f"{join}/-/{{name}}", _file),
        ("POST", f"{of_class}/seat", lambda request: _answers().seat(request)),
        ("POST", f"{of_class}/answer", lambda request: _answers().answer(request)),
        ("GET", f"{of_class}/mine", lambda request: _answers().mine(request)),
        ("GET", f"{of_class}/stream", lambda request: _answers().phone_stream(request)),
        ("GET", f"{of_class}/desk", lambda request: _answers().desk_stream(request)),
        ("POST", f"{of_class}/desk", lambda request: _answers().act(request)),
    ]
    own = [Route(path, _in_a_sentence(answer), methods=[method]) for method, path, answer in answers]
    nothing = _in_a_sentence(_nothing)
    return [*own, *(Route(path, nothing, methods=METHODS) for path in (join, f"{join}/{{rest:path}}"))]


def _answers() -> ModuleType:
    from app.classroom import answers

    return answers


def _in_a_sentence(answer: Answer) -> Answer:
    """The same answer; every error is a status and one sentence."""

    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except HedgeError as error:
            refused = _json({"error": _sentence(error)}, status=_status(error))
            if isinstance(error, ClassRefusal) and error.wait_s:
                refused.headers["retry-after"] = str(error.wait_s)
            return refused
        except Exception:
            LOG.exception("a request of a class failed")
            return _json({"error": "Something unexpected went wrong; reload the page."}, status=500)

    return answered


async def _to_page(request: Request) -> Response:
    return Response(status_code=308, headers={"location": "join/"})


async def _file(request: Request) -> Response:
    file = FILES.get(request.path_params["name"])
    if file is None:
        return await _nothing(request)
    return Response(_content(file), headers={"cache-control": "no-cache"}, media_type=KINDS[file.suffix])


async def _page(request: Request) -> Response:
    return Response(_content(HERE / "phone.html"), headers=NOT_KEPT, media_type="text/html")


async def _nothing(request: Request) -> Response:
    if request.method != "GET":
        raise ClassRefusal("this address takes another kind of request; reload the page", 405)
    raise ClassRefusal("there is nothing at this address; open the link on the projector again", 404)


@functools.cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


def _json(values: dict[str, str], *, status: int) -> Response:
    return JSONResponse(values, status, NOT_KEPT)


def _status(error: HedgeError) -> int:
    if isinstance(error, ClassRefusal):
        return error.status
    return 403 if isinstance(error, AccessError) else 400 if isinstance(error, InputError) else 503


def _sentence(error: HedgeError) -> str:
    from app.formatting import sentence

    return sentence(access.without_places(str(error)))
