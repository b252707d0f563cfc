"""The cost of requests, and a limit that is not exceeded."""

import json
from collections.abc import Mapping
from typing import Any

from core.errors import BudgetReachedError
from core.models.price import Price
from core.models.server.reply_body import count

BYTES_A_TOKEN = 3
"""Fewer bytes than an average English token has (4 to 5), so that estimates are too high rather than too low."""

COUNTED = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
"""The names under which servers count the tokens read and written."""


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
            value if 3 * (value := max(count(counts.get(name)) for name in names)) >= guess else guess
            for names, guess in zip(COUNTED, estimated, strict=True)
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
    if "questions" in body:  # for decisions: every text of the request is read, and a token written for each question
        return -(-len(json.dumps(body, ensure_ascii=False).encode()) // BYTES_A_TOKEN), len(body["questions"])
    texts = [str(body.get("prompt", ""))]
    texts += [str(message.get("content", "")) for message in body.get("messages", ())]
    size = sum(len(text.encode()) for text in texts)
    return -(-size // BYTES_A_TOKEN), int(body.get("max_tokens", body.get("max_completion_tokens", 0)) or 0)
