"""The places of this host where a run can be executed: one a GPU, or one in all where there is none."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from core.runs.agent import liveness
from core.runs.devices import nvml
from core.settings import settings

CPU = "cpu"
NO_DEVICE = ("", "-1", "none", "NoDevFiles")
NVIDIA_SMI_WITHIN_S = 10
GIB = 2**30
UNKNOWN_GIB = 1e6
"""The memory of a device that does not say: every run is tried there."""
LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)
"""Where a container's memory limit stands, in either version of control groups."""


@dataclass(frozen=True, slots=True)
class Slot:
    """``name`` is ``cpu`` or ``gpu0`` … ``gpun``; ``devices`` is what its worker's ``CUDA_VISIBLE_DEVICES`` says.

    ``memory_gib`` is what the device has in all, ``label`` its name for a person.
    """

    name: str
    devices: str
    memory_gib: float = field(default=UNKNOWN_GIB, compare=False)
    label: str = field(default="", compare=False)


def slots() -> tuple[Slot, ...]:
    """The slots of this host, by ``CUDA_VISIBLE_DEVICES`` where it is set, else by NVML, else by ``nvidia-smi``.

    A GPU given by number keeps its number, so that a run finds its slot again after a restart with fewer GPUs;
    one given by a UUID is numbered by its place in the list. Imports no torch, which would occupy every GPU.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = _found() if listed is None else _listed(listed)
    if not devices:
        return (Slot(CPU, "", host_memory_gib(), "CPU"),)
    return tuple(_gpu(f"gpu{d if d.isdigit() else place}", d) for place, d in enumerate(devices))


def host_memory_gib() -> float:
    """The memory that processes of this host may use: the machine's, or the container's limit where that is less."""
    limits = [float(psutil.virtual_memory().total)]
    for path in map(Path, LIMITS):
        try:
            limits.append(float(path.read_text()))
        except (OSError, ValueError):  # no control group here, or "max"
            continue
    return min(limits) / GIB


def publish(found: tuple[Slot, ...]) -> None:
    """Let pages and other hosts know of this host's slots."""
    path = _file(liveness.host())
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps([asdict(slot) for slot in found]), encoding="utf-8")
    part.replace(path)


def published() -> dict[str, tuple[Slot, ...]]:
    """The slots of every host that has ever had an agent, as it last said them."""
    found = {}
    for path in (settings().home / "agents").glob("*/slots.json"):
        try:
            found[path.parent.name] = tuple(Slot(**values) for values in json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # being taken away, or of another version
            continue
    return found


def _file(host: str) -> Path:
    return liveness.agent_lock(host).with_name("slots.json")


def _gpu(name: str, device: str) -> Slot:
    seen = nvml.reading(device)
    return Slot(name, device, seen.total_gib, seen.name) if seen else Slot(name, device, label=f"GPU {device}")


def _found() -> list[str]:
    return [str(seen.index) for seen in nvml.readings()] or _nvidia_smi()


def _listed(text: str) -> list[str]:
    """CUDA ignores what follows the first entry that is no device."""
    devices: list[str] = []
    for entry in text.split(","):
        if entry.strip() in NO_DEVICE:
            break
        devices.append(entry.strip())
    return devices


def _nvidia_smi() -> list[str]:
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=NVIDIA_SMI_WITHIN_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in said.stdout.splitlines() if line.strip().isdigit()] if said.returncode == 0 else []
