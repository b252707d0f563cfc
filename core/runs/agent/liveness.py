"""Liveness: the files in ``HEDGE_HOME/agents/<host>/`` that show which agents and workers are running.

==================  ==================================================================================
``agent.lock``      held by the host's one agent
``wake``            touched by any process that has something for the agent to do at once
``<slot>.lock``     held by the slot's worker, so that no two workers ever share an executor id
``<slot>.run``      the run that the worker is at; gone when it is at none
``slots.json``      the host's slots and their memory (:mod:`core.runs.agent.host_reports`)
``readings.json``   its GPUs' memory, load and heat while runs are executed
==================  ==================================================================================

A worker's executor id is ``host:slot``. On this host the locks count; for another host its heartbeat in the shared
database counts (:mod:`core.runs.queue.hosts`). A database file has one host.
"""

from collections.abc import Sequence
from pathlib import Path

from core.models.devices.slots import Slot
from core.settings import settings
from core.storage.file_lock import end_holder, is_held
from core.storage.sealed import read_json, write_json


def host() -> str:
    """This host's name, with which executor ids begin."""
    return settings().host_name


def executor_id(slot: str) -> str:
    """The id of the worker of a slot of this host."""
    return f"{host()}:{slot}"


def host_of(executor: str) -> str:
    """The host of an executor id; empty for an empty one."""
    return executor.rpartition(":")[0]


def agent_lock(name: str = "") -> Path:
    """The lock file of a host's agent; this host's by default."""
    return settings().home / "agents" / (name or host()) / "agent.lock"


def worker_lock(executor: str) -> Path:
    """The lock file of a worker."""
    return agent_lock(host_of(executor)).with_name(f"{executor.rpartition(':')[2]}.lock")


def run_lock(folder: Path) -> Path:
    """The lock of whichever process of this host is at the run in ``folder``.

    Each host has its own lock, because a host that is cut off would hold a common lock for ever. Between hosts the
    claim in the database decides.
    """
    return folder / f"run.{host()}.lock"


def agent_alive() -> bool:
    """Whether an agent lives on this host."""
    return is_held(agent_lock())


def end_agent() -> None:
    """Ask this host's agent, unless it is this process or its parent, to end, and wait a little until it has."""
    end_holder(agent_lock())


def any_agent_alive() -> bool:
    """Whether an agent lives here or on another host that shares the database."""
    return agent_alive() or bool(live_hosts())


def live_hosts() -> frozenset[str]:
    """The hosts with a live agent: this host by its lock, others by their heartbeats in the shared database."""
    from core.runs.queue import hosts

    return (hosts.alive() - {host()}) | ({host()} if agent_alive() else set())


def worker_alive(executor: str) -> bool:
    """Whether this worker is alive; for a worker of another host, whether that host's agent is alive."""
    its_host = host_of(executor)
    if not its_host:
        return False
    return is_held(worker_lock(executor)) if its_host == host() else its_host in live_hosts()


def at_work(executor: str, run_id: str) -> bool:
    """Whether this worker is alive and executes this run."""
    return busy_with(executor) == run_id and worker_alive(executor)


def busy_slots(slots: Sequence[Slot]) -> set[str]:
    """The names of the slots on which a worker of this host executes a run; a worker may have several slots."""
    executors = {slot: executor_id(slot.name) for slot in slots}
    return {
        part
        for slot, executor in executors.items()
        if (run_id := busy_with(executor)) and at_work(executor, run_id)
        for part in slot.parts
    }


def wake() -> None:
    """Ask this host's agent, if there is one, to read the database at once and not in two seconds."""
    path = _wake_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def last_wake() -> int:
    """When :func:`wake` was last called, in nanoseconds since the epoch; 0 if it never was."""
    try:
        return _wake_file().stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def say_busy(executor: str, run_id: str) -> None:
    """Record that a worker executes a run."""
    write_json(_busy_file(executor), {"run": run_id}, lasting=False)


def say_idle(executor: str) -> None:
    """Record that a worker executes no run."""
    _busy_file(executor).unlink(missing_ok=True)


def busy_with(executor: str) -> str:
    """The run that a worker executes, or executed when it died; empty if there is none."""
    try:
        return str(read_json(_busy_file(executor))["run"])
    except (OSError, ValueError, KeyError):  # damaged: the database knows the run
        return ""


def _wake_file() -> Path:
    return agent_lock().with_name("wake")


def _busy_file(executor: str) -> Path:
    return worker_lock(executor).with_suffix(".run")
