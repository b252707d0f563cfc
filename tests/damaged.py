"""Damaged files, for the tests of what reads them."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from core.errors import InputError, RunError
from core.storage import sealed
from tests.damage.damages import DAMAGES, flipped

IN_PLACE = ("flip", "zeros", "cut", "doubled")
"""The damages that need no other file."""


def flip(path: Path) -> None:
    """Flip a bit in the middle of a file."""
    content = path.read_bytes()
    path.write_bytes(flipped(content, 4 * len(content)))


def check_damages(
    path: Path,
    read: Callable[[], Any],
    *,
    missing: Any = InputError,
    way_out: str = "",
    tries: int = 50,
    seed: int = 0,
    least: float = 1 / 3,
) -> None:
    """Damage a file in one place at a time: ``read`` must give what it gave before, or one sentence that has the
    ``way_out``.

    ``tries`` are those of a flipped bit, the other damages have a tenth of them. ``missing`` is the kind of the error
    (``InputError`` or ``RunError``), or a value in the sentence's place. At least this share of the tries must be
    noticed, so that a test that reads another file fails.
    """
    content, before, noticed = path.read_bytes(), read(), []
    for damage in IN_PLACE:
        for number in range(tries if damage == "flip" else tries // 10):
            path.write_bytes(content)
            if not DAMAGES[damage](path, [], Random(f"{seed}|{damage}|{number}")):
                continue
            sealed._checked.cache_clear()  # the clock may not tell apart the times of the file
            outcome, sentence = _outcome(read)
            if sentence:
                assert outcome is missing, sentence
                assert "\n" not in sentence, sentence
                assert way_out in sentence, sentence
            noticed.append(bool(sentence) or outcome == missing)
            difference = f"{damage} {number} of {path.name} gives {outcome!r:.300}, not {before!r:.300}"
            assert noticed[-1] or outcome == before, difference
    path.write_bytes(content)
    sealed._checked.cache_clear()
    assert sum(noticed) >= int(len(noticed) * least), f"{sum(noticed)} of {len(noticed)} damages were noticed"


def _outcome(read: Callable[[], Any]) -> tuple[Any, str]:
    """The values that were read, or the class and the message of the error."""
    try:
        return read(), ""
    except (InputError, RunError) as error:
        return InputError if isinstance(error, InputError) else RunError, str(error)
