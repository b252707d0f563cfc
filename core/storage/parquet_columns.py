"""Columns of Parquet files, made from buffers.

``pyarrow.array`` and ``to_numpy`` import pandas the first time they are called, which takes a third of a second. A
worker does not need pandas, and columns made from buffers avoid the import.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_TYPES = {
    np.dtype(np.float64): pa.float64(),
    np.dtype(np.float32): pa.float32(),
    np.dtype(np.int32): pa.int32(),
    np.dtype(np.int16): pa.int16(),
}
Numbers = npt.NDArray[np.float64] | npt.NDArray[np.float32] | npt.NDArray[np.int32] | npt.NDArray[np.int16]


def texts(values: Sequence[str]) -> pa.StringArray:
    """A column of texts."""
    encoded = [value.encode() for value in values]
    buffers = [None, _offsets([len(each) for each in encoded]), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def text_lists(values: Sequence[Sequence[str]]) -> pa.ListArray:
    """A column of lists of texts."""
    within = texts([text for each in values for text in each])
    buffers = [None, _offsets([len(each) for each in values])]
    return pa.Array.from_buffers(pa.list_(pa.string()), len(values), buffers, children=[within])


def numbers(values: Numbers) -> pa.Array:
    """A column of numbers from an array of shape ``(n,)``."""
    return pa.Array.from_buffers(_TYPES[values.dtype], len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def number_rows(values: Numbers) -> pa.FixedSizeListArray:
    """A column of lists of one length from an array of shape ``(n, length)``."""
    return pa.FixedSizeListArray.from_arrays(numbers(values.ravel()), values.shape[1])


def array_of(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers of a column as an array of shape ``(n,)``, which may share its memory; missing ones are NaN."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if column.null_count or not numeric or not len(column):
        values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return values
    return np.from_dlpack(column)


def _offsets(lengths: Sequence[int]) -> pa.Buffer:
    return pa.py_buffer(np.cumsum([0, *lengths], dtype=np.int32))
