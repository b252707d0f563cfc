"""What can happen to a file on a disk: each damage takes a home and a file of it, and returns the files it changed."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

SECTORS = (512, 4096)


def flipped(content: bytes, bit: int) -> bytes:
    """The content with one other bit."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def flip(path: Path, siblings: list[Path], rng: Random) -> list[Path]:
    """Flip one bit."""
    content = path.read_bytes()
    return _written(path, flipped(content, 8 * rng.randrange(len(content)) + rng.randrange(8)))


def zeros(path: Path, siblings: list[Path], rng: Random) -> list[Path]:
    """Lose one sector: its bytes are zero."""
    content, size = path.read_bytes(), rng.choice(SECTORS)
    start = rng.randrange(0, len(content), size)
    lost = min(size, len(content) - start)
    return _written(path, content[:start] + bytes(lost) + content[start + lost :])


def cut(path: Path, siblings: list[Path], rng: Random) -> list[Path]:
    """Keep only the beginning, which may be nothing."""
    content = path.read_bytes()
    return _written(path, content[: rng.randrange(len(content))])


def doubled(path: Path, siblings: list[Path], rng: Random) -> list[Path]:
    """Write one block a second time, behind itself."""
    content, size = path.read_bytes(), rng.choice((16, *SECTORS))
    start = rng.randrange(len(content))
    end = min(start + size, len(content))
    return _written(path, content[:end] + content[start:])


def swapped(path: Path, siblings: list[Path], rng: Random) -> list[Path]:
    """Swap the file with that of another run, jury, …; the files themselves are whole."""
    if not siblings:
        return []
    other = rng.choice(siblings)
    own, theirs = path.read_bytes(), other.read_bytes()
    return [*_written(path, theirs), *_written(other, own)]


def foreign(path: Path, siblings: list[Path], rng: Random) -> list[Path]:
    """Put a copy of another one's file in the place, as a wrong restore does."""
    return _written(path, rng.choice(siblings).read_bytes()) if siblings else []


def _written(path: Path, content: bytes) -> list[Path]:
    """Replace the file, as a disk does it: its time stays. Returns nothing if that changes nothing."""
    if path.read_bytes() == content:
        return []
    times = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return [path]


DAMAGES: dict[str, Callable[[Path, list[Path], Random], list[Path]]] = {
    each.__name__: each for each in (flip, zeros, cut, doubled, swapped, foreign)
}
