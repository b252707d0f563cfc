"""The memory that a run needs of its device, before a weight is loaded.

Weights in the run's type, a fifth more for what computing with them takes beside the batch, which fits itself to
what is left, and half a GiB for the runtime. A model of which nothing is known needs nothing: it is tried.
"""

from __future__ import annotations

import json
import os
import struct
from math import prod
from pathlib import Path

from core.errors import HedgeError
from core.inference.models import FAKE_ENGINE_VARIABLE, FAKE_MODEL, resolve
from core.inference.registry import BY_ID
from core.runs.juries import jury_pipeline
from core.runs.spec import RunSpec

BYTES = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "int8": 1.1, "int4": 0.65}
"""Bytes per parameter. Those of quantised weights include their scales."""
BESIDE = 1.2
RUNTIME_GIB = 0.5
GIB = 2**30
LARGEST_HEADER = 100_000_000


def memory_gib(spec: RunSpec) -> float:
    """The GiB that the run's device must have; 0 if the model's size is unknown until it is loaded.

    >>> memory_gib(RunSpec(model="mistralai/Mistral-7B-v0.1", task="qa", dtype="float16")).__round__(1)
    16.7
    """
    if spec.model == FAKE_MODEL and os.environ.get(FAKE_ENGINE_VARIABLE):
        return float(json.loads(os.environ[FAKE_ENGINE_VARIABLE]).get("needs_gib", 0))
    # A jury's base model answers, and one juror after another is tuned and judges; the largest needs the most.
    count = max(map(parameters, jury_pipeline.of_run(spec).models if spec.makes_jury else (spec.model,)))
    return BESIDE * count * BYTES[spec.dtype] / GIB + RUNTIME_GIB if count else 0.0


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
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(length, LARGEST_HEADER)))
        return sum(prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return 0  # damaged weights are said by who loads them
