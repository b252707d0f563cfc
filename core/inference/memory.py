"""How much memory there is, and how much a row of a batch takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psutil
import torch

COPIES = 3
"""The cache of a prefix is held once more for each row, and a third time while new keys are appended to it."""

SHARE = {"cpu": 0.25, "mps": 0.5, "cuda": 0.6}
"""The part of free memory that a batch may take; the rest is for other processes and for what is not counted."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """What one token takes in bytes: ``cache`` in the key-value caches of all layers, ``activations`` in the widest
    layer, and ``scores`` for every other token it attends to where attention is computed plainly."""

    cache: int
    activations: int
    scores: int

    def row(self, width: int, prefix: int) -> int:
        """Bytes of a row of ``width`` tokens behind ``prefix`` shared ones."""
        return COPIES * self.cache * (prefix + width) + width * (self.activations + self.scores * (prefix + width))


def geometry(model: Any) -> Geometry:
    """The geometry of a transformers model, from its configuration."""
    config = model.config.get_text_config()
    size = int(config.hidden_size)
    heads = int(getattr(config, "num_attention_heads", 0) or 1)
    shared = getattr(config, "num_key_value_heads", None)
    kv_heads = shared if isinstance(shared, int) and shared else heads
    head = getattr(config, "head_dim", None)
    head_size = head if isinstance(head, int) and head else size // heads
    inner = getattr(config, "intermediate_size", None)
    bytes_each = model.dtype.itemsize
    return Geometry(
        cache=2 * int(config.num_hidden_layers) * kv_heads * head_size * bytes_each,
        activations=bytes_each * (8 * size + 3 * (inner if isinstance(inner, int) and inner else 4 * size)),
        scores=2 * heads * bytes_each if getattr(config, "_attn_implementation", "") == "eager" else bytes_each,
    )


def free_bytes(device: torch.device) -> int:
    """Memory that a process may still take: the GPU's, Apple's recommended working set, or what the host has."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    return int(psutil.virtual_memory().available)
