"""JSON from outside as values that can be stored: texts that are whole, and numbers that a float can hold."""

import json
import re
from collections import Counter
from typing import Any

LONE = re.compile(r"\\u[dD][89a-fA-F]")
"""The escape of one half of a character beyond U+FFFF. Programs that cut texts off leave one half alone."""
HUGE = re.compile(r"\d{300}")


def loads(text: str | bytes, *, repeated: bool = False, unique: bool = False) -> Any:
    """The value of a JSON document. Half characters become U+FFFD, and whole numbers beyond a float's range infinite.
    Of a key that an object has twice, the last value stays, or all of them in a list if ``repeated``.

    Raises :class:`ValueError` for what is no JSON, for what is nested too deeply to be read and, if keys must be
    ``unique``, for a key that an object has twice.

    >>> loads('["cut \\\\ud83d"]')
    ['cut \ufffd']
    >>> loads('{"a": 1, "a": 2}'), loads('{"a": 1, "a": 2}', repeated=True)
    ({'a': 2}, {'a': [1, 2]})
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    pairs = unique_object if unique else _object if repeated else None
    try:
        value = json.loads(text, parse_int=_whole if HUGE.search(text) else None, object_pairs_hook=pairs)
        return whole_texts(value) if LONE.search(text) else value
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < 300 else float(digits)


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ. Raises :class:`ValueError` otherwise: which value counts would be a guess."""
    values = dict(pairs)
    if len(values) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {key[:40]!r} twice")
    return values


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        values |= {key: [value for other, value in pairs if other == key] for key, n in counts.items() if n > 1}
    return values


def whole_texts(value: Any) -> Any:
    """The value with U+FFFD for each half character in its texts and keys."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole_texts(each) for each in value]
    if isinstance(value, dict):
        return {whole_texts(key): whole_texts(each) for key, each in value.items()}
    return value
