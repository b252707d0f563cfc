"""The body of a server's reply, read within limits: a server may be wrong, or mean harm.

A body is read piece by piece, after decompression, and no further than its limit. JSON is parsed into finite numbers
and a depth that Python can hold. Texts that a person will read are short and have no control characters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import aiohttp

LARGEST = 4_000_000
"""Bytes of a reply about the server, such as the list of its models."""
LARGEST_ANSWER = 1_000_000
"""Bytes of a reply with tokens, of which many may be in flight."""
LARGEST_LISTED = 32_000_000
"""Bytes of a reply that lists all tokens of a vocabulary: 100 bytes for each of 260,000 tokens, and some to spare."""
ECHOED = 200
"""Bytes of a reply for each character of a text that it echoes, token by token with log-probabilities."""
LARGEST_REFUSAL = 64_000
"""Bytes of a reply with an error, of which only a sentence is repeated."""
PIECE = 65_536
LONGEST_NAME = 200
MOST_COUNTED = 10**9
"""A larger number of tokens is a mistake."""
LARGEST_NUMBER = 1e18


class TooLargeError(ValueError):
    """A reply has more bytes than it may have."""


def limit_of(body: Mapping[str, Any] | None) -> int:
    """The most bytes that the reply to a request may have."""
    if not body or "max_tokens" not in body:
        return LARGEST
    if -1 in (body.get("logprobs"), body.get("top_logprobs")):
        return LARGEST_LISTED
    echoed = len(str(body.get("prompt", ""))) if body.get("echo") else 0
    return min(LARGEST_LISTED, LARGEST_ANSWER + ECHOED * echoed)


async def read(reply: aiohttp.ClientResponse, *, limit: int) -> bytes:
    """The whole body. Raises :class:`TooLargeError` as soon as it has more bytes than ``limit``."""
    content = bytearray()
    async for piece in reply.content.iter_chunked(PIECE):
        content += piece
        if len(content) > limit:
            reply.close()
            raise TooLargeError(f"more than {limit:,} bytes")
    return bytes(content)


def parsed(content: bytes) -> Any:
    """The JSON value of a body. Numbers that are too large for a float become NaN, and halves of a character "?".

    Raises :class:`ValueError` for what is no JSON.
    """
    try:
        values = _loaded(content)
        if b"\xed" in content or b"\\ud" in content.lower():  # perhaps half a character, which no file can hold
            return _loaded(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"))
        return values
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _loaded(content: bytes) -> Any:
    return json.loads(content, parse_float=_finite, parse_constant=lambda _: math.nan)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else math.nan


def number(value: Any) -> float:
    """A number as a float; NaN for anything else, and for one that is too large to be meant."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if known and abs(value) < LARGEST_NUMBER else math.nan


def count(value: Any) -> int:
    """A whole number from 0 up; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_COUNTED else 0


def clean(value: Any, longest: int = LONGEST_NAME) -> str:
    """A text from a server in one line of printable characters, cut where it is too long; empty if it is no text."""
    if not isinstance(value, str):
        return ""
    shown = "".join(letter if letter.isprintable() else " " for letter in value[: 4 * longest])
    line = " ".join(shown.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
