"""The slots of this host, on which runs are executed: one per GPU, or a single one if there is no GPU."""

import importlib.util
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from core.errors import InputError
from core.models.devices import nvml
from core.models.model_sources import QUANTIZED

CPU = "cpu"
JOINT = "-"
NO_DEVICE = ("", "-1", "none", "NoDevFiles")
GIB = 2**30
UNKNOWN_GIB = 1e6
"""The memory of a device that does not report it: every run is tried there."""
SLURM_MEMORY = "SLURM_MEM_PER_NODE"
"""The MiB that Slurm gave a job."""
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container's memory limit stands, in either version of control groups."""


@dataclass(frozen=True, slots=True)
class Slot:
    """``name`` is ``cpu`` or ``gpu0`` … ``gpun``; ``devices`` is what its worker's ``CUDA_VISIBLE_DEVICES`` says.

    ``memory_gib`` is what the device has in all, ``label`` its name for a person, ``host`` the host that published it,
    empty for this one. A slot of several devices (:func:`joined`) is called ``gpu0-gpu1-gpu2``.
    """

    name: str
    devices: str
    memory_gib: float = field(default=UNKNOWN_GIB, compare=False)
    label: str = field(default="", compare=False)
    host: str = field(default="", compare=False)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the slots that it was joined from; its own if it has one device."""
        return tuple(self.name.split(JOINT))


def slots() -> tuple[Slot, ...]:
    """The slots of this host, by ``CUDA_VISIBLE_DEVICES`` where it is set, else by NVML.

    A GPU given by number keeps its number, so that a run finds its slot again after a restart with fewer GPUs;
    one given by a UUID is numbered by its place in the list. Imports no torch, which would occupy every GPU.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = [str(gpu.index) for gpu in nvml.readings()] if listed is None else _listed(listed)
    if not devices:
        return (Slot(CPU, "", host_memory_gib(), "CPU"),)
    return tuple(_gpu(f"gpu{d if d.isdecimal() else place}", d) for place, d in enumerate(devices))


def default_dtype() -> str:
    """The precision of a run for which none was chosen: bfloat16 where all GPUs here compute in it, else float32."""
    here = slots()
    on_gpus = here[0].name != CPU and nvml.computes_bfloat16([slot.devices for slot in here])
    return "bfloat16" if on_gpus else "float32"


def joined(parts: Sequence[Slot], *, memory_gib: float) -> Slot:
    """One slot of several devices, whose worker sees all of them; ``memory_gib`` is that of the run it is made for."""
    return Slot(
        JOINT.join(part.name for part in parts),
        ",".join(part.devices for part in parts),
        memory_gib,
        f"{len(parts)} × {parts[0].label}",
    )


def named_device(name: str) -> str:
    """The slot that a device's name in a spec means: ``cuda:1`` is ``gpu1``. A list of devices means no single slot.

    >>> named_device("cuda:1"), named_device("cuda"), named_device("cpu"), named_device(""), named_device("cpu,cpu")
    ('gpu1', 'gpu0', 'cpu', '', '')
    """
    if "," in name:
        return ""
    if not name.startswith("cuda"):
        return name
    return f"gpu{name.partition(':')[2] or 0}"


def check_named(device: str, devices: Iterable[Slot]) -> None:
    """Raise :class:`InputError` if a person named a device, alone or in a list, that none of these is."""
    names = {part for slot in devices for part in slot.parts}
    for device_name in device.split(","):
        wanted = named_device(device_name)
        if wanted and wanted not in names:
            there = ", ".join(sorted(name.replace("gpu", "cuda:") for name in names))
            raise InputError(f"there is no device {device_name} here; there is {there}")


def check_precision(dtype: str, devices: Iterable[Slot]) -> None:
    """Raise :class:`InputError` if the precision needs a GPU and none of the devices is one, or its package is missing.

    Does not use torch, so the error comes before a model is loaded.
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
    with suppress(ValueError):  # a job of Slurm, whose control group lies deeper
        limits.append(float(os.environ.get(SLURM_MEMORY, "")) * 2**20)
    return min(limits) / GIB


def _gpu(name: str, device: str) -> Slot:
    gpu = nvml.reading(device)
    return Slot(name, device, gpu.total_gib, gpu.name) if gpu else Slot(name, device, label=f"GPU {device}")


def _listed(text: str) -> list[str]:
    """CUDA ignores what follows the first entry that is no device."""
    devices: list[str] = []
    for entry in text.split(","):
        if entry.strip() in NO_DEVICE:
            break
        devices.append(entry.strip())
    return devices
