"""Characters per token of a model, and the most tokens that it reads, from its files. Loads no weights and no torch."""

import functools
from collections.abc import Sequence
from pathlib import Path

from core import extras
from core.models.encoding import CONTEXT_NAMES, SANE_LENGTH
from core.models.folder_limits import check_tokenizer, panics_as_errors
from core.models.hub_cache import cached_file
from core.models.model_sources import bundled_models
from core.models.safetensors_files import json_or_nothing
from core.settings import ASSETS
from core.storage.names import is_folder, named

FILE = "tokenizer.json"
SETTINGS = ("config.json", "tokenizer_config.json")


def characters_per_token(model: str, texts: Sequence[str]) -> float | None:
    """Characters of these texts divided by their tokens, special tokens not counted.

    None if there is no text, if the tokenizer's file is not on this machine or is of another kind, or if Hedge is
    installed without what reads it.
    """
    path = _file(model)
    if path is None or not any(texts) or not extras.has("models"):
        return None
    from tokenizers import Tokenizer

    try:
        check_tokenizer(path)
        with panics_as_errors():
            tokenizer = Tokenizer.from_file(str(path))
            encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    except Exception:  # the library raises a bare Exception for a file it can't read; loading the model says why
        return None
    return sum(map(len, texts)) / max(1, sum(len(encoding.ids) for encoding in encodings))


def context(model: str) -> int:
    """The most tokens that a model reads; 0 if its files are not on this machine or state no limit."""
    stated = [_stated(path, path.stat().st_mtime_ns) for name in SETTINGS if (path := _file(model, name))]
    return min((limit for limit in stated if limit), default=0)


@functools.lru_cache(maxsize=256)
def _stated(path: Path, stamp: int) -> int:
    """The limit of tokens that a model's settings state; 0 for none."""
    values = json_or_nothing(path)
    values = values.get("text_config") or values
    limits = [values.get(name) for name in (*CONTEXT_NAMES, "model_max_length")]
    return next((limit for limit in limits if isinstance(limit, int) and 0 < limit < SANE_LENGTH), 0)


def is_here(model: str) -> bool:
    """Whether the model's files lie on this machine, so that nothing has to be downloaded."""
    return model in bundled_models() or is_folder(model) or cached_file(model, "config.json") is not None


def _file(model: str, name: str = FILE) -> Path | None:
    if model in bundled_models():
        return ASSETS / "models" / model / name
    path = named(model) / name if is_folder(model) else None
    return path if path and path.is_file() else cached_file(model, name)
