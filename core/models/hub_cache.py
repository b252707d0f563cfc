"""Files of models in the Hugging Face hub's cache on this machine."""

from pathlib import Path

from core import extras


def cached_file(model: str, name: str, *, revision: str = "") -> Path | None:
    """A file of a model in the cache, by default of the revision that the hub had when it was last asked; None if it is
    not there, or if what reads the cache is not installed."""
    if not extras.has("models"):
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        path = try_to_load_from_cache(model, name, revision=revision or None)
    except HFValidationError:
        return None
    return Path(path) if isinstance(path, str) else None
