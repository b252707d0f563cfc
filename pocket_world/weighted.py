"""Items that are drawn as often as their weights say, and how often training draws each plan of a scene or activity."""

import random
import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Weighted(Generic[T]):
    """Items with the weights that a function gives them; an item of weight 0 is left out."""

    def __init__(self, items: Iterable[T], weight: Callable[[T], float]) -> None:
        self.items = [item for item in items if weight(item) > 0]
        self._weights = list(accumulate(map(weight, self.items)))

    def draw(self, rng: random.Random) -> T:
        """One of the items."""
        return rng.choices(self.items, cum_weights=self._weights)[0]


class _Plan(Protocol):
    @property
    def name(self) -> str: ...


P = TypeVar("P", bound=_Plan)


def share(plan: _Plan) -> float:
    """How often training draws a plan: never for about one in twelve, 0.3 for a third, else 1."""
    checksum = zlib.crc32(f"plan|{plan.name}".encode())
    return 0.0 if checksum % 12 == 5 else 0.3 if checksum % 3 == 1 else 1.0


class Plans(Generic[P]):
    """Plans to draw from. The bank draws from all alike, so its figures show what was practised and what was not."""

    def __init__(self, plans: Sequence[P]) -> None:
        self.all = plans
        self._shown = Weighted(plans, share)

    def draw(self, rng: random.Random, *, training: bool) -> P:
        """One plan: of those that training shows, as often as it shows them, or of all alike."""
        return self._shown.draw(rng) if training else rng.choice(self.all)
