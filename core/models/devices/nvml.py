"""GPU metrics from NVIDIA's management library (NVML): memory, load, temperature. Loads no torch.

Without a driver every function returns nothing. No function raises: metrics are for display, and a failing library must
not stop a run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, TypeVar

Answer = TypeVar("Answer")

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
    return _answer(lambda nvml: [_read(nvml, index) for index in range(nvml.nvmlDeviceGetCount())], [])


def reading(device: str) -> GpuMetrics | None:
    """The GPU that an entry of ``CUDA_VISIBLE_DEVICES`` names: a number, or (the beginning of) a UUID."""
    named = (
        gpu
        for gpu in readings()
        if device == str(gpu.index) or (not device.isdecimal() and device and gpu.uuid.startswith(device))
    )
    return next(named, None)


def joint_reading(devices: str) -> GpuMetrics | None:
    """What the GPUs of a slot say, whose ``devices`` are as in ``CUDA_VISIBLE_DEVICES``.

    Of several, the first stands for all, with their memory in all, their mean load, and the temperature of the hottest.
    """
    gpus = [gpu for device in devices.split(",") if (gpu := reading(device))]
    if len(gpus) < 2:
        return gpus[0] if gpus else None
    loads = [gpu.load for gpu in gpus if gpu.load is not None]
    return replace(
        gpus[0],
        total_gib=sum(gpu.total_gib for gpu in gpus),
        used_gib=sum(gpu.used_gib for gpu in gpus),
        load=sum(loads) / len(loads) if loads else None,
        celsius=max((gpu.celsius for gpu in gpus if gpu.celsius is not None), default=None),
    )


def computes_bfloat16(devices: Sequence[str]) -> bool:
    """Whether all of these entries of ``CUDA_VISIBLE_DEVICES`` are GPUs that compute in bfloat16: Ampere and later."""
    named = {gpu.index for device in devices if (gpu := reading(device))}

    def compute(nvml: ModuleType) -> bool:
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in named]
        return all(tuple(nvml.nvmlDeviceGetCudaComputeCapability(handle)) >= AMPERE for handle in handles)

    return bool(devices) and len(named) == len(devices) and _answer(compute, False)


def driver() -> str:
    """The driver's version, empty if there is none."""
    return _answer(lambda nvml: _text(nvml.nvmlSystemGetDriverVersion()), "")


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


def _answer(ask: Callable[[ModuleType], Answer], otherwise: Answer) -> Answer:
    """What NVML answers, or ``otherwise``. It is opened and closed again, which takes a millisecond and follows a
    driver that is reloaded."""
    import pynvml

    try:
        pynvml.nvmlInit()
        try:
            return ask(pynvml)
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return otherwise


def _or_none(nvml: ModuleType, ask: Any) -> Any:
    try:
        return ask()
    except nvml.NVMLError:  # "not supported", as cards in MIG mode and laptops say
        return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
