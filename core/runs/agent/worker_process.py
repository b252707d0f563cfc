"""The worker process of one slot, which the host agent starts, restarts when it dies, and kills if necessary."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core import nvml
from core.errors import RunError
from core.runs.agent import exit_reasons, liveness
from core.runs.devices.slots import Slot
from core.runs.queue import database
from core.settings import ROOT, settings

STEADY_AFTER_S = 10.0
"""A worker that lives this long has started well: if it dies, the next one is started at once."""
LONGEST_PAUSE_S = 30.0
FREED_WITHIN_S = 20.0
"""How long the next worker waits for the memory of a GPU that a dead one has not given back yet."""
FREED_BUT_GIB = 0.5
COUNT_EVERY_S = 2.0
LARGEST_LOG = 5_000_000
"""Bytes after which a log is put aside; one older log is kept."""


@dataclass(frozen=True, slots=True)
class Death:
    """How a worker died: the run it was at (empty for none), why in words, and whether that was for a cancelled run."""

    run_id: str
    reason: str
    wanted: bool


class WorkerProcess:
    """The worker of a slot; while ``wanted`` is false, no new one is started."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.executor = liveness.executor_id(slot.name)
        self.wanted = True
        self.started = 0.0
        self.start_at = 0.0
        self.died = 0.0
        self.quick_deaths = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = ""
        self._used_gib: float | None = None
        self._starved_at = 0.0
        self._starved: int | None = None

    @property
    def run_id(self) -> str:
        """The run that the worker executes; empty if there is none."""
        return liveness.busy_with(self.executor) if self._process else ""

    def tend(self) -> Death | None:
        """Start the worker if it is due. Returns its death if it died since the last call."""
        if self._process is None:
            if self.wanted and time.monotonic() >= self.start_at and self._is_freed():
                self._start()
            return None
        status = self._process.poll()
        if status is None:
            self._count_kills()
            return None
        self._close()
        reason = self._killed or exit_reasons.in_words(status, starved=self._is_starved())
        death = Death(liveness.busy_with(self.executor), reason, status == exit_reasons.UNWANTED)
        liveness.say_idle(self.executor)
        self.died = time.monotonic()
        self.start_at = self.died + self._pause(death)
        return death

    def kill(self, reason: str) -> None:
        """Kill the worker. :meth:`tend` notices its death a moment later and starts another."""
        if self._process:
            self._killed = reason
            self._process.kill()

    def end(self) -> None:
        """Kill the worker, wait until it is dead, and start no other."""
        self.wanted = False
        if self._process:
            self._process.kill()
            self._process.wait()
            self._close()
            liveness.say_idle(self.executor)

    def _is_freed(self) -> bool:
        """Whether the GPU's memory is free again after the last worker, or the wait for it has been long enough."""
        if self._used_gib is None or time.monotonic() - self.died > FREED_WITHIN_S:
            return True
        seen = nvml.reading(self.slot.devices)
        return seen is None or seen.used_gib <= self._used_gib + FREED_BUT_GIB

    def _count_kills(self) -> None:
        if time.monotonic() - self._starved_at >= COUNT_EVERY_S:
            self._starved_at, self._starved = time.monotonic(), exit_reasons.kills_for_memory()

    def _is_starved(self) -> bool | None:
        """Whether the kernel killed a process for lack of memory since the worker was last seen alive."""
        now = exit_reasons.kills_for_memory()
        return None if now is None or self._starved is None else now > self._starved

    def _start(self) -> None:
        liveness.say_idle(self.executor)
        seen = nvml.reading(self.slot.devices) if self.slot.devices else None
        self._used_gib = seen.used_gib if seen else None
        with open_log(f"worker-{liveness.host()}-{self.slot.name}.log") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "core.runs.agent.worker", self.executor, str(self.slot.memory_gib)],
                cwd=ROOT,
                env=environment() | {"CUDA_VISIBLE_DEVICES": self.slot.devices},
                stdin=subprocess.PIPE,  # never written to: it closes when the agent dies, by which the worker knows
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started = time.monotonic()
        self._killed = ""
        self._count_kills()

    def _close(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
        self._process = None

    def _pause(self, death: Death) -> float:
        """Seconds to wait before the next start: none, but 0.5, 1, 2, … 30 where workers die without having begun.

        A worker that dies at a run needs no pause, because the run is given up after its third.
        """
        if death.run_id or time.monotonic() - self.started >= STEADY_AFTER_S:
            self.quick_deaths = 0
            return 0.0
        self.quick_deaths += 1
        return min(LONGEST_PAUSE_S, 0.25 * 2.0**self.quick_deaths)


def environment() -> dict[str, str]:
    """This process's environment, with absolute paths that are valid in a child's working directory."""
    fixed = {"HEDGE_HOME": str(settings().home)}
    if settings().database_url:
        fixed["HEDGE_DATABASE_URL"] = database.url()
    return os.environ | fixed


def start_detached(arguments: Sequence[str], *, log: str, up: Callable[[], bool], within_s: float, what: str) -> None:
    """Start ``python -m …`` so that it outlives this process, and wait until it is ``up``.

    It writes to ``log`` in ``HEDGE_HOME/logs``. Raises :class:`RunError` that says ``what`` where it is not up within
    ``within_s`` seconds.
    """
    with open_log(log) as out:
        subprocess.run(
            [sys.executable, "-m", "core.runs.agent.detached", *arguments],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
        )
    end = time.monotonic() + within_s
    while not up():
        if time.monotonic() > end:
            raise RunError(f"{what}; {settings().home / 'logs' / log} says why")
        time.sleep(0.01)


def open_log(name: str) -> IO[bytes]:
    """Open a log in ``HEDGE_HOME/logs`` to append to; a large one is put aside first."""
    path: Path = settings().home / "logs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LARGEST_LOG:
        path.replace(path.with_suffix(".old"))
    return path.open("ab")
