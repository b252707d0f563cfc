"""What numpy arrays from outside say that they hold, checked before any of them is unpacked.

A member of an npz compresses a thousandfold, so that a file of a megabyte may hold arrays of gigabytes.
"""

import io
import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from core.errors import InputError
from core.tables.safe_read import MOST_QUESTIONS, check_count

MOST_UNPACKED = 2_000_000_000
"""The most bytes that the arrays of a file may hold together."""
MOST_NUMBERS = 104 * MOST_QUESTIONS
"""The most values of one array: four prompts, or as many models, with 26 options a question, or one with 100."""
MOST_ARRAYS = 1_000
LAST_CHARACTER, SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)
HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, KeyError, TypeError, NotImplementedError),
    *(SyntaxError, SystemError, OverflowError, RuntimeError, tokenize.TokenError),
)
"""What a damaged npz makes numpy and ``zipfile`` raise."""


def load_npz(content: bytes, path: Path) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """The arrays of an npz. Raises :class:`InputError` if it is not whole, or its arrays say that they are more than is
    read."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as members:
            infos = members.infolist()
            _check_unpacked(sum(info.file_size for info in infos), path)
            if len(infos) > MOST_ARRAYS:
                raise InputError(f"{path}: expected at most {MOST_ARRAYS:,} arrays, found {len(infos):,}")
            for info in infos:
                with members.open(info) as member:
                    _check(member, info.file_size, path)
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            if odd := next((name for name, array in arrays.items() if not is_whole_text(array)), None):
                raise ValueError(f"the text of {odd[:60]} is none")
            return arrays
    except DAMAGED as error:
        if "Object arrays" in str(error):
            raise InputError(
                f"{path} is not a complete npz file of plain arrays: it holds Python objects, which could run code "
                "when they are read; save it again with numbers and texts alone"
            ) from error
        raise InputError(
            f"{path} is not a complete npz file of plain arrays ({str(error)[:120]}); fetch it again, or save it with "
            "numbers and texts alone"
        ) from error


def is_whole_text(array: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Whether an array has no text with a number that is no character; arrays of numbers have no text."""
    if array.dtype.kind != "U" or array.size == 0 or array.dtype.itemsize == 0:
        return True
    numbers = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.str[0]}u4")
    return not ((numbers > LAST_CHARACTER) | ((numbers >= SURROGATES[0]) & (numbers <= SURROGATES[1]))).any()


def load_npy(content: bytes, path: Path) -> np.ndarray[Any, np.dtype[Any]]:
    """The array of an npy file. Raises :class:`InputError` as :func:`load_npz` does."""
    try:
        _check(io.BytesIO(content), len(content), path)
        array: np.ndarray[Any, np.dtype[Any]] = np.load(io.BytesIO(content), allow_pickle=False)
    except DAMAGED as error:
        raise InputError(f"{path}: expected a whole array of numbers, found none ({str(error)[:120]})") from error
    return array


def _check(member: IO[bytes], size: int, path: Path) -> None:
    """Check the header of an array that takes ``size`` bytes with it."""
    version = np.lib.format.read_magic(member)
    if version not in HEADERS:
        raise ValueError(f"format version {version}")
    shape, _, dtype = HEADERS[version](member)
    if dtype.hasobject:
        raise ValueError("Object arrays can't be read")
    held = math.prod(shape) * dtype.itemsize
    _check_unpacked(held, path)
    if held > size:
        raise ValueError(f"the array says {held:,} bytes and has {size:,}")
    if len(shape) >= 1:
        check_count(shape[-2] if len(shape) > 1 else shape[0], path)
    if math.prod(shape) > MOST_NUMBERS:
        raise InputError(
            f"{path}: expected at most {MOST_NUMBERS:,} numbers in an array, found {math.prod(shape):,}; split it into "
            "several files"
        )


def _check_unpacked(size: int, path: Path) -> None:
    if size > MOST_UNPACKED:
        raise InputError(
            f"{path}: expected arrays of at most {MOST_UNPACKED / 1e9:g} GB, found {size / 1e9:.1f} GB; it is not "
            "unpacked, so split it into several files"
        )
