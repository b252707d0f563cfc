"""A table as bytes that a browser reads without a library, and that compress well.

``app/components/shared/table_files.js`` reads them. The bytes are the length of the head (uint32), the head as JSON,
then the columns. Numbers are little-endian: first the lowest byte of every row, then the next one of every row, and so
on. Rising whole numbers are given as differences. Texts are the lengths of their UTF-8 bytes, then the bytes.
"""

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def can_pack(table: pa.Table) -> bool:
    """Whether the table has only whole numbers, floats of 32 or 64 bits, and texts, and no value is missing."""
    return all(_is_number(column.type) or _is_text(column.type) for column in table.columns) and not any(
        column.null_count for column in table.columns
    )


def packed(table: pa.Table) -> bytes:
    """The bytes of a table for which :func:`can_pack` holds. Every value keeps all of its bits."""
    columns: list[tuple[str, str, bool, int]] = []
    parts = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if _is_text(column.type):
            texts = [text.encode() for text in column.to_pylist()]
            content = b"".join(texts)
            columns.append((name, "text", False, len(content)))
            parts += [_planes(np.fromiter(map(len, texts), np.uint32, len(texts))), content]
        else:
            values = column.to_numpy()
            rises = _rises(values)
            columns.append((name, values.dtype.name, rises, 0))
            parts.append(_planes(np.diff(values, prepend=values.dtype.type(0)) if rises else values))
    head = json.dumps({"rows": table.num_rows, "columns": columns}).encode()
    return b"".join([len(head).to_bytes(4, "little"), head, *parts])


def _rises(values: npt.NDArray[Any]) -> bool:
    return bool(values.dtype.kind in "iu" and values.size and values[0] >= 0 and (values[1:] >= values[:-1]).all())


def _planes(values: npt.NDArray[Any]) -> bytes:
    ordered = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return ordered.view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


def _is_text(kind: pa.DataType) -> bool:
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(values) or pa.types.is_large_string(values))
