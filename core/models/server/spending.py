"""The cost of requests, and a limit that is not exceeded."""

from collections.abc import Mapping
from typing import Any

from core.errors import BudgetReachedError
from core.models.price import Price
from core.models.server.reply_body import count

BYTES_A_TOKEN = 3
"""Fewer bytes than an average English token has (4 to 5), so that estimates are too high rather than too low."""


class Spending:
    """Tokens read and written so far; earlier tries of the run ``spent`` some of them. Each request is reserved before
    it is sent and settled by what the server says.

    A server that counts wrongly can't remove the limit: its number counts only if it is more than a third of the
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
        return self.price.cost(self.read, self.written)

    def reserve(self, body: Mapping[str, Any]) -> tuple[int, int]:
        """Reserve one request; returns the estimate that :meth:`settle` takes.

        Raises :class:`BudgetReachedError` if the budget does not hold it.
        """
        estimated = estimate(body)
        cost = self.price.cost(*estimated)
        if self.price.budget is not None and self.cost + self._reserved + cost > self.price.budget:
            raise BudgetReachedError(
                f"the budget of {self.price.in_words(self.price.budget)} is reached: what has finished is kept, so "
                "resume the run with a larger budget"
            )
        self._reserved += cost
        return estimated

    def settle(self, estimated: tuple[int, int], usage: Any) -> None:
        """Count an answered request; ``usage`` is what the server says it counted."""
        self.release(estimated)
        counts = usage if isinstance(usage, Mapping) else {}
        read, written = (
            value if 3 * (value := count(counts.get(name))) >= guess else guess
            for name, guess in zip(("prompt_tokens", "completion_tokens"), estimated, strict=True)
        )
        self.read += read
        self.written += written

    def release(self, estimated: tuple[int, int]) -> None:
        """Give back what was reserved for a request that was not answered."""
        self._reserved -= self.price.cost(*estimated)


def estimate(body: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens that a request reads and writes, by the length of its texts.

    >>> estimate({"prompt": "Answer:", "max_tokens": 1})
    (3, 1)
    """
    texts = [str(body.get("prompt", ""))]
    texts += [str(message.get("content", "")) for message in body.get("messages", ())]
    size = sum(len(text.encode()) for text in texts)
    return -(-size // BYTES_A_TOKEN), int(body.get("max_tokens", body.get("max_completion_tokens", 0)) or 0)
