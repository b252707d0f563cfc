"""The memory that a model needs of its device, before a weight is loaded.

Weights in their precision, a fifth more for what computing with them takes beside the batch, which fits itself to
what is left, and half a GiB for the runtime. A model of which nothing is known needs nothing: it is tried.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from math import prod
from pathlib import Path

from core.errors import HedgeError
from core.inference.models import FAKE_ENGINE_VARIABLE, FAKE_MODEL, resolve
from core.inference.registry import BY_ID
from core.inference.safetensors_files import read_header

BYTES = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "int8": 1.1, "int4": 0.65}
"""Bytes per parameter. Those of quantised weights include their scales."""
BESIDE = 1.2
RUNTIME_GIB = 0.5
GIB = 2**30


def memory_gib(models: Sequence[str], *, dtype: str) -> float:
    """The GiB that a device must have to hold the largest of these models; 0 if no model's size is known.

    >>> memory_gib(["mistralai/Mistral-7B-v0.1"], dtype="float16").__round__(1)
    16.7
    """
    if FAKE_MODEL in models and os.environ.get(FAKE_ENGINE_VARIABLE):
        return float(json.loads(os.environ[FAKE_ENGINE_VARIABLE]).get("needs_gib", 0))
    count = max(map(parameters, models))
    return BESIDE * count * BYTES[dtype] / GIB + RUNTIME_GIB if count else 0.0


def parameters(model: str) -> int:
    """A model's parameters: of a folder as its weights' headers say, of a hub id as Hedge lists it, else 0."""
    if model in BY_ID:
        return BY_ID[model].millions * 1_000_000
    try:
        source = resolve(model)
    except HedgeError:
        return 0
    return 0 if source.is_hub else sum(_count(path) for path in Path(source.location).glob("*.safetensors"))


def _count(path: Path) -> int:
    """The elements of all tensors in a safetensors file, by its header."""
    try:
        return sum(prod(tensor.shape) for tensor in read_header(path).values())
    except HedgeError:
        return 0  # damaged weights are said by who loads them
