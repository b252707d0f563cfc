"""The number of parameters of a model on the hub, from its small files: no weights are downloaded. Loads no torch. The
sources are, in this order: the index of its shards (``total_parameters``, or ``total_size`` in bytes divided by the
bytes of a parameter), the size of its only file of weights, which the hub reports in the headers of an answer, and the
shapes in ``config.json``.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core import extras
from core.models.hub_cache import cached_file
from core.models.safetensors_files import INDEX, SINGLE, json_or_nothing

STORED = {"float32": 4.0, "float64": 8.0, "float8_e4m3fn": 1.0, "int8": 1.0}
"""Bytes of a parameter in a file, by the type in ``config.json``; nearly all others store two."""
TIMEOUT_S = 10


def parameters(model: str, *, ask: bool = True) -> int:
    """The number of parameters of a model on the hub; 0 if the hub does not say or can't be reached. If ``ask`` is
    false, only downloaded files are read.
    """
    count = _from_cache(model)
    return count or (_asked(model) if ask and extras.has("models") else 0)


def of_index(index: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    """The number of parameters according to an index of shards or a configuration; 0 if neither says it."""
    stated = index.get("metadata")
    metadata = stated if isinstance(stated, Mapping) else {}
    count, size = metadata.get("total_parameters"), metadata.get("total_size")
    if isinstance(count, (int, float)) and count > 0:
        return int(count)
    return int(size / _bytes_each(config)) if isinstance(size, (int, float)) and size > 0 else of_config(config)


def of_config(config: Mapping[str, Any]) -> int:
    """The parameters of a decoder of these shapes: embeddings, attention and a gated layer (with all its experts).

    >>> of_config({"hidden_size": 8192, "num_hidden_layers": 80, "vocab_size": 128256, "intermediate_size": 28672,
    ...            "num_attention_heads": 64, "num_key_value_heads": 8, "tie_word_embeddings": False})
    70552387584
    """
    text = config.get("text_config")
    config = {**config, **text} if isinstance(text, Mapping) else config
    try:
        size, layers, words = (int(config[name]) for name in ("hidden_size", "num_hidden_layers", "vocab_size"))
        heads = int(config.get("num_attention_heads") or 1)
        head = int(config.get("head_dim") or size // heads)
        shared = int(config.get("num_key_value_heads") or heads)
        inner = int(config.get("moe_intermediate_size") or config.get("intermediate_size") or 4 * size)
        experts = int(
            config.get("num_local_experts") or config.get("num_experts") or config.get("n_routed_experts") or 1
        )
        attention = 2 * size * head * (heads + shared)
        matrices = 1 if config.get("tie_word_embeddings", True) else 2
        return matrices * words * size + layers * (attention + 3 * size * inner * experts)
    except (KeyError, TypeError, ValueError):
        return 0


def _bytes_each(config: Mapping[str, Any]) -> float:
    return STORED.get(str(config.get("dtype") or config.get("torch_dtype") or ""), 2.0)


def _from_cache(model: str) -> int:
    config, index, single = (cached_file(model, name) for name in ("config.json", INDEX, SINGLE))
    if index:
        return of_index(json_or_nothing(index), json_or_nothing(config))
    return int(single.stat().st_size / _bytes_each(json_or_nothing(config))) if single else 0


@functools.lru_cache(maxsize=256)
def _asked(model: str) -> int:
    """The number of parameters according to the hub. It is asked once in a process, because launching twenty runs of a
    model asks twenty times."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError

    try:
        # This fails at once where the hub can't be reached, but a download would try again for 23 seconds.
        get_hf_file_metadata(hf_hub_url(model, "config.json"), timeout=TIMEOUT_S)
        config = json_or_nothing(Path(hf_hub_download(model, "config.json", etag_timeout=TIMEOUT_S)))
        try:
            return of_index(json_or_nothing(Path(hf_hub_download(model, INDEX, etag_timeout=TIMEOUT_S))), config)
        except EntryNotFoundError:
            pass
        try:
            size = get_hf_file_metadata(hf_hub_url(model, SINGLE), timeout=TIMEOUT_S).size
            return int((size or 0) / _bytes_each(config)) or of_config(config)
        except EntryNotFoundError:
            return of_config(config)
    except Exception:  # gated, gone or out of reach: loading the model says which; the transport has errors of its own
        return 0
