"""SQLite's write-ahead log, the file ``-wal`` that a killed process leaves: https://sqlite.org/fileformat2.html#walformat

SQLite ignores everything after a wrong checksum, as it must after a power cut, which leaves the last frame
unfinished. But a frame that others of the same log follow was finished, and so was one in which a single bit is wrong.
Changes would be lost without a word.
"""

import struct

HEADER, FRAME = 32, 24
"""The bytes at the beginning of the log, and before each page in it."""
WORD = 0xFFFFFFFF


def is_whole(content: bytes) -> bool:
    """Whether a log is as it was written, but for an unfinished end."""
    if len(content) <= HEADER:
        return True
    magic, _, page, _, salts, first, second = struct.unpack(">4L8s2L", content[:HEADER])
    order = ">" if magic & 1 else "<"
    sums = _sums(content[: HEADER - 8], order, (0, 0))
    if sums != (first, second) or not page:
        return False
    is_wrong = False
    for start in range(HEADER, len(content) - FRAME - page + 1, FRAME + page):
        frame = content[start : start + FRAME + page]
        if frame[8:16] != salts:  # of an earlier log, in whose place this one is written
            is_wrong = True
            if _different_bits(frame[8:16], salts) == 1:
                return False
            continue
        if is_wrong:
            return False
        sums = _sums(frame[:8] + frame[FRAME:], order, sums)
        first, second = struct.unpack(">2L", frame[16:FRAME])
        is_wrong = sums != (first, second)
        if is_wrong and (
            _different_bits(frame[16:FRAME], struct.pack(">2L", *sums)) == 1
            or _is_one_bit(first - sums[0], second - sums[1], pairs=(page + 8) // 8)
        ):
            return False
    return True


def _sums(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for x, y in struct.iter_unpack(f"{order}2L", content):
        first = (first + x + second) & WORD
        second = (second + y + first) & WORD
    return first, second


def _different_bits(first: bytes, second: bytes) -> int:
    return (int.from_bytes(first, "big") ^ int.from_bytes(second, "big")).bit_count()


def _is_one_bit(first: int, second: int, *, pairs: int) -> bool:
    """Whether checksums differ by this because one bit of one word among this many pairs differs.

    A difference (a, b) becomes (a + b, a + 2b) by each pair that follows, which is undone here pair by pair. In its own
    pair a first word's difference d is (d, d), a second one's (0, d).
    """
    for _ in range(pairs):
        first, second = first & WORD, second & WORD
        if first in (0, second) and 1 in (second.bit_count(), (-second & WORD).bit_count()):
            return True
        first, second = 2 * first - second, second - first
    return False
