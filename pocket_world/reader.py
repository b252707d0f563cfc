"""A faster forward pass for training pocket models on one processor core or a GPU, in bfloat16 or float32.

The same function as ``model.model`` of transformers, with its parameters, in about half of the time: queries, keys and
values come out of one product, gate and up out of another, nothing is cast twice, and a layer is one function, so that
compiling it once for a shape serves all layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch.nn import functional
from transformers import LlamaForCausalLM

Layer = Callable[..., torch.Tensor]


def read(
    model: LlamaForCausalLM,
    tokens: torch.Tensor,
    *,
    layer: Layer | None = None,
    precision: torch.dtype = torch.bfloat16,
    sees: torch.Tensor | None = None,
    middle: Sequence[int] = (),
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The hidden states (rows, length, hidden) of ``tokens`` (rows, length) after the last layer, and those after each
    of the layers ``middle`` (1 for the first, rising), all through the last norm, float32. No row sees its future. The
    second of ``middle`` is read backwards, its last dimension first: a place can then hold a token of its own beside
    the one that it expects, and heads can compare the two (:func:`pocket_world.begin.comparing_heads`).

    ``sees`` (rows, 1, length, length) says which tokens each token sees, by default itself and all before it;
    ``layer`` is :func:`read_layer` or :func:`compiled_layer`'s.
    """
    layer = read_layer if layer is None else layer
    config = model.config
    length = tokens.shape[1]
    angles = _angles(
        length,
        config.hidden_size // config.num_attention_heads,
        config.rope_parameters["rope_theta"],
        precision,
        tokens.device,
    )
    hidden = model.model.embed_tokens(tokens)
    halfway = {}
    for number, one in enumerate(model.model.layers, 1):
        attention, units = one.self_attn, one.mlp
        hidden = layer(
            hidden,
            one.input_layernorm.weight,
            (attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight),
            attention.o_proj.weight,
            one.post_attention_layernorm.weight,
            (units.gate_proj.weight, units.up_proj.weight),
            units.down_proj.weight,
            *angles,
            precision,
            config.num_attention_heads,
            config.rms_norm_eps,
            sees,
        )
        if number in middle:
            halfway[number] = _normed(model, hidden)
    states = [halfway[number] for number in middle]
    return _normed(model, hidden), [one.flip(-1) if place == 1 else one for place, one in enumerate(states)]


def _normed(model: LlamaForCausalLM, hidden: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(hidden, hidden.shape[-1:], model.model.norm.weight, model.config.rms_norm_eps)


def read_layer(
    hidden: torch.Tensor,
    first_norm: torch.Tensor,
    queries_keys_values: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    out: torch.Tensor,
    second_norm: torch.Tensor,
    gate_up: tuple[torch.Tensor, torch.Tensor],
    down: torch.Tensor,
    cosines: torch.Tensor,
    sines: torch.Tensor,
    precision: torch.dtype,
    heads: int,
    epsilon: float,
    sees: torch.Tensor | None = None,
) -> torch.Tensor:
    """One layer of a Llama on ``hidden`` (rows, length, hidden); ``precision`` is that of the products."""
    rows, length, size = hidden.shape
    width = size // heads
    queries, keys, values = queries_keys_values
    weights = torch.cat([queries * width**-0.5, keys, values]).to(precision)
    normed = functional.rms_norm(hidden, (size,), first_norm, epsilon).to(precision)
    parts = functional.linear(normed, weights).view(rows, length, 3, heads, width).permute(2, 0, 3, 1, 4)
    turned = torch.cat([parts[:2, ..., width // 2 :], parts[:2, ..., : width // 2]], -1)
    query, key = (parts[:2] * cosines + turned * sines).unbind()
    # torch's attention in bfloat16 takes up to twice the time of that in float32 on a processor without tiles.
    within = torch.float32 if hidden.device.type == "cpu" else precision
    query, key, value = query.to(within), key.to(within), parts[2].to(within)
    seen = functional.scaled_dot_product_attention(query, key, value, sees, is_causal=sees is None, scale=1.0)
    seen = seen.transpose(1, 2).reshape(rows, length, size).to(precision)
    hidden = hidden + functional.linear(seen, out.to(precision))
    normed = functional.rms_norm(hidden, (size,), second_norm, epsilon).to(precision)
    gate, up = functional.linear(normed, torch.cat(gate_up).to(precision)).chunk(2, -1)
    return hidden + functional.linear(functional.silu(gate) * up, down.to(precision))


def compiled_layer() -> Layer:
    """:func:`read_layer`, compiled once for every length of the rows, however many there are; needs a C++ compiler.

    One program for all lengths is wrong in torch 2.13: its backward pass keeps the strides of the first length.
    """
    torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
    torch._dynamo.config.automatic_dynamic_shapes = False
    compiled = torch.compile(read_layer)

    def layer(hidden: torch.Tensor, *rest: object) -> torch.Tensor:
        torch._dynamo.mark_dynamic(hidden, 0)
        made: torch.Tensor = compiled(hidden, *rest)
        return made

    return layer


@cache
def _angles(
    length: int, width: int, theta: float, precision: torch.dtype, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of the rotary positions (Su et al. 2021), the sines of a vector's first half negated."""
    speeds = theta ** -(torch.arange(0, width, 2).float() / width)
    turns = torch.outer(torch.arange(length).float(), speeds)
    both = torch.cat([turns.cos()] * 2, -1), torch.cat([-turns.sin(), turns.sin()], -1)
    cosines, sines = (one.to(device, precision) for one in both)
    return cosines, sines
