"""GPU metrics from NVIDIA's management library (NVML): memory, load, temperature. Loads no torch.

Without a driver every function returns nothing. No function raises: metrics are for display, and a failing library must
not stop a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

GIB = 2**30
AMPERE = (8, 0)
"""The compute capability of the first GPUs that multiply in bfloat16."""


@dataclass(frozen=True, slots=True)
class GpuMetrics:
    """A GPU at one moment: ``load`` is the share in [0, 1] of the last second in which it computed, ``celsius`` its
    temperature; None if the card does not say. ``index`` and ``uuid`` are what ``CUDA_VISIBLE_DEVICES`` takes."""

    index: int
    uuid: str
    name: str
    total_gib: float
    used_gib: float
    load: float | None
    celsius: int | None


def readings() -> list[GpuMetrics]:
    """All GPUs of this host, in the order of their numbers."""
    with _library() as nvml:
        if nvml is None:
            return []
        try:
            return [_read(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
        except nvml.NVMLError:
            return []


def reading(device: str) -> GpuMetrics | None:
    """The GPU that an entry of ``CUDA_VISIBLE_DEVICES`` names: a number, or (the beginning of) a UUID."""
    for found in readings():
        if device == str(found.index) or (not device.isdecimal() and device and found.uuid.startswith(device)):
            return found
    return None


def joint_reading(devices: str) -> GpuMetrics | None:
    """What the GPUs of a slot say, whose ``devices`` are as in ``CUDA_VISIBLE_DEVICES``.

    Of several, the first stands for all, with their memory in all, their mean load, and the temperature of the hottest.
    """
    found = [seen for device in devices.split(",") if (seen := reading(device))]
    if len(found) < 2:
        return found[0] if found else None
    loads = [seen.load for seen in found if seen.load is not None]
    return replace(
        found[0],
        total_gib=sum(seen.total_gib for seen in found),
        used_gib=sum(seen.used_gib for seen in found),
        load=sum(loads) / len(loads) if loads else None,
        celsius=max((seen.celsius for seen in found if seen.celsius is not None), default=None),
    )


def computes_bfloat16(devices: Sequence[str]) -> bool:
    """Whether all of these entries of ``CUDA_VISIBLE_DEVICES`` are GPUs that compute in bfloat16: Ampere and later."""
    named = {found.index for device in devices if (found := reading(device))}
    with _library() as nvml:
        if nvml is None or not devices or len(named) < len(devices):
            return False
        try:
            handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in named]
            return all(tuple(nvml.nvmlDeviceGetCudaComputeCapability(handle)) >= AMPERE for handle in handles)
        except nvml.NVMLError:
            return False


def driver() -> str:
    """The driver's version, empty if there is none."""
    with _library() as nvml:
        if nvml is None:
            return ""
        try:
            return _text(nvml.nvmlSystemGetDriverVersion())
        except nvml.NVMLError:
            return ""


def _read(nvml: ModuleType, index: int) -> GpuMetrics:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    load = _or_none(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    return GpuMetrics(
        index=index,
        uuid=_text(nvml.nvmlDeviceGetUUID(handle)),
        name=_text(nvml.nvmlDeviceGetName(handle)),
        total_gib=memory.total / GIB,
        used_gib=memory.used / GIB,
        load=None if load is None else load / 100,
        celsius=_or_none(nvml, lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
    )


@contextmanager
def _library() -> Iterator[ModuleType | None]:
    """NVML, opened and closed again, which takes a millisecond and follows a driver that is reloaded."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield None
        return
    try:
        yield pynvml
    finally:
        pynvml.nvmlShutdown()


def _or_none(nvml: ModuleType, ask: Any) -> Any:
    try:
        return ask()
    except nvml.NVMLError:  # "not supported", as cards in MIG mode and laptops say
        return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
