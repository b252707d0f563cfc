"""The page server's answers to a monitoring system: ``/healthz``, ``/readyz`` and ``/metrics``.

``/healthz`` says that the process answers and can open a file, ``/readyz`` whether it can do its work (status 503 if
not). Everyone may request both, as a load balancer must. Only this machine and the networks of ``HEDGE_METRICS_FROM``
may read ``/metrics`` and why a server is not ready, and not through a proxy, because its address says nothing about the
reader.
"""

import asyncio
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.serving import sessions
from app.serving.guard import is_near
from core.processes import open_files
from core.serving import monitoring

KEPT_S = 2.0
"""An answer is used again for this long, so that frequent requests cost nothing."""

REFUSAL = "Only the server's own machine and the networks of HEDGE_METRICS_FROM may read these figures.\n"

Answer = tuple[int, str]


class Monitoring:
    """The three answers, and the latest of each."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, Answer]] = {}

    def routes(self, base: str) -> list[Route]:
        """The three addresses below the path ``base`` of the pages, and also without it."""
        answers = {"healthz": self._healthz, "readyz": self._readyz, "metrics": self._metrics}
        return [Route(f"{path}/{name}", answer) for path in sorted({"", base}) for name, answer in answers.items()]

    async def _healthz(self, request: Request) -> Response:
        return _response(
            (200, "alive\n") if open_files.count() < open_files.limit() else (503, "no file can be opened\n")
        )

    async def _readyz(self, request: Request) -> Response:
        status, text = await self._newest("readyz", _readiness)
        return _response((status, text if is_near(request) else text.split("\n")[0] + "\n"))

    async def _metrics(self, request: Request) -> Response:
        if not is_near(request):
            return _response((403, REFUSAL))
        return _response(await self._newest("metrics", _exposition), kind="text/plain; version=0.0.4; charset=utf-8")

    async def _newest(self, name: str, compute: Callable[[], Answer]) -> Answer:
        until, answer = self._kept.get(name, (0.0, (0, "")))
        if time.monotonic() > until:
            answer = await asyncio.to_thread(compute)
            self._kept[name] = (time.monotonic() + KEPT_S, answer)
        return answer


def _response(answer: Answer, *, kind: str = "text/plain") -> Response:
    return Response(answer[1], answer[0], {"cache-control": "no-store"}, kind)


def _exposition() -> Answer:
    return 200, monitoring.exposition(sessions=sessions.open_pages.total()).decode()


def _readiness() -> Answer:
    problems = monitoring.problems()
    return (503, "\n".join(["not ready", *problems, ""])) if problems else (200, "ready\n")
