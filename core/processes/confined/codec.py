"""The messages of a process with limits to its caller: JSON, and the bytes of arrays. The caller trusts none of them.

A message is a sequence of frames, each a letter, a length and its content. ``A`` holds the bytes of an array and ``J``
a part of a long list; the last frame refers to both by their numbers. The last frame is ``S`` for a value that was
sent, ``V`` for the value that the function returned, and ``E`` for an error. No message names a module or a function:
the caller says which type it expects, and :func:`decoder` builds that type or refuses the message.

Each JSON object has one key, which says what it stands for: the name of a dataclass with its fields in order, ``""`` a
dict, ``"+"`` the parts of a long list, ``"#"`` an array, ``"|"`` the columns of a table.
"""

import json
import math
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from core import errors
from core.errors import HedgeError, InputError, RunError
from core.storage.json_text import loads

ARRAY, PART, SENT, RETURNED, FAILED = b"A", b"J", b"S", b"V", b"E"
LONGEST_JSON = 16 << 20
"""The bytes of a frame of JSON. Parsed JSON takes up to twenty times as much memory."""
MOST_VALUES = 2_000_000
"""The values of a frame of JSON, where an empty list alone takes 56 bytes of memory."""
MOST_FRAMES = 100_000
"""The frames of one message."""
ROWS = 1_000
"""The entries of a list that one frame holds."""
DEEPEST = 32
"""How deeply values may be nested."""
TABLE_TYPES = {str(kind): kind for kind in (pa.null(), pa.bool_(), pa.int64(), pa.uint64(), pa.float64(), pa.string())}
"""The types of a table's columns. Columns of other types are sent as text."""
ARRAY_TYPES = {"|b1", "|i1", "|u1"} | {f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)}
ERRORS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, HedgeError) and kind.__init__ is HedgeError.__init__
}
"""The errors that a process may raise in its caller, by name."""


class Misunderstood(Exception):
    """A message is not what the caller expects."""


# ---------------------------------------------------------------- the sender


