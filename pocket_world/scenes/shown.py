"""How often training text draws from each frame and activity: most often, some rarely, some never.

The bank draws from all of them alike, so that its figures tell what was practised from what was not.
"""

import random
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")

RARELY = 0.3
"""How often a rarely shown plan is drawn, relative to one that is shown often."""


def share(name: str) -> float:
    """How often training draws the plan of this name: 0 for about one in twelve, ``RARELY`` for a third, else 1."""
    checksum = zlib.crc32(f"plan|{name}".encode())
    return 0.0 if checksum % 12 == 5 else RARELY if checksum % 3 == 1 else 1.0


class Plans(Generic[T]):
    """Plans to draw from, as training does or as the bank does."""

    def __init__(self, plans: Sequence[T], name: Callable[[T], str]) -> None:
        self.all = tuple(plans)
        self._shown = tuple(plan for plan in plans if share(name(plan)) > 0)
        self._weights = list(accumulate(share(name(plan)) for plan in self._shown))

    def draw(self, rng: random.Random, *, training: bool) -> T:
        """One plan: of those that training shows, as often as it shows them, or of all alike."""
        return rng.choices(self._shown, cum_weights=self._weights)[0] if training else rng.choice(self.all)
