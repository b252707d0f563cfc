"""The slots of this host, on which runs are executed: one per GPU, or a single one if there is no GPU."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from core import nvml
from core.errors import InputError
from core.inference.models import QUANTIZED
from core.runs.agent import liveness

CPU = "cpu"
FILE = "slots.json"
NO_DEVICE = ("", "-1", "none", "NoDevFiles")
GIB = 2**30
UNKNOWN_GIB = 1e6
"""The memory of a device that does not report it: every run is tried there."""
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
    """The slots of this host, by ``CUDA_VISIBLE_DEVICES`` where it is set, else by NVML.

    A GPU given by number keeps its number, so that a run finds its slot again after a restart with fewer GPUs;
    one given by a UUID is numbered by its place in the list. Imports no torch, which would occupy every GPU.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = [str(seen.index) for seen in nvml.readings()] if listed is None else _listed(listed)
    if not devices:
        return (Slot(CPU, "", host_memory_gib(), "CPU"),)
    return tuple(_gpu(f"gpu{d if d.isdigit() else place}", d) for place, d in enumerate(devices))


def check_precision(dtype: str, devices: Iterable[Slot]) -> None:
    """Raise :class:`InputError` if the precision needs a GPU and none of the devices is one, or its package is missing.

    Looks at no torch, so it is said before a model is loaded.
    """
    if dtype not in QUANTIZED:
        return
    if all(slot.name == CPU for slot in devices):
        missing = "an NVIDIA GPU, and there is none here"
    elif importlib.util.find_spec("bitsandbytes") is None:
        missing = "the package bitsandbytes, which is not installed here"
    else:
        return
    raise InputError(f"{dtype} needs {missing}; choose 32-bit (float32) or 16-bit (float16, bfloat16) precision")


def host_memory_gib() -> float:
    """The memory that processes of this host may use: the machine's, or the container's limit if that is less."""
    limits = [float(psutil.virtual_memory().total)]
    for path in map(Path, LIMITS):
        try:
            limits.append(float(path.read_text()))
        except (OSError, ValueError):  # no control group here, or "max"
            continue
    return min(limits) / GIB


def publish(found: tuple[Slot, ...]) -> None:
    """Publish this host's slots for pages and other hosts."""
    liveness.publish(FILE, [asdict(slot) for slot in found])


def published() -> dict[str, tuple[Slot, ...]]:
    """The slots of every host that ever had an agent, as last published."""
    found = {}
    for host, said in liveness.published(FILE).items():
        with suppress(TypeError):  # of another version
            found[host] = tuple(Slot(**values) for values in said)
    return found


def _gpu(name: str, device: str) -> Slot:
    seen = nvml.reading(device)
    return Slot(name, device, seen.total_gib, seen.name) if seen else Slot(name, device, label=f"GPU {device}")


def _listed(text: str) -> list[str]:
    """CUDA ignores what follows the first entry that is no device."""
    devices: list[str] = []
    for entry in text.split(","):
        if entry.strip() in NO_DEVICE:
            break
        devices.append(entry.strip())
    return devices
