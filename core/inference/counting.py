"""Characters per token of a model, from the tokenizer's file alone. Loads neither weights nor torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core import extras
from core.files.names import is_folder, named
from core.inference.folder_limits import check_tokenizer, panics_as_errors
from core.inference.hub_cache import cached_file
from core.inference.models import bundled_models
from core.settings import ASSETS

FILE = "tokenizer.json"


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
            found = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    except Exception:  # the library raises a bare Exception for a file it can't read; loading the model says why
        return None
    return sum(map(len, texts)) / max(1, sum(len(one.ids) for one in found))


def is_here(model: str) -> bool:
    """Whether the model's files lie on this machine, so that nothing has to be downloaded."""
    return model in bundled_models() or is_folder(model) or cached_file(model, "config.json") is not None


def _file(model: str) -> Path | None:
    if model in bundled_models():
        return ASSETS / "models" / model / FILE
    path = named(model) / FILE if is_folder(model) else None
    return path if path and path.is_file() else cached_file(model, FILE)
