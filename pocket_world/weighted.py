"""Items that are drawn as often as their weights say."""

import random
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


class Weighted(Generic[T]):
    """Items with the weights that a function gives them; an item of weight 0 is left out."""

    def __init__(self, items: Iterable[T], weight: Callable[[T], float]) -> None:
        self.items = [item for item in items if weight(item) > 0]
        self._weights = list(accumulate(map(weight, self.items)))

    def draw(self, rng: random.Random) -> T:
        """One of the items."""
        return rng.choices(self.items, cum_weights=self._weights)[0]
