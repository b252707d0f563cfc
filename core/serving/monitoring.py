"""What a monitoring system asks a server of Hedge: whether it can do its work, and its figures for Prometheus.

The figures, each a gauge:

===============================  ==========================================================================
``hedge_runs{state}``            runs of the last day by state, and all that are waiting or running
``hedge_questions_per_second``   questions scored per second, over all running runs on any host
``hedge_run_remaining_seconds``  by run: the expected seconds until it ends, for each that runs
``hedge_agent_alive{host}``      1 for each host whose agent lives
``hedge_sessions``               pages that are open in browsers
``hedge_home_free_bytes``        free space of the disk that holds ``HEDGE_HOME``
``hedge_ready``                  1 if ``/readyz`` says ready
===============================  ==========================================================================

With them come the page server's processor time, memory and open files, as Prometheus's client library names them
(``process_…``).
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.errors import HedgeError
from core.processes import open_files
from core.settings import settings

if TYPE_CHECKING:
    from prometheus_client.core import Metric

LEAST_FREE_BYTES = 500_000_000
"""With less free space, a run could not write what it scores."""


def problems() -> list[str]:
    """Why this server can't do its work, a sentence each; empty if it can."""
    if files := open_files.problem():
        return [files]  # the others would only say that they can open none
    return [*_disk_problems(), *_database_problems()]


def _disk_problems() -> list[str]:
    home = settings().home
    try:
        home.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(home).free
    except OSError as error:
        return [f"HEDGE_HOME can't be used ({error.strerror})."]
    if not os.access(home, os.W_OK):
        return ["HEDGE_HOME can't be written."]
    if free < LEAST_FREE_BYTES:
        return [f"The disk of HEDGE_HOME has {free / 1e6:,.0f} MB left; runs need {LEAST_FREE_BYTES / 1e6:,.0f} MB."]
    return []


def _database_problems() -> list[str]:
    from core.runs.queue import run_queue

    try:
        run_queue.waiting()
    except HedgeError as error:
        return [f"The run database does not answer: {error}."]
    return []


def exposition(*, sessions: int) -> bytes:
    """Everything in Prometheus's text format. ``sessions`` is the number of open pages."""
    from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    registry.register(_Figures(sessions))
    return bytes(generate_latest(registry))


class _Figures:
    """Hedge's own figures, as a collector of the client library."""

    def __init__(self, sessions: int) -> None:
        self.sessions = sessions

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        faults = problems()
        yield GaugeMetricFamily("hedge_ready", "1 if the server can do its work", value=float(not faults))
        yield GaugeMetricFamily("hedge_sessions", "pages that are open in browsers", value=self.sessions)
        if settings().home.is_dir():
            free = shutil.disk_usage(settings().home).free
            yield GaugeMetricFamily("hedge_home_free_bytes", "free space of the disk of HEDGE_HOME", value=free)
        if not faults:
            yield from _run_figures()


def _run_figures() -> Iterable[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    from core.runs import engine
    from core.runs.agent import liveness

    known = engine.statuses()
    states = Counter({"queued": 0, "running": 0, "done": 0, "failed": 0, "paused": 0, "cancelled": 0})
    states.update(now.state for now in known)
    runs = GaugeMetricFamily("hedge_runs", "runs of the last day, and all unfinished ones", labels=["state"])
    for state, count in states.items():
        runs.add_metric([state], count)
    yield runs
    at_work = [(now.run_id, now.progress) for now in known if now.progress]
    rate = sum(progress.rate or 0.0 for _, progress in at_work)
    yield GaugeMetricFamily("hedge_questions_per_second", "questions scored per second over all runs", value=rate)
    remaining = GaugeMetricFamily("hedge_run_remaining_seconds", "expected seconds until the run ends", labels=["run"])
    for run_id, progress in at_work:
        if progress.remaining_s is not None:
            remaining.add_metric([run_id], progress.remaining_s)
    yield remaining
    agents = GaugeMetricFamily("hedge_agent_alive", "hosts whose agent lives", labels=["host"])
    for host in sorted(liveness.live_hosts()):
        agents.add_metric([host], 1)
    yield agents
