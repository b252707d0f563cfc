"""Files in which one bit is another one, for the tests of what reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError, RunError
from core.storage import sealed


def flipped(content: bytes, bit: int) -> bytes:
    """The content with one other bit."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def flip(path: Path) -> None:
    """Flip a bit in the middle of a file."""
    content = path.read_bytes()
    path.write_bytes(flipped(content, 4 * len(content)))


def check_flips(
    path: Path,
    read: Callable[[], Any],
    *,
    missing: Any = InputError,
    way_out: str = "",
    tries: int = 60,
    seed: int = 0,
    least: float = 1 / 3,
) -> None:
    """Flip random bits of a file, one at a time: ``read`` must give what it gave before, or one sentence that has the
    ``way_out``.

    ``missing`` is the kind of the error (``InputError`` or ``RunError``), or a value in the sentence's place. At least
    this share of the tries must be noticed, so that a test that reads another file fails.
    """
    content, before, noticed = path.read_bytes(), read(), 0
    bits = np.random.default_rng(seed).choice(8 * len(content), min(tries, 8 * len(content)), replace=False)
    for bit in bits.tolist():
        path.write_bytes(flipped(content, bit))
        sealed._checked.cache_clear()  # the clock may not tell apart the times of the file
        outcome, sentence = _outcome(read)
        if sentence:
            assert outcome is missing, sentence
            assert "\n" not in sentence, sentence
            assert way_out in sentence, sentence
        is_noticed = bool(sentence) or outcome == missing
        noticed += is_noticed
        assert is_noticed or outcome == before, f"bit {bit} of {path.name} gives {outcome!r:.300}, not {before!r:.300}"
    path.write_bytes(content)
    sealed._checked.cache_clear()
    assert noticed >= int(len(bits) * least), f"{noticed} of {len(bits)} flips of {path.name} were noticed"


def _outcome(read: Callable[[], Any]) -> tuple[Any, str]:
    """What is read, or the kind of the error and its sentence."""
    try:
        return read(), ""
    except (InputError, RunError) as error:
        return InputError if isinstance(error, InputError) else RunError, str(error)
