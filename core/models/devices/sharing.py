"""The devices of this host that score one run's questions together.

Each holds the whole model, so all of them must have the memory for it. They are of one kind, because another kind
rounds in another way, and a run's scores would then depend on which device scored what. A model that is too large for
one device is spread over several instead (:mod:`core.models.devices.fitting`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

import psutil

from core.errors import InputError
from core.models.devices import nvml
from core.models.devices.nvml import GpuMetrics
from core.models.devices.slots import CPU, UNKNOWN_GIB, Slot, check_named, named_device

IDLE_LOAD = 0.05
"""A GPU that computed in a larger share of the last second belongs to somebody else for now."""
GIB = 2**30


@dataclass(frozen=True, slots=True)
class ScorerDevice:
    """A device of one scorer. ``name`` is what a person writes (``cuda:2``), ``here`` its name for torch in this
    process, and ``visible`` the ``CUDA_VISIBLE_DEVICES`` of a process that sees nothing else."""

    name: str
    here: str
    visible: str


def named_devices(device: str, slots: Sequence[Slot]) -> tuple[ScorerDevice, ...]:
    """The devices of a list that a person wrote, such as ``cuda:0,cuda:2`` or ``cpu,cpu``, in its order.

    Raises :class:`InputError` if one is not here, or if GPUs are of different kinds.
    """
    check_named(device, slots)
    places = {slot.name: (place, slot) for place, slot in enumerate(slots)}
    chosen = [places[named_device(name)] for name in device.split(",")]
    labels = sorted({slot.label for _, slot in chosen if slot.memory_gib < UNKNOWN_GIB})  # else it did not say its kind
    if len(labels) > 1:
        raise InputError(
            f"{device} are of different kinds ({', '.join(labels)}), which round differently; name devices of one kind"
        )
    return tuple(
        ScorerDevice("cpu" if i == 0 else f"cpu {i + 1}", CPU, "") if slot.name == CPU else _gpu(place, slot)
        for i, (place, slot) in enumerate(chosen)
    )


def torch_device(device: str, slots: Sequence[Slot]) -> str:
    """The name that torch has in this process for a device as a person wrote it, or for the first of a list: GPUs keep
    their numbers for people, and torch counts those that it sees."""
    name = device.partition(",")[0]
    place = next((i for i, slot in enumerate(slots) if slot.name != CPU and slot.name == named_device(name)), None)
    return name if place is None else f"cuda:{place}"


def free_devices(needs_gib: float, slots: Sequence[Slot], *, busy: Collection[str] = ()) -> tuple[ScorerDevice, ...]:
    """The GPUs that nobody uses and that hold a model which needs ``needs_gib``, all of the first one's kind.

    ``busy`` are the names of slots on which workers of this host execute runs. While a model is loaded, it may take as
    much memory of the host as on the device; there are no more devices than that allows.
    """
    free = [
        (place, slot)
        for place, slot in enumerate(slots)
        if slot.name != CPU and slot.name not in busy and _is_free(needs_gib, slot)
    ]
    alike = [(place, slot) for place, slot in free if slot.label == free[0][1].label]
    room = psutil.virtual_memory().available / GIB // needs_gib if needs_gib else len(alike)
    return tuple(_gpu(place, slot) for place, slot in alike[: max(1, int(room))])


def _is_free(needs_gib: float, slot: Slot) -> bool:
    gpu = first_reading(slot.devices)
    return gpu is not None and gpu.total_gib - gpu.used_gib >= needs_gib and (gpu.load or 0.0) <= IDLE_LOAD


@cache
def first_reading(device: str) -> GpuMetrics | None:
    """A GPU as it was when this process first looked: later readings hold this process's own last run."""
    return nvml.reading(device)


def _gpu(place: int, slot: Slot) -> ScorerDevice:
    return ScorerDevice(slot.name.replace("gpu", "cuda:"), f"cuda:{place}", slot.devices)
