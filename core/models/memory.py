"""The available memory, and the memory that a row of a batch takes."""

import math
from dataclasses import dataclass
from typing import Any

import psutil
import torch

COPIES = 3
"""The number of copies: the cache of a prefix is held once more for each row, and a third time while new keys are
appended."""

SHARE = {"cpu": 0.25, "mps": 0.5, "cuda": 0.6}
"""The share of free memory that a batch may take. The rest is for other processes and for what the estimate leaves
out."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """The bytes that one token takes: ``cache`` in the key-value caches of all layers, ``activations`` in the widest
    layer, and ``scores`` for every other token that it attends to if attention is computed without a fused kernel."""

    cache: int
    activations: int
    scores: int

    def row(self, width: int, prefix: int) -> int:
        """The bytes of a row of ``width`` tokens that follow ``prefix`` shared ones."""
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
    """The memory that a process may still take: that of the GPU, Apple's recommended working set, or that of the
    host."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    return int(psutil.virtual_memory().available)


def parameter_count(parameter: torch.Tensor) -> int:
    """The number of values that a tensor holds: 4-bit weights of bitsandbytes store two in a byte and keep their shape
    separately.
    """
    state = getattr(parameter, "quant_state", None)
    shape = getattr(state, "shape", None)
    return math.prod(shape) if shape is not None else parameter.numel()
