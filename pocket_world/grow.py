"""Growing a trained model into a larger one that computes the same, so that it need not learn to bind from nothing.

The new hidden dimensions are 0 everywhere, for nothing writes to them yet; the norms are scaled so that the old ones
come out as before. New heads, new units and new layers are read at random weights and write nothing: their output
matrices are 0. Gradients reach all of them at the first step. (Net2Net, Chen et al. 2016, widens by copies instead.)
Half of the heads of a new layer attend to where the token of their own place is expected.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from pocket_world.begin import comparing_heads

STD = 0.02

_READS = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")


def grow(small: LlamaForCausalLM, config: LlamaConfig) -> LlamaForCausalLM:
    """A model of ``config`` with the logits of ``small``.

    It is smaller nowhere, and has heads of the same width and the same vocabulary.
    """
    old = small.config
    config.rms_norm_eps = old.rms_norm_eps * old.hidden_size / config.hidden_size
    large = LlamaForCausalLM(config)
    source = small.state_dict()
    target = {name: _blank(name, weights) for name, weights in large.state_dict().items()}
    places = layer_places(old.num_hidden_layers, config.num_hidden_layers)
    scale = (old.hidden_size / config.hidden_size) ** 0.5
    for name, weights in source.items():
        new = target[_renamed(name, places)]
        new[tuple(slice(size) for size in weights.shape)] = weights * scale if "norm" in name else weights
    for place in set(range(config.num_hidden_layers)) - set(places):
        queries, keys = (target[f"model.layers.{place}.self_attn.{name}.weight"] for name in ("q_proj", "k_proj"))
        comparing_heads(queries, keys, target["model.embed_tokens.weight"], config.head_dim)
    large.load_state_dict(target)
    large.tie_weights()
    return large


def layer_places(old: int, new: int) -> list[int]:
    """Where each old layer stands among the new ones: in order, evenly spread, the last one last.

    >>> layer_places(4, 6)
    [0, 2, 3, 5]
    """
    return [(place + 1) * new // old - 1 for place in range(old)]


def _blank(name: str, weights: torch.Tensor) -> torch.Tensor:
    """What new weights are before the old ones are put in: random where they read, 1 in norms, else 0."""
    if "norm" in name:
        return torch.ones_like(weights)
    return torch.randn_like(weights) * STD if any(part in name for part in _READS) else torch.zeros_like(weights)


def _renamed(name: str, places: list[int]) -> str:
    before, mark, rest = name.partition("layers.")
    if not mark:
        return name
    number, _, tail = rest.partition(".")
    return f"{before}layers.{places[int(number)]}.{tail}"
