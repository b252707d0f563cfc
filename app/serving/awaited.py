"""Where an open page asks whether what it awaits is there: ``GET /awaited/TICKET``.

Each run of a page's script that awaits something makes a ticket. The browser holds one request for it, which is
answered when the page should run again. So no script runs, and no thread waits, until there is something to show.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.serving.start import base_path
from app.serving.stopping import is_stopping

ARRIVED, ASK_AGAIN, GONE = 200, 202, 204
"""The answers: run the page again; nothing yet, because proxies end a request that takes long; this server has no such
ticket, so the browser has the page run from time to time."""
GATHER_S = (1.0, 10.0)
"""When the first value has arrived, the others have as long as it took to come with it, within these seconds, so that
the page runs once for several."""
ANSWER_WITHIN_S = 20.0
LOOK_S = 0.05
NOT_KEPT = {"cache-control": "no-store"}


@dataclass(eq=False)
class Ticket:
    """What one run of a page's script awaits. Its address holds as long as the session keeps the ticket.

    ``begin`` is called with each request; the first one says that the browser has got the page. The page runs again
    when all of ``conditions`` hold, or a while after the first one (:data:`GATHER_S`).
    """

    begin: Callable[[], None]
    conditions: Sequence[Callable[[], bool]]
    name: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    requests: int = 0

    def __post_init__(self) -> None:
        _tickets[self.name] = self

    @property
    def address(self) -> str:
        """The path that the browser asks."""
        return f"{base_path()}/awaited/{self.name}"


_tickets: WeakValueDictionary[str, Ticket] = WeakValueDictionary()


def routes(base: str) -> list[Route]:
    """The address of all tickets, below the path of the pages."""
    return [Route(f"{base}/awaited/{{ticket}}", _answer, methods=["GET"])]


async def _answer(request: Request) -> Response:
    ticket = _tickets.get(request.path_params["ticket"])
    return Response(status_code=GONE if ticket is None else await answered(ticket), headers=NOT_KEPT)


async def answered(ticket: Ticket) -> int:
    """:data:`ARRIVED`, as soon as the page should run again, or :data:`ASK_AGAIN`.

    A later request for the ticket ends this one, and so does a server that stops, which waits for open requests.
    """
    ticket.requests += 1
    number, begun = ticket.requests, time.monotonic()
    gathered = float("inf")
    ticket.begin()
    while (now := time.monotonic()) < begun + ANSWER_WITHIN_S and ticket.requests == number and not is_stopping():
        hold = [condition() for condition in ticket.conditions]
        if any(hold):
            least, most = GATHER_S
            gathered = min(gathered, now + min(max(now - begun, least), most))
        if all(hold) or now >= gathered:
            return ARRIVED
        await asyncio.sleep(LOOK_S)
    return ASK_AGAIN
