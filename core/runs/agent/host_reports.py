"""What the agent of each host reports to pages and other hosts: its slots, and the metrics of its GPUs while runs are
executed.

They are files in ``HEDGE_HOME/agents/<host>/`` (:mod:`core.runs.agent.liveness` lists them).
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from core.models.devices import nvml
from core.models.devices.nvml import GpuMetrics
from core.models.devices.slots import Slot
from core.runs.agent import liveness
from core.settings import settings
from core.storage.sealed import read_json, write_json

SLOTS = "slots.json"
METRICS = "readings.json"
FRESH_S = 10.0


def publish_slots(slots: Sequence[Slot]) -> None:
    """Publish this host's slots."""
    _publish(SLOTS, {"slots": [asdict(slot) for slot in slots]})


def published_slots() -> dict[str, tuple[Slot, ...]]:
    """The slots of every host that ever had an agent, as last published."""
    slots = {}
    for host, values in _published(SLOTS).items():
        with suppress(TypeError, KeyError):  # of another version
            slots[host] = tuple(Slot(**each | {"host": host}) for each in values["slots"])
    return slots


def publish_metrics(slots: Sequence[Slot]) -> None:
    """Publish the current metrics of the GPUs of these slots."""
    if metrics := {slot.name: asdict(seen) for slot in slots if (seen := nvml.joint_reading(slot.devices))}:
        _publish(METRICS, metrics)


def latest_metrics() -> dict[str, GpuMetrics]:
    """The metrics of each GPU in the last ten seconds, by executor (``host:gpu0``). Hosts without recent metrics are
    left out."""
    metrics: dict[str, GpuMetrics] = {}
    for host, values in _published(METRICS, within_s=FRESH_S).items():
        with suppress(TypeError, AttributeError):  # of another version
            metrics |= {f"{host}:{slot}": GpuMetrics(**each) for slot, each in values.items()}
    return metrics


def _publish(name: str, values: Mapping[str, Any]) -> None:
    path = liveness.agent_lock().with_name(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, values, lasting=False)


def _published(name: str, *, within_s: float = float("inf")) -> dict[str, Any]:
    """The contents of the file of this name by host, unless it was written longer ago than ``within_s``."""
    contents = {}
    for path in (settings().home / "agents").glob(f"*/{name}"):
        with suppress(OSError, ValueError):  # being deleted, or damaged
            if abs(time.time() - path.stat().st_mtime) <= within_s:
                contents[path.parent.name] = read_json(path, of_list="slots")
    return contents
