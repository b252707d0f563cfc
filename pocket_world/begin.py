"""The initial weights of a pocket model: heads that attend where answering by letter needs it, before any training, or
those of a smaller model.

Half of the heads of each layer attend to earlier copies of the token: their queries and keys are one and the same
orthonormal projection, so that a token scores highest with itself and with its like elsewhere (Trockman & Kolter 2023,
mimetic initialization). A lettered question about a text needs that to find again what an option says.

One more head of each layer helps to find what belongs to it (Olsson et al. 2022, induction heads). In the first layer
it attends to the previous token and writes it into directions of its own. In each further layer it looks for the token
in those directions, so that it attends to what followed the same token before; in the first few it also copies what it
finds.

From random weights a model of this size answers at chance for thousands of steps. From these it does so for a few
hundred.

A trained model grows into a larger one that computes the same, so that it need not learn to bind from nothing. The new
hidden dimensions are 0 everywhere, for nothing writes to them yet; the norms are scaled so that the old ones come out
as before. New heads, new units and new layers are read at random weights and write nothing: their output matrices are
0. Gradients reach all of them at the first step. (Net2Net, Chen et al. 2016, widens by copies instead.) Half of the
heads of a new layer attend to where the token of their own place is expected.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

_MATCH = 1.2
_WRITE = 0.05
_EMBEDDING = 0.1

_FAST_PAIRS = 6
"""The fastest pairs of rotary dimensions, which heads that look for a token do not use: what such a pair reads depends
on how far away the token is."""

_CONSTANT = 0.3
"""The last dimension of each embedding. It is the same for all tokens, so a head can attend by position alone."""

_POSITION_PAIRS = 4
"""The fastest pairs of rotary dimensions, by which the head for the previous token tells positions apart."""

_SHARPNESS = 8.0
"""What each of these pairs adds to the logit of the previous token. It adds less to the logits of other tokens."""

_PREVIOUS, _FOLLOWED, _COPY = 0.3, 2.0, 0.3
"""How strongly the previous token is written, looked for and copied."""

_COPYING = 3
"""How many layers have an induction head that copies."""

_NEW = 0.02
"""The standard deviation of new weights in a grown model."""

_READS = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")


def begin(model: LlamaForCausalLM) -> None:
    """Give a model its first weights, drawn from torch's generator; norms stay at 1."""
    size, heads = model.config.hidden_size, model.config.num_attention_heads
    width = size // heads
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=_EMBEDDING)
    for layer in model.model.layers:
        attention, units = layer.self_attn, layer.mlp
        for weights in (attention.q_proj.weight, attention.k_proj.weight):
            torch.nn.init.normal_(weights, std=0.7 * size**-0.5)
        _matching_heads(attention.q_proj.weight.data, attention.k_proj.weight.data, width)
        for weights in (attention.v_proj.weight, units.gate_proj.weight, units.up_proj.weight):
            torch.nn.init.normal_(weights, std=size**-0.5)
        for weights in (attention.o_proj.weight, units.down_proj.weight):
            torch.nn.init.normal_(weights, std=_WRITE * size**-0.5)
    _induction_heads(model, slice(width * (heads // 2), width * (heads // 2 + 1)))


def _matching_heads(queries: torch.Tensor, keys: torch.Tensor, width: int) -> None:
    """Let the first half of the heads attend to tokens like their own; each has ``width`` rows of ``queries`` and
    ``keys`` (size, size), which are changed in place."""
    size = len(queries)
    for head in range(size // width // 2):
        rows = slice(width * head, width * (head + 1))
        queries[rows] = keys[rows] = _without_fast_pairs(_projection(size, width)) * _MATCH


def _comparing_heads(queries: torch.Tensor, keys: torch.Tensor, embeddings: torch.Tensor, width: int) -> None:
    """Let the first half of the heads attend to places where the token is expected that their own place holds.

    Its own token is read backwards, the last dimension first, as :func:`pocket_world.batches.weighted_loss` reads the
    second middle layer. Read forwards, every place would be most like itself. The first head compares the directions
    in which the ``embeddings`` (vocabulary, size) differ most, each further head the next ones. Each has ``width`` rows
    of ``queries`` and ``keys`` (size, size), which are changed in place.
    """
    size = len(queries)
    directions = torch.linalg.svd(embeddings - embeddings.mean(0), full_matrices=False).Vh
    slow = width // 2 - min(_FAST_PAIRS, width // 2)
    for head in range(size // width // 2):
        projection = torch.zeros(2, width // 2, size)
        # The slowest pairs, which stand last, read the directions that differ most.
        head_directions = directions[2 * slow * head : 2 * slow * (head + 1)].flip(0)
        projection[:, width // 2 - slow :] = head_directions.unflatten(0, (slow, 2)).transpose(0, 1)
        rows = slice(width * head, width * (head + 1))
        keys[rows] = projection.flatten(0, 1) * _MATCH
        queries[rows] = keys[rows].flip(-1)


def _induction_heads(model: LlamaForCausalLM, rows: slice) -> None:
    """Make the head of these rows one for the previous token in the first layer, an induction head in the others."""
    size, width = model.config.hidden_size, rows.stop - rows.start
    model.model.embed_tokens.weight.data[:, -1] = _CONSTANT
    token, previous = _projection(size, width, content_only=True), _projection(size, width, content_only=True)
    seeking, sought = _without_fast_pairs(token) * _FOLLOWED, _without_fast_pairs(previous) * _FOLLOWED
    first, *further = (layer.self_attn for layer in model.model.layers)

    query, key = _previous_position(model, width)
    first.q_proj.weight.data[rows], first.k_proj.weight.data[rows] = 0, 0
    first.q_proj.weight.data[rows, -1], first.k_proj.weight.data[rows, -1] = query, key
    first.v_proj.weight.data[rows] = token
    first.o_proj.weight.data[:, rows] = previous.T * _PREVIOUS
    for attention in further:
        attention.q_proj.weight.data[rows], attention.k_proj.weight.data[rows] = seeking, sought
    for attention in further[:_COPYING]:
        copied = _projection(size, width, content_only=True)
        attention.v_proj.weight.data[rows] = copied
        attention.o_proj.weight.data[:, rows] = copied.T * _COPY


def _previous_position(model: LlamaForCausalLM, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights (width,) by which queries and keys read the constant dimension.

    Both are the same vector in a few pairs of rotary dimensions, but that of the keys is turned by one position. So the
    two agree best where the key is one position before the query.
    """
    config, half = model.config, width // 2
    turns = config.rope_parameters["rope_theta"] ** (-2 * torch.arange(half) / width)
    pairs = slice(0, min(_POSITION_PAIRS, half))
    query, key = torch.zeros(2, 2, half)
    query[0, pairs] = 1.0
    key[0, pairs], key[1, pairs] = turns[pairs].cos(), turns[pairs].sin()
    # The constant as the first norm scales it; queries and keys read this.
    constant = _CONSTANT / model.model.embed_tokens.weight.data.pow(2).mean(1).sqrt().median()
    scale = (_SHARPNESS * width**0.5) ** 0.5 / constant
    return query.flatten() * scale, key.flatten() * scale


def _projection(size: int, width: int, *, content_only: bool = False) -> torch.Tensor:
    """An orthonormal projection (width, size); with ``content_only`` it leaves the constant dimension out."""
    projection = torch.linalg.qr(torch.randn(size, width))[0].T
    if content_only:
        projection[:, -1] = 0
    return projection


def _without_fast_pairs(projection: torch.Tensor) -> torch.Tensor:
    """The projection without the pairs of rotary dimensions that turn fastest."""
    slow = projection.clone().unflatten(0, (2, -1))
    slow[:, : min(_FAST_PAIRS, slow.shape[1] // 2)] = 0
    return slow.flatten(0, 1)


def grow(small: LlamaForCausalLM, config: LlamaConfig) -> LlamaForCausalLM:
    """A model of ``config`` with the logits of ``small``.

    It is smaller nowhere, and has heads of the same width and the same vocabulary.
    """
    old = small.config
    config.rms_norm_eps = old.rms_norm_eps * old.hidden_size / config.hidden_size
    large = LlamaForCausalLM(config)
    source = small.state_dict()
    target = {name: _blank(name, weights) for name, weights in large.state_dict().items()}
    places = _layer_places(old.num_hidden_layers, config.num_hidden_layers)
    scale = (old.hidden_size / config.hidden_size) ** 0.5
    for name, weights in source.items():
        new = target[_renamed(name, places)]
        new[tuple(slice(size) for size in weights.shape)] = weights * scale if "norm" in name else weights
    for place in set(range(config.num_hidden_layers)) - set(places):
        queries, keys = (target[f"model.layers.{place}.self_attn.{name}.weight"] for name in ("q_proj", "k_proj"))
        _comparing_heads(queries, keys, target["model.embed_tokens.weight"], config.head_dim)
    large.load_state_dict(target)
    large.tie_weights()
    return large


def _layer_places(old: int, new: int) -> list[int]:
    """Where each old layer stands among the new ones: in order, evenly spread, the last one last.

    >>> _layer_places(4, 6)
    [0, 2, 3, 5]
    """
    return [(place + 1) * new // old - 1 for place in range(old)]


def _blank(name: str, weights: torch.Tensor) -> torch.Tensor:
    """What new weights are before the old ones are put in: random where they read, 1 in norms, else 0."""
    if "norm" in name:
        return torch.ones_like(weights)
    return torch.randn_like(weights) * _NEW if any(part in name for part in _READS) else torch.zeros_like(weights)


def _renamed(name: str, places: list[int]) -> str:
    before, mark, rest = name.partition("layers.")
    if not mark:
        return name
    number, _, tail = rest.partition(".")
    return f"{before}layers.{places[int(number)]}.{tail}"
