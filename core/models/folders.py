"""Checks a model's or an adapter's folder before anything is loaded. Loads no torch, so pages may call it."""

from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.models.folder_limits import check_limits, check_stored_size
from core.models.kinds import refuse_other_kinds
from core.models.safetensors_files import AGAIN, POINTER, SERVE_GGUF, read_header, read_json, weight_files
from core.storage import sealed
from core.storage.sealed import DamagedError

CONFIGURATION = "config.json"
ADAPTER = "adapter_config.json"
OWN_ADAPTER = "adapter.json"
"""The description of an adapter that Hedge trained."""
TRAINING = "training.json"
"""The record of a juror's training, in its adapter's folder."""
BASE_KEYS = {ADAPTER: "base_model_name_or_path", OWN_ADAPTER: "base"}
"""What names the base model, by the file of an adapter."""
ADAPTER_WEIGHTS = "adapter_model.safetensors"
TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
)
"""A folder with any of these files has a tokenizer."""


def holds_adapter(folder: Path) -> bool:
    """Whether a folder holds a PEFT adapter. Raises :class:`InputError` if it holds a whole model as well."""
    if not (folder / ADAPTER).is_file():
        return False
    if not (folder / CONFIGURATION).is_file():
        return True
    others = [path.name for path in folder.glob("*.safetensors") if path.name != ADAPTER_WEIGHTS]
    if not others and (folder / ADAPTER_WEIGHTS).is_file():
        return True
    raise InputError(
        f"folder {folder} holds the configurations of a model and of an adapter ({ADAPTER}), and it is not plain which "
        "is meant; keep each in a folder of its own"
    )


def check_folder(folder: Path) -> None:
    """Raise :class:`InputError` unless a folder holds a model's configuration, whole weights and a tokenizer."""
    configuration = folder / CONFIGURATION
    if not configuration.is_file():
        raise InputError(_without_configuration(folder))
    check_limits(folder)
    values = read_json(configuration)
    refuse_other_kinds(values, where=f"folder {folder}")
    stored = sum(prod(tensor.shape) for path in weight_files(folder) for tensor in read_header(path).values())
    check_stored_size(values, stored, where=str(configuration))
    tokenizers = [folder / name for name in TOKENIZERS if (folder / name).is_file()]
    if not tokenizers:
        raise InputError(f"folder {folder} has no tokenizer; save it there with tokenizer.save_pretrained")
    for path in tokenizers:
        with path.open("rb") as file:
            if file.read(len(POINTER)) == POINTER:
                raise InputError(f"{path} is a Git LFS pointer and not the file itself; fetch it with `git lfs pull`")


def check_adapter(folder: Path) -> None:
    """Raise :class:`InputError` unless a folder holds an adapter's configuration and weights that are whole.

    It needs no tokenizer: its base model has one.
    """
    check_limits(folder)
    read_json(folder / ADAPTER)
    weights = folder / ADAPTER_WEIGHTS
    if weights.is_file():
        read_header(weights)
        return
    other = next((path.name for pattern in ("*.bin", "*.pt", "*.pth") for path in sorted(folder.glob(pattern))), None)
    if other:
        raise InputError(
            f"folder {folder} holds its weights as a pickle ({other}), which may run code when it is read; "
            "save them as safetensors"
        )
    raise InputError(f"folder {folder} has no weights ({ADAPTER_WEIGHTS}); save the adapter again with save_pretrained")


def training_record(folder: Path) -> dict[str, Any]:
    """The contents of the file that Hedge writes beside an adapter that it trained; empty for another adapter.

    Raises :class:`InputError` if the file is damaged.
    """
    for name in (OWN_ADAPTER, TRAINING):
        try:
            return sealed.read_json(folder / name)
        except DamagedError as error:
            raise InputError(_damaged(folder, f"{name}: {error}")) from error
        except OSError:
            continue
    return {}


def check_digests(folder: Path) -> None:
    """Raise :class:`InputError` if the files of an adapter that Hedge trained are not those that it wrote."""
    try:
        sealed.check_files(folder, training_record(folder).get("files", {}))
    except DamagedError as error:
        raise InputError(_damaged(folder, str(error))) from error


def _damaged(folder: Path, reason: str) -> str:
    return f"adapter {folder} is damaged ({reason}); train it again, or copy it here again"


def _without_configuration(folder: Path) -> str:
    says: dict[str, str] = {
        "params.json": f"folder {folder} holds a model as its makers keep it (params.json); use the one that was "
        "converted for transformers, which has a config.json",
        "*.gguf": f"folder {folder} holds a GGUF file, {SERVE_GGUF}",
        "*/config.json": f"folder {folder} has no config.json, but folders in it have; give one of those",
        "*/adapter_config.json": f"folder {folder} has no adapter_config.json, but folders in it have; give one of "
        "those",
    }
    known = next((text for pattern, text in says.items() if next(folder.glob(pattern), None)), None)
    return known or f"folder {folder} has no config.json; save the model there with save_pretrained"


def named_bases(folder: Path) -> list[str]:
    """The base models that the adapters in a folder name; those of a file that can't be read are reported later."""
    bases = []
    for file, key in BASE_KEYS.items():
        with suppress(InputError):
            if name := read_json(folder / file).get(key):
                bases.append(str(name))
    return bases


def adapter_values(path: Path) -> dict[str, Any]:
    """The contents of ``adapter_config.json``. Raises :class:`InputError` if it does not name the kind of adapter."""
    values = read_json(path)
    if not isinstance(values.get("peft_type"), str):
        raise InputError(f"{path} does not say which kind of adapter it is (peft_type); {AGAIN}")
    return values
