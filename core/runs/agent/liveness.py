"""Liveness: the files in ``HEDGE_HOME/agents/<host>/`` that show which agents and workers are running.

==================  ==================================================================================
``agent.lock``      held by the host's one agent
``wake``            touched by whoever has something for the agent to do at once
``<slot>.lock``     held by the slot's worker, so that no two workers ever share an executor id
``<slot>.run``      the run that the worker is at; gone when it is at none
``slots.json``      the host's slots and their memory (:mod:`core.runs.devices.slots`)
``readings.json``   its GPUs' memory, load and heat while runs run (:mod:`core.runs.devices.gpu_metrics`)
==================  ==================================================================================

A worker's executor id is ``host:slot``. On this host the locks are the truth; of another host the heartbeat is, in the
database that they share (:mod:`core.runs.queue.hosts`). A database file has one host.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.files.atomic import write_atomically
from core.files.file_lock import holder, is_held
from core.settings import settings

ENDS_WITHIN_S = 3.0


def host() -> str:
    """This host's name, fit for a file name and an executor id: ``HEDGE_HOST``, or else the machine's own.

    Without its domain, which a laptop changes with the network it is in.
    """
    return _host(settings().host)


@functools.lru_cache(maxsize=16)
def _host(given: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", given or socket.gethostname().partition(".")[0]) or "host"


def executor_id(slot: str) -> str:
    """The id of the worker of a slot of this host."""
    return f"{host()}:{slot}"


def host_of(executor: str) -> str:
    """The host of an executor id; empty for an empty one."""
    return executor.rpartition(":")[0]


def agent_lock(of: str = "") -> Path:
    """The lock file of a host's agent; this host's by default."""
    return settings().home / "agents" / (of or host()) / "agent.lock"


def worker_lock(executor: str) -> Path:
    """The lock file of a worker."""
    return agent_lock(host_of(executor)).with_name(f"{executor.rpartition(':')[2]}.lock")


def run_lock(folder: Path) -> Path:
    """The lock of whichever process of this host is at the run in ``folder``.

    A host each, because one that is cut off would hold a common lock for ever; between hosts the claim decides.
    """
    return folder / f"run.{host()}.lock"


def agent_alive() -> bool:
    """Whether an agent lives on this host."""
    return is_held(agent_lock())


def end_agent() -> None:
    """Ask this host's agent, unless it is this process or its parent, to end, and wait a little until it has."""
    pid = holder(agent_lock()) if agent_alive() else None
    if pid is None or pid in (os.getpid(), os.getppid()):
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + ENDS_WITHIN_S
    while agent_alive() and time.monotonic() < end:
        time.sleep(0.02)


def any_agent_alive() -> bool:
    """Whether an agent lives here or on another host that shares the database."""
    return agent_alive() or bool(live_hosts())


def live_hosts() -> frozenset[str]:
    """The hosts whose agents live: this one by its lock, others by their heartbeats in the database they share."""
    from core.runs.queue import hosts

    return (hosts.alive() - {host()}) | ({host()} if agent_alive() else set())


def worker_alive(executor: str) -> bool:
    """Whether this worker lives; for one of another host, whether that host's agent does."""
    its_host = host_of(executor)
    if not its_host:
        return False
    return is_held(worker_lock(executor)) if its_host == host() else its_host in live_hosts()


def at_work(executor: str, run_id: str) -> bool:
    """Whether this worker lives and is at this run."""
    return busy_with(executor) == run_id and worker_alive(executor)


def wake() -> None:
    """Ask this host's agent, if there is one, to look at the database now and not in two seconds."""
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
    write_atomically(_busy_file(executor), run_id.encode(), lasting=False)


def say_idle(executor: str) -> None:
    """Record that a worker executes no run."""
    _busy_file(executor).unlink(missing_ok=True)


def busy_with(executor: str) -> str:
    """The run that a worker executes, or executed when it died; empty if there is none."""
    try:
        return _busy_file(executor).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def publish(name: str, values: object) -> None:
    """Publish ``values`` as JSON under this name, for pages and other hosts."""
    path = agent_lock().with_name(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(values).encode(), lasting=False)


def published(name: str, *, within_s: float = float("inf")) -> dict[str, Any]:
    """What each host's agent last published under this name, unless that is longer ago than ``within_s``."""
    found = {}
    for path in (settings().home / "agents").glob(f"*/{name}"):
        with suppress(OSError, ValueError):  # being taken away, or damaged
            if abs(time.time() - path.stat().st_mtime) <= within_s:
                found[path.parent.name] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _wake_file() -> Path:
    return agent_lock().with_name("wake")


def _busy_file(executor: str) -> Path:
    return worker_lock(executor).with_suffix(".run")
