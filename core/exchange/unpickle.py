"""Reads pickles of numpy arrays and plain values, and refuses everything else.

A pickle is a program. This reader allows only the few functions that rebuild an array and refuses every other name, so
a file from outside can't run code.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core import multiarray, numeric

from core.errors import InputError


def _latin1(text: str, encoding: str) -> bytes:
    """How protocols before 3 write bytes; any other codec is refused, because some of them unpack."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it encodes with {encoding!r}")
    return text.encode("latin1")


ADMITTED: dict[tuple[str, str], Any] = {
    (module, name): value
    for prefix in ("numpy.core", "numpy._core")
    for module, name, value in (
        (f"{prefix}.multiarray", "_reconstruct", multiarray._reconstruct),
        (f"{prefix}.multiarray", "scalar", multiarray.scalar),
        (f"{prefix}.numeric", "_frombuffer", vars(numeric)["_frombuffer"]),
    )
} | {("numpy", "ndarray"): np.ndarray, ("numpy", "dtype"): np.dtype, ("_codecs", "encode"): _latin1}
"""Every name that a pickle may use, by module, in the spellings of numpy 1 and 2."""


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        try:
            return ADMITTED[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module_name}.{global_name}") from None


def load_arrays(content: bytes, path: Path) -> Any:
    """The value of a pickle of arrays, lists, dicts, numbers and text.

    Raises :class:`InputError` that names the file and what it holds that is not admitted, or that it is damaged.
    """
    try:
        return _ArrayUnpickler(io.BytesIO(content)).load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, IndexError, KeyError) as error:
        raise InputError(_sentence(path, error)) from error
    except (AttributeError, OverflowError, MemoryError, RecursionError, ImportError) as error:
        raise InputError(_sentence(path, error)) from error


def _sentence(path: Path, error: BaseException) -> str:
    return (
        f"{path} is not a complete pickle of numpy arrays ({str(error)[:120] or type(error).__name__}); "
        "other pickles are not read, because a pickle can run code"
    )
