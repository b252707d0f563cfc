"""GPU metrics of each host while runs are executed, for display: ``HEDGE_HOME/agents/<host>/readings.json``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

from core import nvml
from core.nvml import GpuMetrics
from core.runs.agent import liveness
from core.runs.devices.slots import Slot

FILE = "readings.json"
FRESH_S = 10.0


def publish(slots: Sequence[Slot]) -> None:
    """Write the current metrics of the GPUs of these slots."""
    if seen := {slot.name: asdict(found) for slot in slots if (found := nvml.reading(slot.devices))}:
        liveness.publish(FILE, seen)


def latest() -> dict[str, GpuMetrics]:
    """By executor (``host:gpu0``), what each GPU said in the last ten seconds; nothing of hosts that say nothing."""
    found: dict[str, GpuMetrics] = {}
    for host, said in liveness.published(FILE, within_s=FRESH_S).items():
        with suppress(TypeError, AttributeError):  # of another version
            found |= {f"{host}:{slot}": GpuMetrics(**values) for slot, values in said.items()}
    return found
