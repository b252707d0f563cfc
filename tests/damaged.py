"""Files in which one bit is another one, for the tests of what reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.files import sealed


def flipped(content: bytes, bit: int) -> bytes:
    """The content with one other bit."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def check_flips(
    path: Path, read: Callable[[], Any], *, missing: Any = InputError, tries: int = 60, seed: int = 0
) -> None:
    """Flip random bits of a file, one at a time: ``read`` must give what it gave before, or one sentence.

    Where ``missing`` is a value, this value takes the place of the sentence. At least a third of the tries must be
    noticed, so that a test that reads another file fails.
    """
    content, before, noticed = path.read_bytes(), read(), 0
    bits = np.random.default_rng(seed).choice(8 * len(content), min(tries, 8 * len(content)), replace=False)
    for bit in bits.tolist():
        path.write_bytes(flipped(content, bit))
        sealed._checked.cache_clear()  # the clock may not tell apart the times of the file
        try:
            now = read()
        except InputError as error:
            assert missing is InputError, error
            assert str(error) and "\n" not in str(error), str(error)
            noticed += 1
            continue
        if missing is not InputError and now == missing:
            noticed += 1
        else:
            assert now == before, f"bit {bit} of {path.name} gives {now!r:.300}, and not {before!r:.300}"
    path.write_bytes(content)
    sealed._checked.cache_clear()
    assert noticed >= len(bits) // 3, f"{noticed} of {len(bits)} flips of {path.name} were noticed"
