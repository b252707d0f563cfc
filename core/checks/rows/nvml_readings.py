"""What the driver says of the GPUs, against what torch knows of the first one."""

import os

from core.checks.outcome import CheckOutcome, Figure, NotHereError, Place
from core.models.devices import nvml
from core.models.devices.nvml import GpuMetrics

GIB = 2**30
TAKEN_GIB = 1.0
SEEN = 0.8
"""The part of what torch takes by which the driver's reading must grow."""


def readings(place: Place) -> CheckOutcome:
    """The readings before and after torch takes a GiB of the first GPU."""
    import torch

    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0]
    seen = nvml.readings()
    before = nvml.reading(first)
    if before is None:
        raise NotHereError("The driver lists no GPU.")
    if not torch.cuda.is_available():
        return CheckOutcome(False, f"The driver lists {before.name}, and torch can't use it.")
    torch.zeros(1, device="cuda")
    started = nvml.reading(first)
    held = torch.empty(int(TAKEN_GIB * GIB), dtype=torch.uint8, device="cuda").fill_(1)
    torch.cuda.synchronize()
    after = nvml.reading(first)
    del held
    assert started
    assert after
    return judged(seen, started, after, torch.cuda.get_device_name())


def judged(seen: list[GpuMetrics], before: GpuMetrics, after: GpuMetrics, name: str) -> CheckOutcome:
    """Whether the readings make sense: ``before`` and ``after`` torch took :data:`TAKEN_GIB` of the GPU that it calls
    ``name``."""
    figures: dict[str, Figure] = {
        "GPUs": len(seen),
        "memory, GiB": before.total_gib,
        "used before, GiB": before.used_gib,
        "used after, GiB": after.used_gib,
    }
    figures |= {} if after.celsius is None else {"temperature, °C": after.celsius}
    grown = after.used_gib - before.used_gib
    if before.name != name:
        return CheckOutcome(False, f"The driver calls the first GPU {before.name}, and torch {name}.", figures)
    if not 0 <= before.used_gib <= before.total_gib:
        sentence = f"The driver says that {before.used_gib:.1f} of {before.total_gib:.1f} GiB are used."
        return CheckOutcome(False, sentence, figures)
    if grown < SEEN * TAKEN_GIB:
        sentence = f"torch took {TAKEN_GIB:g} GiB, and the driver's reading grew by {grown:.2f}."
        return CheckOutcome(False, sentence, figures)
    names = ", ".join(gpu.name for gpu in seen)
    return CheckOutcome(True, f"{names}; the reading grew by {grown:.2f} GiB when {TAKEN_GIB:g} was taken.", figures)
