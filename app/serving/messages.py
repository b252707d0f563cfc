"""Messages of Streamlit's protocol, checked before they are parsed.

A message of 2 MB can hold a million empty fields, which take thirty times its size when they are parsed. So the fields
are counted in the bytes: this needs no memory. The same count finds bytes that are no message of the protocol.
"""

from functools import cache
from typing import Any

import streamlit  # noqa: F401  so that protobuf knows its messages
from google.protobuf import descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from core.errors import InputError

MOST_FIELDS = 5000
"""A page of ours sends a few dozen. Four bytes of packed numbers count as a field, and four values of a JSON text."""
PACKED = "packed"
JSON = {"json_value": ",[{", "json_trigger_value": ",[{", "string_value": "[{"}
"""The letters that are counted in a widget's state. A string may be a text, or the JSON of a table's selection."""
DEEPEST = 20
COUNTED = frozenset(JSON.values())
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


@cache
def message_type(name: str) -> Any:
    """A type of message of Streamlit's protocol by its name, as protobuf knows it."""
    return message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))


def parsed(name: str, content: bytes) -> Any:
    """The message; None if it is broken."""
    try:
        return message_type(name).FromString(content)
    except DecodeError:
        return None


def fields(content: bytes) -> int:
    """How many fields a browser's message has, with those of the messages in it.

    Raises :class:`~core.errors.InputError` if they are more than :data:`MOST_FIELDS`, or if it is no message.
    """
    try:
        return _fields(content, 0, len(content), _parts("BackMsg"), MOST_FIELDS, DEEPEST)
    except IndexError:
        raise InputError("the message ends in the middle of a field; reload the page") from None


@cache
def _parts(name: str) -> dict[int, str]:
    """The fields of a message that hold more than one value: the name of the message in them, or what is counted."""
    parts: dict[int, str] = {}
    for field in message_type(name).DESCRIPTOR.fields:
        if field.message_type is not None:
            parts[field.number] = field.message_type.full_name
        elif field.is_packed:
            parts[field.number] = PACKED
        elif name == "WidgetState" and field.name in JSON:
            parts[field.number] = JSON[field.name]
    return parts


def _fields(content: bytes, at: int, end: int, parts: dict[int, str], left: int, depth: int) -> int:
    """The number of fields in ``content[at:end]``, of at most ``left``."""
    count = 0
    while at < end:
        count += 1
        if count > left or not depth:
            break
        key = content[at]
        if key < 0x80:
            at += 1
        else:
            key, at = _varint(content, at)
        kind = key & 7
        if kind == BYTES:
            length = content[at]
            if length < 0x80:
                at += 1
            else:
                length, at = _varint(content, at)
            if at + length > end:
                raise IndexError
            inner = parts.get(key >> 3)
            if inner == PACKED:
                count += length // 4
            elif inner in COUNTED:
                count += sum(content.count(letter.encode(), at, at + length) for letter in inner) // 4
            elif inner:
                count += _fields(content, at, at + length, _parts(inner), left - count, depth - 1)
            at += length
        elif kind == VARINT:
            _, at = _varint(content, at)
        elif kind in (FIXED64, FIXED32):
            at += 8 if kind == FIXED64 else 4
        else:
            raise InputError(f"a field has the kind {kind}, which no page sends; reload the page")
    if count > left or not depth:
        raise InputError(f"a message has at most {MOST_FIELDS:,} fields, this one has more; reload the page")
    if at > end:
        raise IndexError
    return count


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """The number at this place, and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise InputError("a number has more than ten bytes; reload the page")
