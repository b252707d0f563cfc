"""The initial weights of a pocket model: heads that attend where answering by letter needs it, before any training.

Half of the heads of each layer attend to earlier copies of the token: their queries and keys are one and the same
orthonormal projection, so that a token scores highest with itself and with its like elsewhere (Trockman & Kolter 2023,
mimetic initialization). All that a lettered question about a text needs, finding again what an option says, is built
on that.

Finding what belongs to it takes two heads more (Olsson et al. 2022, induction heads). One head of the first layer
attends to the previous token and writes it into directions of its own. One head of each further layer looks for the
token in those directions, so that it attends to what followed the same token before; the first few of them also copy
what they find.

From random weights a model of this size stays at chance for thousands of steps, from these for a few hundred.
"""

from __future__ import annotations

import torch
from transformers import LlamaForCausalLM

_MATCH = 1.2
_WRITE = 0.05
_EMBEDDING = 0.1

_TURNING = 6
"""Pairs of rotary dimensions, those that turn fastest, which heads that look for a token leave out: what is read there
depends on how far away it stands."""

_CONSTANT = 0.3
"""The last dimension of each embedding: it is the same for all tokens, so that a head can attend by place alone."""

_PLACES = 4
"""Pairs of rotary dimensions by which the head for the previous token tells places apart: those that turn fastest."""

_SHARPNESS = 8.0
"""What each of these pairs adds to the logit of the previous token; to those of others it adds less."""

_PREVIOUS = 0.3
_FOLLOWED = 2.0
_COPY = 0.3
_COPYING = 3
"""How strongly the previous token is written, looked for and copied, and how many layers copy."""


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
            same = _steady(_projection(size, width)) * _MATCH
            attention.q_proj.weight.data[rows] = same
            attention.k_proj.weight.data[rows] = same
        for weights in (attention.v_proj.weight, units.gate_proj.weight, units.up_proj.weight):
            torch.nn.init.normal_(weights, std=size**-0.5)
        for weights in (attention.o_proj.weight, units.down_proj.weight):
            torch.nn.init.normal_(weights, std=_WRITE * size**-0.5)
    _induction_heads(model, slice(width * (heads // 2), width * (heads // 2 + 1)))


def _induction_heads(model: LlamaForCausalLM, rows: slice) -> None:
    """Make the head of these rows one for the previous token in the first layer, an induction head in the others."""
    size, width = model.config.hidden_size, rows.stop - rows.start
    model.model.embed_tokens.weight.data[:, -1] = _CONSTANT
    token, previous = _projection(size, width, apart=True), _projection(size, width, apart=True)
    seeking, sought = _steady(token) * _FOLLOWED, _steady(previous) * _FOLLOWED
    first, *further = (layer.self_attn for layer in model.model.layers)

    query, key = _previous_place(model, width)
    first.q_proj.weight.data[rows], first.k_proj.weight.data[rows] = 0, 0
    first.q_proj.weight.data[rows, -1], first.k_proj.weight.data[rows, -1] = query, key
    first.v_proj.weight.data[rows] = token
    first.o_proj.weight.data[:, rows] = previous.T * _PREVIOUS
    for attention in further:
        attention.q_proj.weight.data[rows], attention.k_proj.weight.data[rows] = seeking, sought
    for attention in further[:_COPYING]:
        copied = _projection(size, width, apart=True)
        attention.v_proj.weight.data[rows] = copied
        attention.o_proj.weight.data[:, rows] = copied.T * _COPY


def _previous_place(model: LlamaForCausalLM, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights (width,) by which queries and keys read the constant dimension.

    They are one vector in a few pairs of rotary dimensions, but that of the keys is turned by one place, so that the
    two agree best where the query stands one place behind the key.
    """
    config, half = model.config, width // 2
    turns = config.rope_parameters["rope_theta"] ** (-2 * torch.arange(half) / width)
    places = slice(0, min(_PLACES, half))
    query, key = torch.zeros(2, 2, half)
    query[0, places] = 1.0
    key[0, places], key[1, places] = turns[places].cos(), turns[places].sin()
    # What the first norm makes of the constant, which a query and a key multiply.
    read = _CONSTANT / model.model.embed_tokens.weight.data.pow(2).mean(1).sqrt().median()
    scale = (_SHARPNESS * width**0.5) ** 0.5 / read
    return query.flatten() * scale, key.flatten() * scale


def _projection(size: int, width: int, *, apart: bool = False) -> torch.Tensor:
    """An orthonormal projection (width, size); one that stays ``apart`` does not read the constant dimension."""
    projection = torch.linalg.qr(torch.randn(size, width))[0].T
    if apart:
        projection[:, -1] = 0
    return projection


def _steady(projection: torch.Tensor) -> torch.Tensor:
    """The projection without the pairs of rotary dimensions that turn fastest."""
    kept = projection.clone().unflatten(0, (2, -1))
    kept[:, : min(_TURNING, kept.shape[1] // 2)] = 0
    return kept.flatten(0, 1)
