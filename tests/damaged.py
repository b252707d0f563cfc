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
        outcome, sentence = _outcome(read)
        if sentence:
            assert missing is InputError, sentence
            assert "\n" not in sentence, sentence
        is_noticed = bool(sentence) or (missing is not InputError and outcome == missing)
        noticed += is_noticed
        assert is_noticed or outcome == before, f"bit {bit} of {path.name} gives {outcome!r:.300}, not {before!r:.300}"
    path.write_bytes(content)
    sealed._checked.cache_clear()
    assert noticed >= len(bits) // 3, f"{noticed} of {len(bits)} flips of {path.name} were noticed"


def _outcome(read: Callable[[], Any]) -> tuple[Any, str]:
    try:
        return read(), ""
    except InputError as error:
        return None, str(error)
