"""How often training text draws from each frame and activity: most often, some rarely, some never.

The bank draws from all of them alike, so that its figures tell what was practised from what was not.
"""

import random
import zlib
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pocket_world.weighted import Weighted

T = TypeVar("T")


def share(name: str) -> float:
    """How often training draws the plan of this name: 0 for about one in twelve, 0.3 for a third, else 1."""
    checksum = zlib.crc32(f"plan|{name}".encode())
    return 0.0 if checksum % 12 == 5 else 0.3 if checksum % 3 == 1 else 1.0


class Plans(Generic[T]):
    """Plans to draw from, as training does or as the bank does."""

    def __init__(self, plans: Sequence[T], name: Callable[[T], str]) -> None:
        self._all = tuple(plans)
        self._shown = Weighted(plans, lambda plan: share(name(plan)))

    def draw(self, rng: random.Random, *, training: bool) -> T:
        """One plan: of those that training shows, as often as it shows them, or of all alike."""
        return self._shown.draw(rng) if training else rng.choice(self._all)
