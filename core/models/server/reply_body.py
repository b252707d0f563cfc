"""The body of a server's reply, read within limits: a server may be wrong, or mean harm.

A body is read piece by piece, after decompression, and no further than its limit. Texts that a person will read are
short and have no control characters.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.storage.json_text import loads, whole_texts

if TYPE_CHECKING:
    import aiohttp  # workers without a server count tokens with this module, and need no aiohttp

LARGEST = 4_000_000
"""Bytes of a reply about the server, such as the list of its models."""
LARGEST_ANSWER = 1_000_000
"""Bytes of a reply with tokens; many may be in flight."""
LARGEST_LISTED = 32_000_000
"""Bytes of a reply that lists all tokens of a vocabulary: 100 bytes for each of 260,000 tokens, and some to spare."""
ECHOED = 200
"""Bytes of a reply for each character of a text that it echoes, token by token with log-probabilities."""
OPTION = 200
"""Bytes of a reply for each option of a decision, with its probability."""
LARGEST_REFUSAL = 64_000
"""Bytes of a reply with an error; only a sentence of it is repeated."""
PIECE = 65_536
LONGEST_NAME = 200
MOST_COUNTED = 10**9
"""A larger number of tokens is a mistake."""
LARGEST_NUMBER = 1e18
SENTENCES = (
    "error", "errors", "message", "Message", "detail", "details", "msg", "error_description", "description", "reason",
    "fault", "faultstring", "title",
)  # fmt: skip
"""The keys under which servers put the sentence of an error, the usual ones first."""
DEEPEST = 5
"""How many of these keys may lie inside one another."""
UNPAID = re.compile(
    r"insufficient.?(?:quota|credit|balance|fund)|out of credits?|credit balance is too low", re.IGNORECASE
)
TITLE = re.compile(r"<title[^>]*>(.{0,500}?)</title", re.IGNORECASE | re.DOTALL)


class TooLargeError(ValueError):
    """A reply has more bytes than it may have."""


def limit_of(body: Mapping[str, Any] | None) -> int:
    """The most bytes that the reply to a request may have."""
    if body and (questions := body.get("questions")):
        asked = questions.values() if isinstance(questions, Mapping) else questions
        options = sum(len(each.get("criteria") or each.get("choices") or ()) for each in asked)
        return min(LARGEST, LARGEST_ANSWER + OPTION * options)
    if not body or not {"max_tokens", "max_completion_tokens"} & body.keys():
        return LARGEST
    if -1 in (body.get("logprobs"), body.get("top_logprobs")):
        return LARGEST_LISTED
    echoed = len(str(body.get("prompt", ""))) if body.get("echo") else 0
    return min(LARGEST_LISTED, LARGEST_ANSWER + ECHOED * echoed)


def error_text(content: bytes) -> str:
    """The sentence in the body of an error, in whatever form the server gives it; empty if there is none.

    >>> error_text(b'{"error": {"message": "No"}}'), error_text(b'{"detail": [{"loc": ["body", "n"], "msg": "bad"}]}')
    ('No', 'body.n: bad')
    >>> error_text(b"<html><title>502 Bad Gateway</title>"), error_text(b"not here")
    ('502 Bad Gateway', 'not here')
    """
    try:
        return _sentence(parsed(content))
    except ValueError:
        text = content.decode("utf-8", "replace").strip()
    if text.startswith(("{", "[")):  # JSON that is cut off
        return ""
    if "<" not in text[:200]:
        return text
    title = TITLE.search(text)
    return html.unescape(title[1]).strip() if title else ""


def error_value(values: Any) -> Any:
    """The error that a reply holds in place of an answer; None if it holds none."""
    if not isinstance(values, Mapping) or "choices" in values:
        return None
    if values.get("object") == "error" or values.get("type") == "error":
        return values.get("error") or values
    return values.get("error") or values.get("errors") or None


def status_in(error: Any) -> int:
    """The HTTP status that an error in a reply names as its code; 0 if it names none."""
    code = _code(error)
    return int(code) if code.isdecimal() and len(code) == 3 and code >= "400" else 0


def code_in(content: bytes) -> str:
    """The codes by which the body of an error calls it, such as ``content_filter``; empty if there is none."""
    try:
        values = parsed(content)
    except ValueError:
        return ""
    error = error_value(values)
    outer = error if error is not None else values
    inner = [outer.get(name) for name in ("innererror", "inner_error")] if isinstance(outer, Mapping) else []
    return " ".join(filter(None, map(_code, [outer, *inner])))


def is_unpaid(status: int, content: bytes) -> bool:
    """Whether an error says that the credit or the quota of the account is used up, which no waiting helps."""
    return status == 402 or bool(UNPAID.search(f"{code_in(content)} {error_text(content)[:1000]}"))


def _code(error: Any) -> str:
    if not isinstance(error, Mapping):
        return ""
    code = error.get("code") or error.get("status") or error.get("type")
    return str(code)[:LONGEST_NAME] if isinstance(code, (str, int)) and not isinstance(code, bool) else ""


def _sentence(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth >= DEEPEST:
        return ""
    if isinstance(value, list):
        return ", ".join(filter(None, (_sentence(item, depth + 1) for item in value[:3])))
    if not isinstance(value, Mapping):
        return ""
    sentence = next(filter(None, (_sentence(value.get(key), depth + 1) for key in SENTENCES)), "")
    place = value.get("loc")
    if sentence and isinstance(place, list):  # of a field, as pydantic says it
        return f"{'.'.join(map(str, place[:6]))}: {sentence}"
    behind = value.get("metadata")  # a router repeats there what the server behind it said
    raw = behind.get("raw") if isinstance(behind, Mapping) else None
    if (
        sentence
        and isinstance(raw, str)
        and (more := error_text(raw.encode("utf-8", "replace")))
        and more not in sentence
    ):
        return f"{sentence}: {more}"
    return sentence


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
    """The JSON value of a body (:func:`core.storage.json_text.loads`). Raises :class:`ValueError` for other content.

    An answer to a decision in which an option or a question is there twice has both values, so neither is taken."""
    return loads(whole_texts(content.decode("utf-8-sig", "surrogatepass")), repeated=b'"answers"' in content)


def number(value: Any) -> float:
    """A number as a float; NaN for anything else, and for one that is too large to be meant."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if known and abs(value) < LARGEST_NUMBER else math.nan


def mapping(value: Any) -> Mapping[str, Any]:
    """The value itself if it is a mapping, otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}


def entries_of(value: Any) -> list[Any]:
    """The value itself if it is a list, otherwise an empty one."""
    return value if isinstance(value, list) else []


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
