"""Checks what a pickle says about its numpy arrays, and makes the arrays.

Each name that numpy 1 and 2 write in a pickle stands for a function of this module. It accepts the kinds b, i, u, f, U
and S, with exactly the sizes and states that numpy writes, and makes arrays from bytes with ``np.frombuffer``. Other
kinds (O, V, M …) are refused, because numpy believes the state of a dtype: a file could turn its bytes into a pointer.
"""

import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.exchange.npy_headers import is_whole_text

SIZES: dict[str, tuple[int, ...]] = {
    "b": (1,),
    "i": (1, 2, 4, 8),
    "u": (1, 2, 4, 8),
    "f": tuple(sorted({2, 4, 8, np.dtype(np.longdouble).itemsize})),
}
"""The bytes that a number may have, by its kind. Texts (U) and bytes (S) may have any length."""
CHARACTER = {"U": 4, "S": 1}
"""The bytes of a character, by the kind of text."""
LONGEST_CELL = 1 << 20
"""The most characters of a text in an array."""
MOST_DIMENSIONS = 32
"""What numpy 1 allows."""


class RefusedPickle(Exception):
    """What the file holds that is not read, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class PickledName:
    """A name that a pickle may use, and the function of this module that it calls."""

    call: Callable[..., Any]

    def __repr__(self) -> str:
        return "a function"


class PickledDtype:
    """A dtype. The pickle gives its kind and size first, and its byte order as a state."""

    __slots__ = ("dtype", "kind", "size")

    def __init__(self, code: Any, align: Any, copy: Any) -> None:
        if type(code) is not str or not _is_flag(align) or not _is_flag(copy):
            raise RefusedPickle(f"it has an array of the type {reprlib.repr(code)}")
        self.kind, digits = code[:1], code[1:]
        known = digits.isascii() and digits.isdigit() and len(digits) < 8
        self.size = int(digits) if known else -1
        if not known or not (
            0 <= self.size <= LONGEST_CELL if self.kind in CHARACTER else self.size in SIZES.get(self.kind, ())
        ):
            raise RefusedPickle(f"it has an array of the type {reprlib.repr(code)}; only numbers and texts are read")
        self.dtype: np.dtype[Any] | None = None

    def __repr__(self) -> str:
        return "a type"

    def set_state(self, state: Any) -> None:
        """Take the byte order of a state that is, apart from it, the only one that numpy writes for this type."""
        width = CHARACTER.get(self.kind)
        layout = (self.size * width, width, 8 if self.kind == "U" else 0) if width else (-1, -1, 0)
        ordered = self.kind == "U" or (self.kind != "S" and self.size > 1)
        orders = "<>" if ordered else "|"
        whole = isinstance(state, tuple) and len(state) == 8 and type(state[1]) is str and len(state[1]) == 1
        if (
            self.dtype is not None
            or not whole
            or state[1] not in orders
            or state != (3, state[1], *[None] * 3, *layout)
        ):
            raise RefusedPickle(f"it has an array whose type has the state {reprlib.repr(state)}")
        self.dtype = np.dtype(f"{state[1]}{self.kind}{self.size}")


class PickledArray:
    """An array. The pickle begins it empty, and gives everything as a state."""

    __slots__ = ("array",)

    def __init__(self, kind: Any, shape: Any, letter: Any) -> None:
        if kind is not NDARRAY or type(letter) not in (bytes, str) or letter not in (b"b", "b"):
            raise RefusedPickle("it has an array of another kind than numpy's own")
        if type(shape) is not tuple or shape != (0,):
            raise RefusedPickle(f"it begins an array with the shape {reprlib.repr(shape)}")
        self.array: np.ndarray[Any, Any] | None = None

    def __repr__(self) -> str:
        return "an array"

    def set_state(self, state: Any) -> None:
        """Take shape, type, order and content."""
        if self.array is not None or type(state) is not tuple or len(state) != 5 or type(state[0]) is not int:
            raise RefusedPickle(f"it has an array with the state {reprlib.repr(state)}")
        _, shape, dtype, fortran, content = state
        if not _is_flag(fortran):
            raise RefusedPickle(f"it has an array with the order {reprlib.repr(fortran)}")
        array = _filled(content, dtype, shape, "F" if fortran else "C")
        self.array = array.astype(array.dtype.newbyteorder("="), copy=False)  # as numpy does for this way of writing


def _filled(content: Any, dtype: Any, shape: Any, order: str) -> np.ndarray[Any, Any]:
    """An array of bytes that are as many as its shape and its type need."""
    if type(content) not in (bytes, bytearray) or not isinstance(dtype, PickledDtype) or dtype.dtype is None:
        raise RefusedPickle("it has an array without content or type")
    if type(shape) is not tuple or len(shape) > MOST_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise RefusedPickle(f"it has an array of the shape {reprlib.repr(shape)}")
    count, size = math.prod(shape), dtype.dtype.itemsize
    if count * size != len(content) or (size == 0 and count > 1):
        raise RefusedPickle(
            f"it has an array of {count:,} values of {size} bytes, with {len(content):,} bytes for them"
        )
    if size == 0 or count == 0:
        return np.zeros(shape, dtype.dtype)
    flat = np.frombuffer(content, dtype.dtype)
    if not is_whole_text(flat):
        raise RefusedPickle("it has an array with an invalid text")
    if dtype.kind == "b" and (np.frombuffer(content, np.uint8) > 1).any():
        raise RefusedPickle("it has an array with a truth value that is neither 0 nor 1")
    return flat.reshape(shape, order="F" if order == "F" else "C")


def _buffered(content: Any, dtype: Any, shape: Any, order: Any, axes: Any = None) -> np.ndarray[Any, Any]:
    """How protocol 5 writes an array; ``axes`` says how the array is transposed, where ``order`` is K."""
    if type(order) is not str or order not in ("C", "F", "K") or (order == "K" and type(axes) is not tuple):
        raise RefusedPickle(f"it has an array with the order {reprlib.repr(order)}")
    array = _filled(content, dtype, shape, order)
    if order != "K":
        return array
    if not all(type(n) is int for n in axes) or sorted(axes) != list(range(array.ndim)):
        raise RefusedPickle(f"it has an array with the axes {reprlib.repr(axes)}")
    return array.transpose(axes)


def _scalar(dtype: Any, content: Any) -> Any:
    """One value of a type."""
    return _filled(content, dtype, (), "C")[()]


def _is_flag(value: Any) -> bool:
    return type(value) in (bool, int) and value in (0, 1)


def _latin1(text: Any, encoding: Any) -> bytes:
    """How protocols before 3 write bytes; any other codec is refused, because some of them unpack."""
    if type(encoding) is not str or encoding != "latin1" or type(text) is not str:
        raise RefusedPickle(f"it encodes with {reprlib.repr(encoding)}")
    return text.encode("latin1")


def _never(*_: Any) -> Any:
    raise RefusedPickle("it makes an array in a way that numpy does not write")


NDARRAY = PickledName(_never)
ADMITTED: dict[tuple[str, str], PickledName] = {
    (f"{prefix}.{module}", name): value
    for module, name, value in (
        ("multiarray", "_reconstruct", PickledName(PickledArray)),
        ("multiarray", "scalar", PickledName(_scalar)),
        ("numeric", "_frombuffer", PickledName(_buffered)),
    )
    for prefix in ("numpy.core", "numpy._core")
} | {
    ("numpy", "ndarray"): NDARRAY,
    ("numpy", "dtype"): PickledName(PickledDtype),
    ("_codecs", "encode"): PickledName(_latin1),
    ("__builtin__", "bytes"): PickledName(lambda: b""),  # how protocols before 3 write no bytes
}
"""Every name that a pickle may use, by module, in the spellings of numpy 1 and 2."""
