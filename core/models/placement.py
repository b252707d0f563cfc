"""The devices for a model's weights: one device, or several if one is too small.

A model that fits one device is never spread: its layers would compute on one device at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from core.errors import InputError
from core.models.memory_estimate import devices_for, memory_gib

GIB = 2**30
FILLED = 0.9
"""The share of a device's free memory that weights may take if a model is spread."""


@dataclass(frozen=True, slots=True)
class Placement:
    """``device`` is the device of a model. If the model is spread, it is the first of its devices, ``spread`` is the
    ``device_map`` for ``from_pretrained`` (``auto``, or a device for each part's name), and ``most`` are the bytes that
    each device may hold."""

    device: str
    spread: str | Mapping[str, Any] | None = None
    most: dict[int, int] = field(default_factory=dict)

    def arguments(self, *, quantised: bool) -> dict[str, Any]:
        """The arguments for ``from_pretrained``. Weights that are quantised on the device have to be loaded there at
        once; others are moved there after they are checked."""
        if self.spread is None:
            return {"device_map": {"": self.device}} if quantised else {}
        return {"device_map": self.spread} | ({"max_memory": self.most} if self.most else {})


def best_device() -> str:
    """The first of cuda, mps and cpu that is available."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def place(model: str, *, dtype: str, device: str = "") -> Placement:
    """The placement of a model (:func:`core.models.model_sources.resolve`) in ``dtype``, on ``device`` if one is named.

    Raises :class:`InputError` if there is no such device.
    """
    if device:
        return Placement(_checked(device))
    best = best_device()
    count = torch.cuda.device_count() if best == "cuda" else 1
    if count < 2:
        return Placement(best)
    sizes = {i: torch.cuda.get_device_properties(i).total_memory / GIB for i in range(count)}
    needed = devices_for(memory_gib([model], dtype=dtype, ask=True), sizes.values())
    if needed == 1:
        return Placement(best)
    largest = sorted(sizes, key=lambda i: (-sizes[i], i))[: needed or count]
    most = {i: int(torch.cuda.mem_get_info(i)[0] * FILLED) for i in sorted(largest)}
    return Placement(f"cuda:{min(most)}", "auto", most)


def devices_of(model: Any) -> list[torch.device]:
    """The devices on which a loaded model computes, in order; for a spread model, those that hold a part of it."""
    spread = getattr(model, "hf_device_map", None)
    first = model.get_input_embeddings().weight.device
    if not spread:
        return [first]
    others = (_device(name) for name in spread.values() if name != "disk")
    return list(dict.fromkeys([*([] if first.type == "meta" else [first]), *others]))


def check_all_placed(model: Any, *, where: str) -> None:
    """Raise :class:`InputError` if a part of a spread model does not fit on the GPUs."""
    spread = getattr(model, "hf_device_map", None) or {}
    outside = [name for name, device in spread.items() if device in ("cpu", "disk")]
    if outside and torch.cuda.is_available():
        raise InputError(
            f"{where} does not fit on the free memory of the GPUs here: {len(outside)} of its {len(spread)} parts "
            "found no room; choose fewer bits (int8, int4), more devices, or a server that holds it (--server)"
        )


def _device(name: Any) -> torch.device:
    return torch.device("cuda", name) if isinstance(name, int) else torch.device(name)


def _checked(device: str) -> str:
    kind, _, number = device.partition(":")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}.get(kind, 0)
    if int(number or 0) < there:
        return device
    names = [
        "cpu",
        *(f"cuda:{i}" for i in range(torch.cuda.device_count())),
        *["mps"][: 1 if kind == "mps" and there else 0],
    ]
    raise InputError(f"there is no device {device} here; there is {', '.join(names)}")