class Writer:
    """Writes messages by ``write``, which takes bytes."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._frames = 0

    def send(self, value: Any, *, letter: bytes = SENT) -> None:
        """Write a value of dataclasses, lists, tuples, dicts with texts as keys, arrays, tables and plain values."""
        self._frames = 0
        self._frame(letter, self._json(self._plain(value)))

    def fail(self, error: BaseException) -> None:
        """Write an error: one of Hedge's own by its name, another one as a sentence on it."""
        known = type(error).__name__ if type(error).__name__ in ERRORS else "InputError"
        own = isinstance(error, HedgeError)
        text = str(error) if own else f"reading it failed ({type(error).__name__}: {error})"[:300]
        self.send([known if own else "RunError", text], letter=FAILED)

    def _frame(self, letter: bytes, content: bytes | memoryview) -> int:
        number, self._frames = self._frames, self._frames + 1
        self._write(letter + len(content).to_bytes(8, "little"))
        self._write(bytes(content))
        return number

    def _json(self, value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    def _plain(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (str, int, float, bool):
            return value
        if is_dataclass(value):
            return {kind.__name__: [self._plain(getattr(value, field.name)) for field in fields(value) if field.init]}
        if isinstance(value, (list, tuple)):
            if len(value) <= ROWS:
                return [self._plain(entry) for entry in value]
            return {"+": [n for at in range(0, len(value), ROWS) for n in self._parts(value[at : at + ROWS])]}
        if isinstance(value, dict):
            return {"": {_text(key): self._plain(entry) for key, entry in value.items()}}
        if isinstance(value, np.ndarray):
            array = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
            number = self._frame(ARRAY, array.reshape(-1).view(np.uint8).data if array.size else b"")
            return {"#": [number, array.dtype.str, list(value.shape)]}
        if isinstance(value, pa.Table):
            names = value.column_names
            return {"|": [[name, *self._column(value.column(i))] for i, name in enumerate(names)]}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, PurePath):
            return str(value)
        raise TypeError(f"{kind.__name__} is no value of a message")

    def _parts(self, rows: Sequence[Any]) -> list[int]:
        """The numbers of the frames that hold these rows: fewer rows each where they are long."""
        content = self._json([self._plain(row) for row in rows])
        if len(content) <= LONGEST_JSON:
            return [self._frame(PART, content)]
        if len(rows) == 1:
            most = LONGEST_JSON >> 20
            raise InputError(f"one of its rows has {len(content) / 1e6:.0f} MB, and at most {most} are read")
        half = len(rows) // 2
        return self._parts(rows[:half]) + self._parts(rows[half:])

    def _column(self, column: pa.ChunkedArray) -> tuple[str, list[Any]]:
        kind, values = str(column.type), column.to_pylist()
        if kind not in TABLE_TYPES:
            kind, values = "string", [None if value is None else str(value) for value in values]
        return kind, values


def _text(key: Any) -> str:
    if type(key) is not str:
        raise TypeError(f"{key!r} is no key of a message")
    return key


# ---------------------------------------------------------------- the receiver

Frames = dict[int, bytes]
Decoder = Callable[[Any, Frames], Any]


class Reader:
    """Reads messages by ``read``, which takes a number of bytes; a message may have ``most`` bytes."""

    def __init__(self, read: Callable[[int], bytes], *, most: int) -> None:
        self._read = read
        self._most = most
        self.received = 0
        """The bytes of all messages so far."""

    def receive(self, kind: Any) -> tuple[bytes, Any]:
        """The letter of the next message and its value, of type ``kind``.

        Raises :class:`Misunderstood` for another message, and the error that a message says.
        """
        frames: Frames = {}
        left = self._most
        for number in range(MOST_FRAMES):
            head = self._read(9)
            letter, size = head[:1], int.from_bytes(head[1:], "little")
            left -= size
            self.received += size
            if left < 0 or (letter != ARRAY and size > LONGEST_JSON):
                raise Misunderstood(f"a frame of {size} bytes")
            if letter in (SENT, RETURNED, FAILED):
                content = _parsed(self._read(size))
                if letter == FAILED:
                    _raise(content)
                try:
                    return letter, decoder(kind)(content, frames)
                except (HedgeError, ValueError, TypeError, AttributeError, IndexError, OverflowError) as error:
                    raise Misunderstood(str(error)) from error
            if letter not in (ARRAY, PART):
                raise Misunderstood(f"a frame {letter!r}")
            frames[number] = self._read(size)
        raise Misunderstood("too many frames")


def _parsed(content: bytes) -> Any:
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Misunderstood("too many values")
    try:
        return loads(content)
    except (ValueError, RecursionError) as error:
        raise Misunderstood(str(error)) from error


def _raise(content: Any) -> NoReturn:
    name, text = decoder(tuple[str, str])(content, {})
    raise ERRORS.get(name, RunError)(text)


@cache
def decoder(kind: Any) -> Decoder:
    """The function that makes a value of a type from what JSON holds, or raises :class:`Misunderstood`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (Any, object):
        return lambda value, frames: _any(value, frames, 0)
    if kind in SCALARS:
        return SCALARS[kind]
    if origin in (Union, types.UnionType):
        return _either([decoder(argument) for argument in arguments])
    if origin is Literal:
        return lambda value, frames: value if type(value) is str and value in arguments else _odd(value)
    if origin is tuple and arguments[-1:] != (...,):
        return _fixed([decoder(argument) for argument in arguments])
    if origin in (tuple, list):
        return _listed(origin, decoder(arguments[0]))
    if origin is dict and arguments[0] is str:
        inner = decoder(arguments[1])
        return lambda value, frames: {key: inner(entry, frames) for key, entry in _marked(value, "", dict).items()}
    if origin is np.ndarray:
        return _array(get_args(arguments[1])[0])
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(kind)
    raise TypeError(f"{kind} is no type of a message")


def _odd(value: Any) -> NoReturn:
    raise Misunderstood(f"a {type(value).__name__}")


def _marked(value: Any, mark: str, kind: type) -> Any:
    """What an object with one key holds."""
    if type(value) is dict and len(value) == 1 and type(value.get(mark)) is kind:
        return value[mark]
    _odd(value)


def _scalar(*kinds: type) -> Decoder:
    return lambda value, frames: value if type(value) in kinds else _odd(value)


def _path(value: Any, frames: Frames) -> Path:
    return Path(value) if type(value) is str and "\0" not in value else _odd(value)


def _table(value: Any, frames: Frames) -> pa.Table:
    names, columns = [], []
    for column in _marked(value, "|", list):
        name, kind, values = column if type(column) is list and len(column) == 3 else _odd(column)
        if type(name) is not str or type(kind) is not str or kind not in TABLE_TYPES or type(values) is not list:
            _odd(column)
        names.append(name)
        columns.append(pa.array(values, TABLE_TYPES[kind]))
    return pa.Table.from_arrays(columns, names=names)


SCALARS: dict[Any, Decoder] = {
    str: _scalar(str),
    bool: _scalar(bool),
    int: _scalar(int),
    float: _scalar(float, int),
    None: _scalar(type(None)),
    type(None): _scalar(type(None)),
    Path: _path,
    pa.Table: _table,
}


def _any(value: Any, frames: Frames, depth: int) -> Any:
    """A plain value: lists, dicts, numbers and text."""
    if depth > DEEPEST:
        raise Misunderstood("values that are nested too deeply")
    if type(value) is list or (type(value) is dict and "+" in value):
        return [_any(entry, frames, depth + 1) for entry in _entries(value, frames)]
    if type(value) is dict:
        return {key: _any(entry, frames, depth + 1) for key, entry in _marked(value, "", dict).items()}
    return value


def _either(kinds: Sequence[Decoder]) -> Decoder:
    def decode(value: Any, frames: Frames) -> Any:
        for decode_entry in kinds:
            try:
                return decode_entry(value, frames)
            except Misunderstood:
                continue
        _odd(value)

    return decode


def _fixed(kinds: Sequence[Decoder]) -> Decoder:
    def decode(value: Any, frames: Frames) -> Any:
        if type(value) is not list or len(value) != len(kinds):
            _odd(value)
        return tuple(decode_entry(part, frames) for decode_entry, part in zip(kinds, value, strict=True))

    return decode


def _listed(kind: Callable[[Iterator[Any]], Any], inner: Decoder) -> Decoder:
    return lambda value, frames: kind(inner(entry, frames) for entry in _entries(value, frames))


def _entries(value: Any, frames: Frames) -> Iterator[Any]:
    """The entries of a list, which may have come in parts."""
    if type(value) is list:
        yield from value
        return
    for number in _marked(value, "+", list):
        yield from _checked_list(_parsed(_frame(number, frames)))


def _checked_list(value: Any) -> list[Any]:
    return value if type(value) is list else _odd(value)


def _frame(number: Any, frames: Frames) -> bytes:
    """A frame, which is used once, so that a short message can't stand for a long one."""
    return frames.pop(number) if type(number) is int and number in frames else _odd(number)


def _array(scalar: Any) -> Decoder:
    kinds = "biuf" if scalar is Any else np.dtype(scalar).kind

    def decode(value: Any, frames: Frames) -> np.ndarray[Any, Any]:
        marked = _marked(value, "#", list)
        number, code, shape = marked if len(marked) == 3 else _odd(value)
        if type(code) is not str or code not in ARRAY_TYPES or code[1] not in kinds or type(shape) is not list:
            _odd(value)
        if len(shape) > 4 or not all(type(n) is int and n >= 0 for n in shape):
            _odd(shape)
        content, dtype = _frame(number, frames), np.dtype(code)
        if math.prod(shape) * dtype.itemsize != len(content):
            raise Misunderstood("an array of another size than it says")
        return np.frombuffer(content, dtype).reshape(shape).astype(dtype.newbyteorder("="))

    return decode


def _record(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    inner = [decoder(hints[field.name]) for field in fields(kind) if field.init]
    name, count = kind.__name__, len(inner)

    def decode(value: Any, frames: Frames) -> Any:
        values = _marked(value, name, list)
        if len(values) != count:
            _odd(value)
        return kind(*[decode_field(part, frames) for decode_field, part in zip(inner, values, strict=True)])

    return decode
