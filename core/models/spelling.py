"""Tokens and the text that they spell, where a token may hold only a part of a character.

A character that is no token of its own is written by tokens of its bytes. Such tokens have no spelling: tokenizers and
servers show them as �, as ``bytes:\\xe2\\x82``, as ``<0xE2>``, or as nothing until the character is complete.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from core.errors import InputError

MARK = "�"
PART = "▯"
"""Stands for a part of a character, as in a list of tokens."""
NAMED = "bytes:"
HEX = re.compile(rb"\\x([0-9a-f]{2})")
HEX_NAME = re.compile(r"<0x([0-9A-F]{2})>")
WHOLE = re.compile("[\x00-\x7f]?[^\x00-\x7f]")
"""A character that may be written by several tokens, with what is in front of it in the first of them."""
HALF = re.compile("[\ud800-\udfff]")
LONGEST_PART = 3
"""Bytes of a character that one � stands for."""
MOST_MARKS = 64
"""A token with more � is none."""
STEPS, MOST_STEPS = 50, 300_000
"""Places that are tried for each token on average, and in all, before a text counts as not spelled."""
IN_FRONT = 3
"""The most tokens in front of a text."""

LONGEST_TEXT = 20_000
"""The most characters of a text that is shown token by token."""
TOO_SHORT = "the text is a single token, with nothing before it to predict it from; write more"

Span = tuple[int, int]
"""The first byte and the end."""


def check_text(text: str) -> None:
    """Raise :class:`InputError` for a text that is empty, too long or has half a character."""
    if not text.strip():
        raise InputError("the text is empty; write at least two words")
    if (more := len(text) - LONGEST_TEXT) > 0:
        limit = f"a text can have at most {LONGEST_TEXT:,} characters"
        raise InputError(f"{limit}, got {len(text):,}; remove {more:,}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the text has a broken character at position {error.start + 1}; type it again") from error


def pieces(text: str, ends: Sequence[int], *, start: int = 0) -> tuple[str, ...]:
    """The part of ``text`` that each token adds, by the characters at which the tokens end; together they are the text
    from ``start`` on.

    A character belongs to the token in which it begins, and the others of its tokens add nothing.

    >>> pieces("a 😟!", [1, 3, 3, 3, 4])
    ('a', ' 😟', '', '', '!')
    """
    parts = []
    for i, end in enumerate(ends):
        end = len(text) if i == len(ends) - 1 else max(start, end)
        parts.append(text[start:end])
        start = end
    return tuple(parts)


def token_names(texts: Sequence[str]) -> list[tuple[str, str]]:
    """For readers, the name of each token by the ``texts`` that the tokens add (:func:`pieces`), and which part of a
    character it holds; the part is empty for a token of whole characters.

    >>> token_names(["a", " ü", "", "!"])
    [('a', ''), (' ü', 'part 1 of 2'), ('ü', 'part 2 of 2'), ('!', '')]
    """
    names = []
    shown = [i for i, text in enumerate(texts) if text or not i]
    for first, end in pairwise([*shown, len(texts)]):
        tokens = end - first
        for part in range(1, tokens + 1):
            name = texts[first] if part == 1 else texts[first][-1:]
            names.append((name, f"part {part} of {tokens}" if tokens > 1 else ""))
    return names


def in_words(token: str) -> str:
    """The text of an expected token, with its parts of characters in words.

    >>> in_words(" ▯")
    ' (part of a character)'
    """
    return token.replace(PART, "(part of a character)")


def with_parts_marked(token: str) -> str:
    """A token's text for readers: bytes that are only a part of a character as ▯.

    >>> with_parts_marked(" �"), with_parts_marked("bytes:\\\\xe2\\\\x82")
    (' ▯', '▯')
    """
    raw = _named_bytes(token)
    text = token if raw is None else raw.decode("utf-8", "replace")
    return re.sub(f"{MARK}+", PART, text)


def spans_of(tokens: Sequence[str], text: str, *, needed: int) -> list[Span] | None:
    """The bytes of ``text`` that each of ``tokens`` spells, if these spell at least its end from character ``needed``
    on; else None.

    Tokens in front of the text, such as one that begins every text, get no bytes of it. Tokens are placed from the last
    one on, and placed again where the ones before do not fit; the time grows with the number of tokens alone.
    """
    joined = "".join(tokens)
    if joined.isascii() and "\\x" not in joined and "<0x" not in joined and not joined.endswith(text[needed:]):
        return None
    data, most = text.encode(), len(text[:needed].encode())
    parts = next((i for i, token in enumerate(tokens) if _is_part(token)), len(tokens))
    sizes = list(map(_least, tokens))
    # Where parts of characters leave more than one way, the one with the fewest tokens in front of the text is right.
    fewer = range(IN_FRONT) if parts < len(tokens) else ()
    tries = [*((0, front) for front in fewer), (most, min(IN_FRONT, parts))]
    spans = next(filter(None, (_placed(tokens, sizes, data, most=end, front=front) for end, front in tries)), None)
    return None if spans is None else _completed(tokens, spans)


def _placed(tokens: Sequence[str], sizes: Sequence[int], data: bytes, *, most: int, front: int) -> list[Span] | None:
    """The bytes of each token if they spell ``data``, or its end from ``most`` or an earlier byte on; at most ``front``
    tokens are in front of it. ``sizes`` are the fewest bytes of each."""
    least = [0, *accumulate(size if i >= front else 0 for i, size in enumerate(sizes))]
    if least[-1] > len(data) and not most:
        return None
    shown = [0, *accumulate(bool(token) for token in tokens)]
    ends = [len(data)]
    starts = [_starts(tokens[-1], data, len(data)) if tokens else iter(())]
    dead: set[tuple[int, int]] = set()  # (tokens that are left, where the last of them ends)
    for _ in range(min(STEPS * len(tokens), MOST_STEPS) + 2 * len(tokens) + 1):
        left = len(tokens) + 1 - len(ends)
        start = next((at for at in starts[-1] if at >= least[left - 1] and (left - 1, at) not in dead), None)
        if start is not None:
            ends.append(start)
            starts.append(_starts(tokens[left - 2], data, start) if left > 1 and start else iter(()))
        elif ends[-1] <= most and (ends[-1] or shown[left] <= front):
            return [(ends[-1], ends[-1])] * left + [(start, end) for end, start in pairwise(ends)][::-1]
        else:
            dead.add((left, ends.pop()))
            starts.pop()
            if not ends:
                return None
    return None


def _is_part(token: str) -> bool:
    return MARK in token or _named_bytes(token) is not None


def _least(token: str) -> int:
    """The fewest bytes that a token spells."""
    raw = _named_bytes(token)
    return len(token) if raw is None else len(raw)


def _completed(tokens: Sequence[str], spans: list[Span]) -> list[Span]:
    """The spans where a server shows nothing for the parts of a character but for the last, which it shows whole: the
    first part gets it, as in :func:`pieces`. The first token of all may be one that begins every text."""
    i = 1
    while i < len(spans):
        start, last = spans[i][0], next((j for j in range(i, len(spans)) if tokens[j]), len(spans))
        if last == len(spans):
            break
        if last > i and (whole := WHOLE.match(tokens[last])):
            after = start + len(whole[0].encode())
            spans[i : last + 1] = [(start, after), *[(after, after)] * (last - i - 1), (after, spans[last][1])]
        i = last + 1
    return spans


def ends_of(text: str, spans: Sequence[Span]) -> list[int]:
    """How many characters of ``text`` begin before each span's end."""
    begins = [0, *accumulate(len(character.encode()) for character in text)]
    return [bisect_left(begins, end) for _, end in spans]


