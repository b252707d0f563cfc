"""A model's tokenizer, and the model that an adapter belongs to."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.models.folder_limits import PARTS, TAKE, check_tokenizer, panics_as_errors, tokenizer_problem
from core.models.folders import ADAPTER, adapter_values
from core.models.model_sources import HUB_ID, PATHS, ModelSource, gated_message, resolve
from core.models.quiet import quiet
from core.models.token_ids import PROBES, AddedTokensError, token_ids

TOKENIZER_PACKAGES = {
    "tokenizer.model": "sentencepiece",
    "spiece.model": "sentencepiece",
    "sentencepiece.bpe.model": "sentencepiece",
    "tekken.json": "mistral-common",
}
"""Maps a file to the package that reads such a tokenizer."""


def load_tokenizer(source: ModelSource, base: ModelSource | None = None) -> Any:
    """A model's tokenizer. For an adapter: its own if it has one, otherwise its base model's.

    Raises :class:`InputError` if none can be loaded.
    """
    base = base or base_of(source)
    own = Path(source.location) / "tokenizer_config.json"
    return read_tokenizer(source if not source.is_adapter or own.is_file() else base)


def read_tokenizer(source: ModelSource) -> Any:
    """The tokenizer at ``source``. Raises :class:`InputError` if none can be loaded from there."""
    from transformers import AutoTokenizer

    if source.is_hub:
        _check_hub_files(source)
    with _explained(source):
        tokenizer = AutoTokenizer.from_pretrained(source.location, trust_remote_code=False, **source.pin)
    _check_loaded(source, tokenizer)
    with _explained(source):
        rows = token_ids(tokenizer, PROBES)
    if not all(rows):
        raise InputError(
            f"the tokenizer of {source.location} makes no tokens of a text; take the tokenizer's files that came with "
            "the model"
        )
    return tokenizer


@contextmanager
def _explained(source: ModelSource) -> Iterator[None]:
    try:
        with quiet(), panics_as_errors():
            yield
    except AddedTokensError:
        raise
    except (Exception, BaseExceptionGroup) as error:
        raise InputError(_tokenizer_sentence(source, error)) from error


def _check_hub_files(source: ModelSource) -> None:
    """Check the files of a tokenizer on the hub, which folders have had checked, before they are loaded."""
    from transformers.utils.hub import cached_file

    for name in ("tokenizer.json", "tokenizer_config.json"):
        try:
            with quiet():
                path = cached_file(source.location, name, **source.pin)
        except Exception:  # the hub client has errors of its own, and loading the tokenizer says what is wrong
            continue
        if path:
            check_tokenizer(Path(path))


def _check_loaded(source: ModelSource, tokenizer: Any) -> None:
    """Check the parts of a loaded tokenizer, which may come from a file of another kind."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    parts = {name: getattr(backend, name, None) for name in PARTS}
    values = {name: json.loads(part.__getstate__()) for name, part in parts.items() if part is not None}
    if problem := tokenizer_problem(values):
        raise InputError(f"the tokenizer of {source.location} {problem}; {TAKE}")


def base_of(source: ModelSource) -> ModelSource:
    """The model that an adapter was made for; any other model itself."""
    if not source.is_adapter:
        return source
    name = _adapter_configuration(source).get("base_model_name_or_path")
    if not name:
        raise InputError(f"adapter {source.location} does not name its base model in {ADAPTER}; add it there")
    if source.is_hub and (str(name).startswith(PATHS) or not HUB_ID.match(str(name))):
        raise InputError(
            f"adapter {source.location} on the hub names a folder as its base model ({str(name)[:80]!r}); download the "
            f"adapter, and name the model on the hub in its {ADAPTER}"
        )
    try:
        base = resolve(str(name), revision=source.base_revision)
    except InputError as error:
        raise InputError(f"adapter {source.location} belongs to the model {str(name)!r}, and {error}") from error
    if base.is_adapter:
        raise InputError(
            f"adapter {source.location} names another adapter as its base model ({name}); name the model under both in "
            f"{ADAPTER}"
        )
    return base


def loading_sentence(source: ModelSource, error: BaseException, *, what: str = "model") -> str:
    """Why a part of a model can't be loaded, in one sentence. The library's message stays in the exception chain."""
    text = str(error)
    if "gated repo" in text.lower():
        return gated_message(source.location)
    if "trust_remote_code" in text:
        return (
            f"{what} {source.location} needs code of its makers to run, which Hedge never runs; choose a model that "
            "transformers has itself"
        )
    if source.is_hub and isinstance(error, OSError):
        return (
            f"{what} {source.location} can't be fetched from the hub ({type(error).__name__}); look whether it has "
            "safetensors weights and whether this machine reaches huggingface.co, then try again"
        )
    if isinstance(error, PermissionError):
        return f"{what} {source.location} can't be read; make its files readable"
    return (
        f"{what} {source.location} can't be loaded: transformers {_version()} stopped at its files with "
        f"{type(error).__name__}; save or download it again, or choose another model"
    )


def _tokenizer_sentence(source: ModelSource, error: BaseException) -> str:
    text = str(error)
    if "trust_remote_code" in text or "gated repo" in text.lower():
        return loading_sentence(source, error, what="the tokenizer of model")
    folder = Path(source.location)
    reader = next((TOKENIZER_PACKAGES[name] for name in TOKENIZER_PACKAGES if (folder / name).is_file()), None)
    if reader and not (folder / "tokenizer.json").is_file():
        return (
            f"the tokenizer of {source.location} is read with the package {reader}, which is not here or can't read "
            f"it; install {reader} with pip, or save the tokenizer as tokenizer.json where the model was made "
            "(tokenizer.save_pretrained)"
        )
    return (
        f"the tokenizer of {source.location} can't be used: transformers {_version()} could not read its files or "
        "write a text as tokens with it; take the tokenizer's files that came with the model"
    )


def _version() -> str:
    import transformers

    return str(transformers.__version__)


def _adapter_configuration(source: ModelSource) -> dict[str, Any]:
    path = Path(source.location) / ADAPTER
    if source.is_hub:
        from huggingface_hub import hf_hub_download

        try:
            path = Path(hf_hub_download(source.location, ADAPTER, **source.pin))
        except Exception as error:  # the hub client passes on the errors of its HTTP library
            raise InputError(loading_sentence(source, error, what="adapter")) from error
    return adapter_values(path)
