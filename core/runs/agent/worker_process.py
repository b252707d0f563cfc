"""The worker process of one slot, which the host agent starts, restarts when it dies, and kills if necessary."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from core.errors import RunError
from core.models.devices import nvml
from core.models.devices.slots import Slot
from core.processes.child import Child
from core.processes.log_lines import log_file, open_log
from core.runs.agent import liveness
from core.settings import ROOT, settings
from core.storage import database

STEADY_AFTER_S = 10.0
"""A worker that lives this long has started successfully: if it dies, the next one is started at once."""
LONGEST_PAUSE_S = 30.0
FREED_WITHIN_S = 20.0
"""How long the next worker waits for the memory of a GPU that a dead one has not given back yet."""
FREED_BUT_GIB = 0.5
IDLE_MINUTES = 5
"""How long an agent that Hedge started on its own stays without a run."""
AGENT_STARTS_WITHIN_S = 30.0
"""A start takes half a second; with ten processes waiting for each processor, one took six seconds."""
DETACHED = ("sh", "-c", '"$0" "$@" &')
"""What starts the command behind it so that it outlives this process, which need not reap it."""
AGENTS_DEVICES = "HEDGE_AGENTS_DEVICES"
"""The agent's own ``CUDA_VISIBLE_DEVICES``, empty if it has none, as a worker passes it to the next agent."""
LAST_RUN = "last run"
"""The agent's message to a worker that should end when it has no run."""
ASKED = 0
"""The exit status of a worker that its agent asked to end after its run."""
UNWANTED = 75
"""The exit status of a worker that ended itself because its run was no longer wanted."""
STOPS = tuple(-number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
"""The exit statuses of a worker that was stopped, as by a host that shuts down."""


@dataclass(frozen=True, slots=True)
class Death:
    """How a worker died: the run that it was executing (empty for none), the reason in words, whether that run had been
    cancelled, and whether something stopped the worker as one stops a program, which is no fault of its run."""

    run_id: str
    reason: str
    cancelled: bool
    stopped: bool = False


class WorkerProcess:
    """The worker of a slot; while ``wanted`` is false, no new one is started.

    It takes only runs that need more than ``above_gib``. While it is ``resting``, another worker has its device, and
    while it is ``joining``, it waits for the devices that it will have.
    """

    def __init__(self, slot: Slot, *, above_gib: float | None = None) -> None:
        self.slot = slot
        self.above_gib = above_gib
        self.resting = False
        self.joining = False
        self.executor = liveness.executor_id(slot.name)
        self.wanted = True
        self.started = 0.0
        self.start_at = 0.0
        self.died = 0.0
        self.quick_deaths = 0
        self._child: Child | None = None
        self._used_gib: float | None = None

    @property
    def run_id(self) -> str:
        """The run that the worker executes; empty if there is none."""
        return liveness.busy_with(self.executor) if self._child else ""

    @property
    def is_gone(self) -> bool:
        """Whether there is no process."""
        return self._child is None

    @property
    def ended_as_asked(self) -> bool:
        """Whether it was asked to end after its run, and there is no process any more."""
        return self.resting and self.is_gone

    def end_after_run(self) -> None:
        """Ask the worker to end once it has no run, and start no other."""
        self.resting, self.wanted = True, False
        if self._child:
            with suppress(OSError):  # it has died, which :meth:`tend` notices
                self._child.send(LAST_RUN)

    def tend(self) -> Death | None:
        """Start the worker if it is due. Returns its death if it died since the last call."""
        if self._child is None:
            if self.wanted and time.monotonic() >= self.start_at and self._is_freed():
                self._start()
            return None
        status = self._child.status
        if status is None:
            return None
        reason, self._child = self._child.end(), None
        if self.resting and status == ASKED:
            return None
        if status == UNWANTED:
            reason = "ended because its run was no longer wanted"
        death = Death(liveness.busy_with(self.executor), reason, status == UNWANTED, status in STOPS)
        liveness.say_idle(self.executor)
        self.died = time.monotonic()
        self.start_at = self.died + self._pause(death)
        return death

    def kill(self, reason: str) -> None:
        """Kill the worker. :meth:`tend` notices its death a moment later and starts another."""
        if self._child:
            self._child.kill(reason)

    def end(self) -> None:
        """Kill the worker, wait until it is dead, and start no other."""
        self.wanted = False
        if self._child:
            self._child.end()
            self._child = None
            liveness.say_idle(self.executor)

    def _is_freed(self) -> bool:
        """Whether the GPU's memory is free again after the last worker, or the wait for it has been long enough."""
        if self._used_gib is None or time.monotonic() - self.died > FREED_WITHIN_S:
            return True
        seen = nvml.reading(self.slot.devices)
        return seen is None or seen.used_gib <= self._used_gib + FREED_BUT_GIB

    def _start(self) -> None:
        liveness.say_idle(self.executor)
        seen = nvml.reading(self.slot.devices) if self.slot.devices else None
        self._used_gib = seen.used_gib if seen else None
        limits = [self.slot.memory_gib] + ([] if self.above_gib is None else [self.above_gib])
        self._child = Child(
            "core.runs.agent.worker",
            *(self.executor, *map(str, limits)),
            environment=environment() | _of_slot(self.slot),
            log=f"worker-{liveness.host()}-{self.slot.name}.log",
        )
        self.started = time.monotonic()

    def _pause(self, death: Death) -> float:
        """Seconds to wait before the next start: 0, or 0.5, 1, 2, … 30 if workers die before they have begun a run. A
        worker that dies during a run needs no pause, because the run is given up after some tries.
        """
        if death.run_id or time.monotonic() - self.started >= STEADY_AFTER_S:
            self.quick_deaths = 0
            return 0.0
        self.quick_deaths += 1
        return min(LONGEST_PAUSE_S, 0.25 * 2.0**self.quick_deaths)


def environment() -> dict[str, str]:
    """This process's environment, with absolute paths that are valid in a child's working directory.

    A worker's child gets the devices that the agent saw, not the worker's own.
    """
    fixed = {"HEDGE_HOME": str(settings().home)}
    if settings().database_url:
        fixed["HEDGE_DATABASE_URL"] = database.url()
    variables = os.environ | fixed
    if AGENTS_DEVICES in variables:
        del variables["CUDA_VISIBLE_DEVICES"]
        if all_devices := variables.pop(AGENTS_DEVICES):
            variables["CUDA_VISIBLE_DEVICES"] = all_devices
    return variables


def _of_slot(slot: Slot) -> dict[str, str]:
    """The variables that restrict a worker to its slot's devices."""
    return {"CUDA_VISIBLE_DEVICES": slot.devices, AGENTS_DEVICES: os.environ.get("CUDA_VISIBLE_DEVICES", "")}


def start_agent(*, up: Callable[[], bool] = lambda: True) -> None:
    """Start this host's agent, detached, for as long as there are runs and ``IDLE_MINUTES`` more.

    Returns once it is ``up``. If several processes start one at once, all but one of the agents find the lock held and
    end. Raises :class:`~core.errors.RunError` if it is not up in time.
    """
    log = f"agent-{liveness.host()}.log"
    with open_log(log) as output:
        subprocess.run(
            [*DETACHED, sys.executable, "-m", "core.runs.agent.host_agent", str(IDLE_MINUTES)],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
        )
    end = time.monotonic() + AGENT_STARTS_WITHIN_S
    while not up():
        if time.monotonic() > end:
            raise RunError(f"no agent could be started on this host; {log_file(log)} says why")
        time.sleep(0.01)
