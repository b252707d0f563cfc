"""What requests may cost, and a stop before the limit is passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import InputError, RunError

BYTES_A_TOKEN = 3
"""Fewer bytes than an average token of English has (4 to 5), so that an estimate is rather too high."""
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
                raise InputError(f"a {name} must be a number from 0 up, got {value}")

    def of(self, read: int, written: int) -> float:
        """What so many tokens cost."""
        if not (self.read or self.written):
            return (read + written) / MILLION
        return (read * self.read + written * self.written) / MILLION

    @property
    def unit(self) -> str:
        """What a cost is counted in, as a word."""
        return "" if self.read or self.written else " million tokens"


class Spending:
    """Tokens read and written so far, of which earlier tries of the run ``spent`` some. Each request is reserved before
    it is sent and settled by what the server says.

    A server that counts wrong can't lift the limit: what it says counts only where it is more than a third of the
    estimate.
    """

    def __init__(self, price: Price, spent: tuple[int, int] = (0, 0)) -> None:
        self.price = price
        self.read, self.written = spent
        self._reserved = 0.0

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens read and written."""
        return self.read, self.written

    @property
    def cost(self) -> float:
        """What was spent."""
        return self.price.of(self.read, self.written)

    def reserve(self, body: Mapping[str, Any]) -> tuple[int, int]:
        """Reserve one request; returns the estimate that :meth:`settle` takes.

        Raises :class:`RunError` if the budget does not hold it.
        """
        asked = estimate(body)
        cost = self.price.of(*asked)
        if self.price.budget is not None and self.cost + self._reserved + cost > self.price.budget:
            raise RunError(
                f"the budget of {self.price.budget:g}{self.price.unit} is reached after {self.cost:.4g}: "
                "finished questions are kept; give the same command with a larger budget to continue"
            )
        self._reserved += cost
        return asked

    def settle(self, asked: tuple[int, int], usage: Any) -> None:
        """Count an answered request; ``usage`` is what the server says it counted."""
        self.release(asked)
        told = usage if isinstance(usage, Mapping) else {}
        read, written = (
            int(value) if isinstance(value := told.get(name), int) and 3 * value >= guess else guess
            for name, guess in zip(("prompt_tokens", "completion_tokens"), asked, strict=True)
        )
        self.read += read
        self.written += written

    def release(self, asked: tuple[int, int]) -> None:
        """Give back what was reserved for a request that was not answered."""
        self._reserved -= self.price.of(*asked)


def estimate(body: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens that a request reads and writes, by the length of its texts.

    >>> estimate({"prompt": "Answer:", "max_tokens": 1})
    (3, 1)
    """
    texts = [str(body.get("prompt", ""))]
    texts += [str(message.get("content", "")) for message in body.get("messages", ())]
    size = sum(len(text.encode()) for text in texts)
    return -(-size // BYTES_A_TOKEN), int(body.get("max_tokens", body.get("max_completion_tokens", 0)) or 0)
