"""Reads pickles of numpy arrays and plain values, and refuses everything else.

A pickle is a program. This reader allows only the few functions that rebuild an array and refuses every other name, so
a file from outside can't run code.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import reprlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core import multiarray, numeric

from core.errors import InputError
from core.exchange.safe_read import reason


def _latin1(text: str, encoding: str) -> bytes:
    """How protocols before 3 write bytes; any other codec is refused, because some of them unpack."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it encodes with {encoding!r}")
    return text.encode("latin1")


def _empty_array(kind: type, shape: tuple[int, ...], letter: bytes) -> Any:
    """How every pickle begins an array, whose size comes with its content; another shape could fill the memory."""
    if shape != (0,):
        raise pickle.UnpicklingError(f"it begins an array with the shape {reprlib.repr(shape)}")
    return multiarray._reconstruct(kind, shape, letter)


ADMITTED: dict[tuple[str, str], Any] = {
    (module, name): value
    for prefix in ("numpy.core", "numpy._core")
    for module, name, value in (
        (f"{prefix}.multiarray", "_reconstruct", _empty_array),
        (f"{prefix}.multiarray", "scalar", multiarray.scalar),
        (f"{prefix}.numeric", "_frombuffer", vars(numeric)["_frombuffer"]),
    )
} | {("numpy", "ndarray"): np.ndarray, ("numpy", "dtype"): np.dtype, ("_codecs", "encode"): _latin1}
"""Every name that a pickle may use, by module, in the spellings of numpy 1 and 2."""


NUMBERING = ("PUT", "BINPUT", "LONG_BINPUT")
"""The operations that number an object, for later use."""


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        try:
            return ADMITTED[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module_name}.{global_name}") from None


def load_arrays(content: bytes, path: Path) -> Any:
    """The value of a pickle of arrays, lists, dicts, numbers and text.

    Raises :class:`InputError` that names the file and what it holds that is not admitted, or that it is damaged. Its
    cause is a :class:`MemoryError` if a whole pickle needs more memory than there is.
    """
    try:
        return _ArrayUnpickler(io.BytesIO(content)).load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, IndexError, KeyError) as error:
        raise InputError(_sentence(path, error)) from error
    except MemoryError as error:
        damage = _damage(content)
        raise InputError(_sentence(path, damage or error)) from damage or error
    except (AttributeError, OverflowError, RecursionError, ImportError, SystemError) as error:
        raise InputError(_sentence(path, error)) from error


def _damage(content: bytes) -> pickle.UnpicklingError | None:
    """Why the bytes are no whole pickle, or None. A damaged length or number makes the reader ask for much memory."""
    try:
        for count, (code, value, _) in enumerate(pickletools.genops(content)):
            if code.name in NUMBERING and int(value or 0) > count:
                return pickle.UnpicklingError(f"it numbers an object {value}, after {count} others")
    except (ValueError, OverflowError) as error:
        return pickle.UnpicklingError(str(error))
    return None


def _sentence(path: Path, error: BaseException) -> str:
    return (
        f"{path} is not a complete pickle of numpy arrays ({reason(error)}); "
        "other pickles are not read, because a pickle can run code"
    )
