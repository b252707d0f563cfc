"""The initial weights of a pocket model: half of the heads start by attending to earlier copies of the token.

Their queries and keys are one and the same orthonormal projection, so that a token scores highest with itself and with
its like elsewhere before anything is learned (Trockman & Kolter 2023, mimetic initialization). All that a lettered
question about a text needs, finding again what an option says, is built on that; from random weights it took a pocket
model of this size thousands of steps at chance to find it, from these a few hundred.
"""

from __future__ import annotations

import torch
from transformers import LlamaForCausalLM

_MATCH = 0.8
_WRITE = 0.05
_EMBEDDING = 0.1


def begin(model: LlamaForCausalLM) -> None:
    """Give a model its first weights, drawn from torch's generator; norms stay at 1."""
    size, heads = model.config.hidden_size, model.config.num_attention_heads
    width = size // heads
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=_EMBEDDING)
    for layer in model.model.layers:
        attention, units = layer.self_attn, layer.mlp
        for weights in (attention.q_proj.weight, attention.k_proj.weight):
            torch.nn.init.normal_(weights, std=0.7 * size**-0.5)
        for head in range(heads // 2):
            rows = slice(width * head, width * (head + 1))
            same = torch.linalg.qr(torch.randn(size, width))[0].T * _MATCH
            attention.q_proj.weight.data[rows] = same
            attention.k_proj.weight.data[rows] = same
        for weights in (attention.v_proj.weight, units.gate_proj.weight, units.up_proj.weight):
            torch.nn.init.normal_(weights, std=size**-0.5)
        for weights in (attention.o_proj.weight, units.down_proj.weight):
            torch.nn.init.normal_(weights, std=_WRITE * size**-0.5)
