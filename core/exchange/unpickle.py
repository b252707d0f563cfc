"""Reads pickles of numpy arrays and plain values as data, and refuses everything else.

A pickle is a program, so no unpickler runs here. This module knows the operations that build lists, dicts, tuples,
numbers, text and bytes, and the few names that numpy 1 and 2 write for an array. Each of those names stands for a
function of this module, which checks what it is given and hands bytes to ``np.frombuffer``. No object of numpy has a
state that a file can set, and no other name can be called.
"""

import pickletools
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
    """The value of a pickle of arrays, lists, dicts, numbers and text. Raises :class:`InputError` that names the file
    and what it holds that is not admitted, or that it is damaged."""
    try:
        return _finished(_Machine().run(content), {}, 0)[0]
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
    finished_parts = (part for part, _ in parts)
    finished = dict(zip(value, finished_parts, strict=True)) if kind is dict else kind(finished_parts)
    sizes[id(value)] = finished, size
    return finished, size


def _key_size(key: Any) -> int:
    return 8 + len(key) if isinstance(key, str) else 8


# ---------------------------------------------------------------- the operations


class _Machine:
    """Carries out a pickle's operations. ``stack`` has what is on it since the last mark, ``marks`` what was below."""

    __slots__ = ("count", "marks", "memo", "stack")

    def __init__(self) -> None:
        self.count = 0
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self, content: bytes) -> Any:
        """The value of the pickle. :func:`pickletools.genops` takes its operations apart and runs none."""
        for opcode, argument, _ in pickletools.genops(content):
            operation = OPERATIONS.get(opcode.name)
            if operation is None:
                raise RefusedPickle(f"it has the operation {opcode.name}")
            operation(self, argument)
            self.count += 1
        if len(self.stack) != 1 or self.marks:
            raise RefusedPickle("it ends in the middle of a value")
        return self.stack[0]

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


def _number(machine: _Machine, number: int) -> None:
    if number.bit_length() >= 8 * LONGEST_NUMBER:
        raise RefusedPickle(f"it has a whole number of {number.bit_length() // 8 + 1:,} bytes")
    machine.push(number)


def _ascii(machine: _Machine, text: str) -> None:
    """A text as Python 2 writes it."""
    if not text.isascii():
        raise RefusedPickle("it has a text of Python 2 that is not ASCII")
    machine.push(text)


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
    machine.push(_updated(target, pair))


def _set_items(machine: _Machine) -> None:
    values = machine.since_mark()
    _updated(machine.stack[-1], values)


def _updated(target: Any, values: list[Any]) -> Any:
    if type(target) is not dict or len(values) % 2:
        raise RefusedPickle("it sets a key of what is no dict")
    for key, value in zip(values[::2], values[1::2], strict=True):
        if key is not None and not isinstance(key, (str, bytes, int, float, np.generic)):
            raise RefusedPickle(f"it has a {type(key).__name__.strip('_').lower()} as the key of a dict")
        target[key] = value
    return target


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


def _protocol(machine: _Machine, protocol: int) -> None:
    if protocol > NEWEST_PROTOCOL:
        raise RefusedPickle(f"it is of protocol {protocol}, and {NEWEST_PROTOCOL} is the newest that is known")


NEWEST_PROTOCOL = 5
OPERATIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": _protocol,
    "MARK": lambda m, _: _mark(m),
    **dict.fromkeys(("FRAME", "STOP"), lambda m, _: None),  # a frame's length helps with reading from a stream
    # values
    "NONE": lambda m, _: m.push(None),
    "NEWTRUE": lambda m, _: m.push(True),
    "NEWFALSE": lambda m, _: m.push(False),
    **dict.fromkeys(("INT", "LONG", "BININT", "BININT1", "BININT2", "LONG1", "LONG4"), _number),
    **dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), _ascii),
    **dict.fromkeys(
        ("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"), lambda m, text: m.push(whole_texts(text))
    ),
    **dict.fromkeys(("FLOAT", "BINFLOAT"), _Machine.push),
    **dict.fromkeys(("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"), _Machine.push),
    # lists, tuples and dicts
    "EMPTY_LIST": lambda m, _: m.push([]),
    "LIST": lambda m, _: m.push(m.since_mark()),
    "APPEND": lambda m, _: _append(m),
    "APPENDS": lambda m, _: _appends(m),
    "EMPTY_TUPLE": lambda m, _: m.push(()),
    "TUPLE": lambda m, _: m.push(tuple(m.since_mark())),
    "TUPLE1": lambda m, _: m.push(m.last(1)),
    "TUPLE2": lambda m, _: m.push(m.last(2)),
    "TUPLE3": lambda m, _: m.push(m.last(3)),
    "EMPTY_DICT": lambda m, _: m.push({}),
    "DICT": lambda m, _: m.push(_updated({}, m.since_mark())),
    "SETITEM": lambda m, _: _set_item(m),
    "SETITEMS": lambda m, _: _set_items(m),
    # arrays
    "GLOBAL": lambda m, names: _name(m, *names.split(" ", 1)),
    "STACK_GLOBAL": lambda m, _: _name(m, *m.last(2)),
    "REDUCE": lambda m, _: _call(m),
    "BUILD": lambda m, _: _build(m),
    # what was there before
    "MEMOIZE": lambda m, _: _remember(m, len(m.memo)),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _remember),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda m, number: m.push(m.memo[number])),
}
"""The operations that are read, by their names (:mod:`pickletools` explains each one)."""
