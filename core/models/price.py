"""Prices of requests to servers, and the budget of a run."""

from dataclasses import dataclass

from core.errors import InputError

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Prices per million tokens, in whatever currency the person counts in. ``budget`` is the most that a run
    may cost over all its tries (None: no limit); without prices it counts millions of tokens."""

    read: float = 0.0
    written: float = 0.0
    budget: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("price", self.read), ("price", self.written), ("budget", self.budget or 0.0)):
            if not 0 <= value < float("inf"):
                raise InputError(f"a {name} must be a number from 0 up, got {value:g}")

    def cost(self, read: int, written: int) -> float:
        """The cost of these numbers of tokens."""
        if not self.is_known:
            return (read + written) / MILLION
        return (read * self.read + written * self.written) / MILLION

    @property
    def is_known(self) -> bool:
        """Whether there are prices; otherwise a cost counts tokens."""
        return bool(self.read or self.written)

    def in_words(self, cost: float) -> str:
        """A cost as text: an amount of money, or a number of tokens where there are no prices.

        >>> Price().in_words(0.002), Price(read=2.0).in_words(0.5)
        ('2,000 tokens', '0.5')
        """
        return f"{cost:,.4g}" if self.is_known else f"{round(cost * MILLION):,} tokens"
