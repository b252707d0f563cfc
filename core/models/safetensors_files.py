"""The safetensors files of a folder: which of them are read, whether they are complete, and their tensors. Loads no
torch.

A safetensors file is eight bytes with the header's length, little-endian, the header (JSON: tensor → type, shape and
place), and the numbers. Source: the format's description at github.com/huggingface/safetensors.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.storage.json_text import loads

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
POINTER = b"version https://git-lfs"
"""The first bytes of a Git LFS pointer, which stands for a file that was not fetched."""
SERVE_GGUF = (
    "which llama.cpp reads and Hedge does not; serve it with llama.cpp (llama-server -m FILE) and give its address "
    "with --server, or use the model that it was made from"
)
LARGEST_JSON = 100_000_000
"""Bytes, as the safetensors library limits its headers."""
AGAIN = "save the model again with save_pretrained, or download it again"


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor in a file: its type as the header spells it (``F32``, ``I8``, …) and its shape."""

    dtype: str
    shape: tuple[int, ...]


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises :class:`InputError` if the file holds none."""
    try:
        if (size := path.stat().st_size) > LARGEST_JSON:
            raise InputError(f"{path} has {size:,} bytes, and at most {LARGEST_JSON:,} are read; {AGAIN}")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}); make it readable") from error
    if content.startswith(POINTER):
        raise InputError(_pointer(path))
    try:
        values = loads(content)
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); {AGAIN}") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} must hold a JSON object, and holds {type(values).__name__}; {AGAIN}")
    return values


def json_or_nothing(path: Path | None) -> dict[str, Any]:
    """The JSON object in a file; empty if there is none, because loading the model says what is wrong."""
    try:
        return read_json(path) if path else {}
    except InputError:
        return {}


def weight_files(folder: Path) -> list[Path]:
    """The files from which a model's weights are read.

    Raises :class:`InputError` if there are none, if there is only a pickle, or if a file that the index names is
    missing.
    """
    if (folder / SINGLE).is_file():
        return [folder / SINGLE]
    if (folder / INDEX).is_file():
        return _shards(folder)
    there = sorted(path.name for path in folder.glob("*.safetensors"))
    if there:
        raise InputError(
            f"folder {folder} has {there[0]}{f' and {len(there) - 1} more' if len(there) > 1 else ''}, but neither "
            f"{SINGLE} nor {INDEX}, which says what lies in which file; {AGAIN}"
        )
    for pattern, says in (
        ("*.gguf", f"a GGUF file ({{0}}), {SERVE_GGUF}"),
        ("*.bin", "a pickle ({0}), which may run code when it is read; save them as safetensors"),
        ("*.pt*", "a pickle ({0}), which may run code when it is read; save them as safetensors"),
        ("*.ckpt", "a pickle ({0}), which may run code when it is read; save them as safetensors"),
        ("*.h5", "a TensorFlow file ({0}), which transformers no longer reads; save them as safetensors"),
        ("*.msgpack", "a Flax file ({0}), which transformers no longer reads; save them as safetensors"),
    ):
        if other := sorted(path.name for path in folder.glob(pattern) if path.suffix != ".ptl"):
            raise InputError(f"folder {folder} holds its weights as {says.format(other[0])}")
    raise InputError(f"folder {folder} has no weights (*.safetensors); save the model there with save_pretrained")


def _shards(folder: Path) -> list[Path]:
    named = read_json(folder / INDEX).get("weight_map")
    if not isinstance(named, dict) or not named or not all(isinstance(name, str) for name in named.values()):
        raise InputError(f"{folder / INDEX} does not say which tensor lies in which file (weight_map); {AGAIN}")
    files = sorted(set(named.values()))
    gone = [name for name in files if not (folder / name).is_file()]
    if gone:
        raise InputError(
            f"folder {folder} lacks {len(gone)} of the {len(files)} files that its index names ({first_names(gone)}); "
            "download the model again"
        )
    return [folder / name for name in files]


def read_header(path: Path) -> dict[str, Stored]:
    """The tensors of a file by name. Raises :class:`InputError` if it is truncated or not a safetensors file."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(len(POINTER))
            if first == POINTER:
                raise InputError(_pointer(path))
            length = int.from_bytes(first[:8], "little")
            file.seek(8)
            content = file.read(length) if 8 + length <= min(size, LARGEST_JSON) else b""
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}); make it readable") from error
    broken = InputError(f"{path} is cut short or is not a safetensors file ({size:,} bytes); {AGAIN}")
    if len(first) < 8 or not content:
        raise broken
    try:
        header = loads(content)
        header.pop("__metadata__", None)
        tensors = {name: Stored(str(tensor["dtype"]), tuple(tensor["shape"])) for name, tensor in header.items()}
        end = max((int(tensor["data_offsets"][1]) for tensor in header.values()), default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise broken from error
    if not tensors:
        raise InputError(f"{path} holds no tensors; {AGAIN}")
    if 8 + length + end != size:
        raise InputError(f"{path} has {size:,} bytes and should have {8 + length + end:,}; download it again")
    return tensors


def first_names(names: list[str], *, most: int = 3) -> str:
    """The first few names and the number of the others, as text."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _pointer(path: Path) -> str:
    return f"{path} is a Git LFS pointer and not the file itself; fetch it with `git lfs pull`"
