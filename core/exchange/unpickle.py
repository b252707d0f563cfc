"""Reads pickles of numpy arrays and plain values as data, and refuses everything else.

A pickle is a program, so no unpickler runs here. This module knows the operations that build lists, dicts, tuples,
numbers, text and bytes, and the few names that numpy 1 and 2 write for an array. Each of those names stands for a
function of this module, which checks what it is given and hands bytes to ``np.frombuffer``. No object of numpy has a
state that a file can set, and no other name can be called.
"""

from __future__ import annotations

import codecs
import pickletools
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange.pickled_arrays import ADMITTED, PickledArray, PickledDtype, PickledName, RefusedPickle
from core.storage.json_text import whole_texts
from core.tables.safe_read import LARGEST_FILE, reason

DEEPEST = 32
"""How deeply lists, tuples and dicts may be nested."""
LONGEST_NUMBER = 9
"""The bytes of the largest whole number, 2⁶⁴ − 1, with its sign."""


def load_arrays(content: bytes, path: Path) -> Any:
    """The value of a pickle of arrays, lists, dicts, numbers and text.

    Raises :class:`InputError` that names the file and what it holds that is not admitted, or that it is damaged.
    """
    try:
        return _finished(_Machine(content).run(), {}, 0)[0]
    except (IndexError, KeyError) as error:
        raise _refusal(path, "it takes a value that is not there") from error
    except (RefusedPickle, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise _refusal(path, reason(error)) from error


def _refusal(path: Path, why: str) -> InputError:
    return InputError(
        f"{path} is not a complete pickle of numpy arrays ({why}); other pickles are not read, because a pickle can "
        "run code"
    )


def _finished(value: Any, sizes: dict[int, tuple[Any, int]], depth: int) -> tuple[Any, int]:
    """The value with its arrays in place, and its size in bytes if everything that is shared were written out.

    ``sizes`` are those of the lists, tuples and dicts so far, because a file of 1 kB can refer to one of them so often
    that nobody could read the whole.
    """
    kind = type(value)
    if kind in (str, bytes, bytearray):
        return value, 8 + len(value)
    if value is None or kind in (bool, int, float):
        return value, 8
    if isinstance(value, (PickledArray, np.ndarray, np.generic)):
        array = value.array if isinstance(value, PickledArray) else value
        if array is None:
            raise RefusedPickle("it begins an array and does not fill it")
        return array, 8 + int(array.nbytes)
    if kind not in (list, tuple, dict):
        raise RefusedPickle("it holds a type or a function where a value belongs")
    if id(value) in sizes:
        finished, size = sizes[id(value)]
        if size == 0:
            raise RefusedPickle("it holds a list that is in itself")
        return finished, size
    if depth == DEEPEST:
        raise RefusedPickle(f"its lists are nested more than {DEEPEST} deep")
    sizes[id(value)] = None, 0
    parts = [_finished(part, sizes, depth + 1) for part in (value.values() if kind is dict else value)]
    size = 8 + sum(size for _, size in parts) + (sum(map(_key_size, value)) if kind is dict else 0)
    if size > LARGEST_FILE:
        raise RefusedPickle(f"it repeats values so often that they are more than {LARGEST_FILE / 1e9:g} GB")
    made = (part for part, _ in parts)
    finished = dict(zip(value, made, strict=True)) if kind is dict else kind(made)
    sizes[id(value)] = finished, size
    return finished, size


def _key_size(key: Any) -> int:
    return 8 + len(key) if isinstance(key, str) else 8


# ---------------------------------------------------------------- the operations


class _Machine:
    """Carries out a pickle's operations. ``stack`` has what is on it since the last mark, ``marks`` what was below."""

    __slots__ = ("at", "content", "count", "marks", "memo", "stack")

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0
        self.count = 0
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value of the pickle."""
        content, known = self.content, OPERATIONS
        while self.at < len(content):
            code = content[self.at]
            self.at += 1
            if code == STOP:
                if len(self.stack) != 1 or self.marks:
                    raise RefusedPickle("it ends in the middle of a value")
                return self.stack[0]
            operation = known.get(code)
            if operation is None:
                raise RefusedPickle(f"it has the operation {NAMES.get(code, f'{code:#04x}')}")
            operation(self)
            self.count += 1
        raise RefusedPickle("it has no end")

    def take(self, size: int, kind: str = "value") -> bytes:
        """The next bytes."""
        begin, self.at = self.at, self.at + size
        if self.at > len(self.content):
            raise RefusedPickle(f"expected {size} bytes in a {kind}, but only {len(self.content) - begin} remain")
        return self.content[begin : self.at]

    def skip(self, size: int) -> None:
        self.take(size)

    def counted(self, width: int, kind: str) -> bytes:
        """Bytes after their number, which takes ``width`` bytes itself."""
        return self.take(int.from_bytes(self.take(width), "little"), kind)

    def line(self) -> str:
        """The rest of the line."""
        end = self.content.index(b"\n", self.at)
        line, self.at = self.content[self.at : end], end + 1
        return line.decode("latin1")

    def number(self, width: int) -> int:
        """The next bytes as a whole number without a sign."""
        return int.from_bytes(self.take(width), "little")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        """Take what is on the stack since the last mark, and the mark."""
        values, self.stack = self.stack, self.marks.pop()
        return values

    def last(self, count: int) -> tuple[Any, ...]:
        """Take the last values of the stack."""
        if len(self.stack) < count:
            raise RefusedPickle("it takes a value that is not there")
        values = tuple(self.stack[len(self.stack) - count :])
        del self.stack[len(self.stack) - count :]
        return values


def _mark(machine: _Machine) -> None:
    machine.marks.append(machine.stack)
    machine.stack = []


def _whole(digits: str) -> int | bool:
    """A whole number as protocol 0 writes it, where 00 and 01 are False and True."""
    if digits in ("00", "01"):
        return digits == "01"
    if len(digits) > 20:
        raise RefusedPickle(f"it has a whole number of {len(digits):,} digits")
    return int(digits)


def _signed(content: bytes) -> int:
    if len(content) > LONGEST_NUMBER:
        raise RefusedPickle(f"it has a whole number of {len(content):,} bytes")
    return int.from_bytes(content, "little", signed=True)


def _quoted(line: str) -> str:
    """A text as Python 2 writes it in protocol 0."""
    if len(line) < 2 or line[0] != line[-1] or line[0] not in "'\"":
        raise RefusedPickle("it has a text without quotation marks")
    return codecs.escape_decode(line[1:-1].encode("latin1"))[0].decode("ascii")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _escaped(line: str) -> str:
    """A text as Python 3 writes it in protocol 0."""
    return str(whole_texts(line.encode("latin1").decode("raw_unicode_escape")))


def _append(machine: _Machine) -> None:
    target, value = machine.last(2)
    _extend(target, [value])
    machine.push(target)


def _appends(machine: _Machine) -> None:
    values = machine.since_mark()
    _extend(machine.stack[-1], values)


def _extend(target: Any, values: list[Any]) -> None:
    if type(target) is not list:
        raise RefusedPickle("it appends to what is no list")
    target.extend(values)


def _set_item(machine: _Machine) -> None:
    target, *pair = machine.last(3)
    _update(target, pair)
    machine.push(target)


def _set_items(machine: _Machine) -> None:
    values = machine.since_mark()
    _update(machine.stack[-1], values)


def _update(target: Any, values: list[Any]) -> None:
    if type(target) is not dict or len(values) % 2:
        raise RefusedPickle("it sets a key of what is no dict")
    for key, value in zip(values[::2], values[1::2], strict=True):
        if key is not None and not isinstance(key, (str, bytes, int, float, np.generic)):
            raise RefusedPickle(f"it has a {type(key).__name__.strip('_').lower()} as the key of a dict")
        target[key] = value


def _dict(machine: _Machine) -> None:
    made: dict[Any, Any] = {}
    _update(made, machine.since_mark())
    machine.push(made)


def _name(machine: _Machine, module: Any, name: Any) -> None:
    if type(module) is not str or type(name) is not str or (module, name) not in ADMITTED:
        raise RefusedPickle(f"it names {reason(Exception(f'{module}.{name}'))}")
    machine.push(ADMITTED[module, name])


def _call(machine: _Machine) -> None:
    function, arguments = machine.last(2)
    if not isinstance(function, PickledName) or type(arguments) is not tuple:
        raise RefusedPickle("it calls what is no function")
    machine.push(function.call(*arguments))


def _build(machine: _Machine) -> None:
    (state,) = machine.last(1)
    target = machine.stack[-1]
    if not isinstance(target, (PickledDtype, PickledArray)):
        raise RefusedPickle("it gives a state to what has none")
    target.set_state(state)


def _remember(machine: _Machine, number: int) -> None:
    if not 0 <= number <= machine.count:
        raise RefusedPickle(f"it numbers an object {number}, after {machine.count} others")
    machine.memo[number] = machine.stack[-1]


def _protocol(machine: _Machine) -> None:
    if (protocol := machine.number(1)) > NEWEST_PROTOCOL:
        raise RefusedPickle(f"it is of protocol {protocol}, and {NEWEST_PROTOCOL} is the newest that is known")


NEWEST_PROTOCOL = 5
NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
STOP = ord(".")
OPERATIONS: dict[int, Callable[[_Machine], None]] = {
    ord(code): operation
    for code, operation in {
        "\x80": _protocol,
        "\x95": lambda m: m.skip(8),  # a frame's length, which helps with reading from a stream
        "(": _mark,
        # values
        "N": lambda m: m.push(None),
        "\x88": lambda m: m.push(True),
        "\x89": lambda m: m.push(False),
        "I": lambda m: m.push(_whole(m.line())),
        "L": lambda m: m.push(_whole(m.line().removesuffix("L"))),
        "J": lambda m: m.push(_signed(m.take(4))),
        "K": lambda m: m.push(m.number(1)),
        "M": lambda m: m.push(m.number(2)),
        "\x8a": lambda m: m.push(_signed(m.counted(1, "long1"))),
        "\x8b": lambda m: m.push(_signed(m.counted(4, "long4"))),
        "F": lambda m: m.push(float(m.line())),
        "G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
        "S": lambda m: m.push(_quoted(m.line())),
        "T": lambda m: m.push(m.counted(4, "string4").decode("ascii")),
        "U": lambda m: m.push(m.counted(1, "string1").decode("ascii")),
        "V": lambda m: m.push(_escaped(m.line())),
        "X": lambda m: m.push(_text(m.counted(4, "unicodestring4"))),
        "\x8c": lambda m: m.push(_text(m.counted(1, "unicodestring1"))),
        "\x8d": lambda m: m.push(_text(m.counted(8, "unicodestring8"))),
        "B": lambda m: m.push(m.counted(4, "bytes4")),
        "C": lambda m: m.push(m.counted(1, "bytes1")),
        "\x8e": lambda m: m.push(m.counted(8, "bytes8")),
        "\x96": lambda m: m.push(bytearray(m.counted(8, "bytearray8"))),
        # lists, tuples and dicts
        "]": lambda m: m.push([]),
        "l": lambda m: m.push(m.since_mark()),
        "a": _append,
        "e": _appends,
        ")": lambda m: m.push(()),
        "t": lambda m: m.push(tuple(m.since_mark())),
        "\x85": lambda m: m.push(m.last(1)),
        "\x86": lambda m: m.push(m.last(2)),
        "\x87": lambda m: m.push(m.last(3)),
        "}": lambda m: m.push({}),
        "d": _dict,
        "s": _set_item,
        "u": _set_items,
        # arrays
        "c": lambda m: _name(m, m.line(), m.line()),
        "\x93": lambda m: _name(m, *m.last(2)),
        "R": _call,
        "b": _build,
        # what was there before
        "\x94": lambda m: _remember(m, len(m.memo)),
        "p": lambda m: _remember(m, int(_whole(m.line()))),
        "q": lambda m: _remember(m, m.number(1)),
        "r": lambda m: _remember(m, m.number(4)),
        "g": lambda m: m.push(m.memo[int(_whole(m.line()))]),
        "h": lambda m: m.push(m.memo[m.number(1)]),
        "j": lambda m: m.push(m.memo[m.number(4)]),
    }.items()
}
"""The operations that are read, by their codes (:mod:`pickletools` explains each one)."""
