"""An estimate of the device memory that a model needs, before a weight is loaded. It counts the weights in their
precision, a fifth more for computing with them, and half a GiB for the runtime; the size of a batch adapts to the
memory that is left. If nothing is known about a model, the estimate is 0 and the model is tried.

A model that is too large for one device is spread over several, whole layers each. A device may then leave as much
unused as a layer takes. A 32nd of the weights is counted for that, because a model that needs several devices has more
than 32 layers.
"""

import json
import os
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path

from core.errors import HedgeError
from core.models import hub_sizes
from core.models.folders import ADAPTER, adapter_values
from core.models.model_sources import FAKE_ENGINE_VARIABLE, FAKE_MODEL, HUB_ID, ModelSource, is_local, resolve
from core.models.registry import BY_ID
from core.models.safetensors_files import read_header

BYTES = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "int8": 1.1, "int4": 0.65}
"""Bytes per parameter. Those of quantised weights include their scales."""
BESIDE = 1.2
RUNTIME_GIB = 0.5
LAYER = 1 / 32
GIB = 2**30


def memory_gib(models: Sequence[str], *, dtype: str, ask: bool = False, source: ModelSource | None = None) -> float:
    """The GiB that a device must have to hold the largest of these models; 0 if no model's size is known, or if all
    models are on servers. If ``ask`` is true, the hub is asked for a size that is not known here. ``source`` is the
    resolved model, if the caller has it and there is one model.

    >>> memory_gib(["mistralai/Mistral-7B-v0.1"], dtype="float16").__round__(1)
    16.7
    """
    if FAKE_MODEL in models and os.environ.get(FAKE_ENGINE_VARIABLE):
        return float(json.loads(os.environ[FAKE_ENGINE_VARIABLE]).get("needs_gib", 0))
    count = max((parameters(model, ask=ask, source=source) for model in models), default=0)
    return BESIDE * count * BYTES[dtype] / GIB + RUNTIME_GIB if count else 0.0


def devices_for(needs_gib: float, sizes: Iterable[float]) -> int:
    """The number of devices, of these sizes in GiB with the largest first, that together hold a run that needs
    ``needs_gib`` on one device; 0 if all of them together are too small.

    >>> sizes = [79.6] * 8
    >>> [devices_for(needs_gib, sizes) for needs_gib in (315.9, 158.2, 87.2, 51.8)]  # 70 B, from float32 to int4
    [5, 3, 2, 1]
    """
    weights, room = max(needs_gib - RUNTIME_GIB, 0.0), 0.0
    for number, size in enumerate(sorted(sizes, reverse=True), start=1):
        if number == 1 and needs_gib <= size:
            return 1
        room += max(size - RUNTIME_GIB - weights * LAYER, 0.0)
        if number > 1 and room >= weights:
            return number
    return 0


def largest_model(sizes: Iterable[float], *, dtype: str) -> float:
    """The number of parameters of the largest model that devices of these sizes in GiB hold together, the inverse of
    :func:`memory_gib` and :func:`devices_for`.

    >>> size = memory_gib(["mistralai/Mistral-7B-v0.1"], dtype="float16")
    >>> largest_model([size], dtype="float16") == parameters("mistralai/Mistral-7B-v0.1")
    True
    """
    weights, room = 0.0, 0.0
    for number, size in enumerate(sorted(sizes, reverse=True), start=1):
        room += max(size - RUNTIME_GIB, 0.0)
        weights = max(weights, room / (1 + number * LAYER if number > 1 else 1))
    return weights * GIB / BESIDE / BYTES[dtype]


def parameters(model: str, *, ask: bool = False, source: ModelSource | None = None) -> int:
    """The number of a model's parameters. For a folder it comes from the headers of the weights' files, and for a hub
    id from Hedge's list or, if ``ask`` is true, from the hub (:mod:`core.models.hub_sizes`). An adapter includes its
    base model. 0 if unknown."""
    if model in BY_ID:
        return BY_ID[model].millions * 1_000_000
    if HUB_ID.match(model) and not is_local(model):
        return hub_sizes.parameters(model, ask=ask)
    try:
        source = source or resolve(model)
        base = adapter_values(Path(source.location) / ADAPTER) if source.is_adapter else {}
    except HedgeError:
        return 0
    under = base.get("base_model_name_or_path")
    own = sum(_count(path) for path in Path(source.location).glob("*.safetensors"))
    return own + (parameters(str(under), ask=ask) if under and str(under) != model else 0)


def _count(path: Path) -> int:
    try:
        return sum(prod(tensor.shape) for tensor in read_header(path).values())
    except HedgeError:
        return 0  # loading reports damaged weights