def _starts(token: str, data: bytes, end: int) -> Iterator[int]:
    """Where a token may begin that ends at ``end`` of ``data``."""
    spelled = token if token.isascii() else HALF.sub(MARK, token)
    for raw in (spelled.encode(), _named_bytes(token)):
        if raw is None:
            continue
        if data.endswith(raw, 0, end):
            yield end - len(raw)
        elif len(raw) > end and raw.endswith(data[:end]):  # the first token, with a space in front
            yield 0
    if not spelled.isascii() and 0 < (marks := spelled.count(MARK)) <= MOST_MARKS:
        least = len(spelled.replace(MARK, "").encode()) + marks
        for n in range(min(end, least + (LONGEST_PART - 1) * marks), least - 1, -1):
            if data[end - n : end].decode("utf-8", "replace") == spelled:
                yield end - n


def _named_bytes(token: str) -> bytes | None:
    """The bytes of a token that is shown by their names."""
    if not token.startswith((NAMED, "<0x")):
        return None
    if match := HEX_NAME.fullmatch(token):
        return bytes.fromhex(match[1])
    if "\\x" in token:
        rest = HALF.sub(MARK, token.removeprefix(NAMED)).encode()
        return HEX.sub(lambda match: bytes.fromhex(match[1].decode()), rest)
    return None


def exact(token: str, raw: bytes) -> str:
    """The token's text, or the names of its bytes ``raw`` if these are only parts of characters.

    >>> exact("�", b"\\xe2\\x80"), exact("bytes: \\\\xc3", b" \\xc3"), exact("a", b"a")
    ('bytes:\\\\xe2\\\\x80', 'bytes: \\\\xc3', 'a')
    """
    try:
        return raw.decode() or token
    except UnicodeDecodeError:
        return NAMED + "".join(chr(byte) if byte < 0x80 else f"\\x{byte:02x}" for byte in raw)


def composed(text: str) -> str:
    """The text with characters and their marks as one, as many tokenizers write it."""
    return unicodedata.normalize("NFC", text)
