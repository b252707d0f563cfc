"""The GPUs of each host while runs run, for people to see: ``HEDGE_HOME/agents/<host>/readings.json``."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict

from core.runs.agent import liveness
from core.runs.devices import nvml
from core.runs.devices.nvml import GpuMetrics
from core.runs.devices.slots import Slot
from core.settings import settings

FRESH_S = 10.0


def publish(slots: Sequence[Slot]) -> None:
    """Write down what the GPUs of these slots say now."""
    seen = {slot.name: asdict(found) for slot in slots if slot.devices and (found := nvml.reading(slot.devices))}
    if not seen:
        return
    path = liveness.agent_lock().with_name("readings.json")
    part = path.with_suffix(".part")
    part.write_text(json.dumps(seen), encoding="utf-8")
    part.replace(path)


def latest() -> dict[str, GpuMetrics]:
    """By executor (``host:gpu0``), what each GPU said in the last ten seconds; nothing of hosts that say nothing."""
    found = {}
    for path in (settings().home / "agents").glob("*/readings.json"):
        try:
            if abs(time.time() - path.stat().st_mtime) > FRESH_S:
                continue
            for slot, values in json.loads(path.read_text(encoding="utf-8")).items():
                found[f"{path.parent.name}:{slot}"] = GpuMetrics(**values)
        except (OSError, ValueError, TypeError):  # being taken away, or of another version
            continue
    return found
