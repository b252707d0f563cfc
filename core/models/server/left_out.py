"""Questions that a server does not answer while it answers others: filtered, too long, or without log-probabilities.

Such a question is left out, with the server's reason, and the others continue. The rule of how many may be left out is
:func:`most_left_out`. A problem of every request (a wrong key, no credit, no such model) stops the work at once.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import ServerError

FILTERED, TOO_LONG, REFUSED, UNANSWERED = "filtered", "too long", "refused", "without an answer"
"""The kinds of questions that are left out."""
OF_ONE_REQUEST = (400, 413, 414, 422, 451)
"""The status codes that speak of one request: other requests of the same form may be answered."""
FILTERS = re.compile(
    r"content.?(?:filter|management|policy|moderation)|responsible.?ai|safety|moderation|flagged|prohibited.content|"
    r"inappropriate|sensitive|guardrail|blocklist|blocked by|usage polic",
    re.IGNORECASE,
)
LIMITS = re.compile(
    r"context.?(?:length|window|size)|too (?:long|large|many tokens)|max_model_len|reduce the (?:length|size|prompt)|"
    r"maximum\b.{0,40}(?:context|length|tokens|size)|(?:prompt|input|request|tokens?)\b.{0,60}(?:exceeds?|longer than)|"
    r"exceed\w*\b.{0,60}(?:context|length|tokens)",
    re.IGNORECASE,
)
FEWEST = 10
"""Fewer questions than these are left out whatever their share."""
SHARE = 0.05
"""The share of the questions that may be left out."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why a server gives no answer to one request: the ``kind``, a short ``reason`` and the whole ``error``."""

    kind: str
    reason: str
    error: ServerError


def most_left_out(questions: int) -> int:
    """How many of a run's questions may be left out: 5% of them, or :data:`FEWEST` if that is more.

    Up to 5% moves an accuracy by no more than the interval of a usual run does. A few are always left out, because
    their share says little. More are no exceptions but a fault of the server or of the task, and leaving them out would
    describe other questions.

    >>> most_left_out(8), most_left_out(1000)
    (10, 50)
    """
    return max(FEWEST, int(SHARE * questions))


def kind_of(status: int, words: str, code: str = "") -> str:
    """What a refusal says about one question; empty if it does not speak of one question.

    >>> kind_of(400, "This model's maximum context length is 512 tokens"), kind_of(403, "Your input was flagged")
    ('too long', 'filtered')
    >>> kind_of(400, "bad request"), kind_of(404, "no such model"), kind_of(500, "it broke")
    ('refused', '', '')
    """
    text = f"{code} {words}"
    named = FILTERED if FILTERS.search(text) else TOO_LONG if status in (413, 414) or LIMITS.search(text) else ""
    if status in OF_ONE_REQUEST:
        return named or REFUSED
    return named if status in (403, 500) else ""


def missing_of(engine: object) -> Mapping[str, NoAnswer]:
    """What an engine has left out, by its name; only a server leaves anything out."""
    left_out = getattr(engine, "left_out", None)
    return left_out.missing if isinstance(left_out, LeftOut) else {}


class LeftOut:
    """What has been left out of a piece of work so far, by its name. ``total`` is how much there is in all, which
    limits what may be left out (0: no limit)."""

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.missing: dict[str, NoAnswer] = {}

    def add(self, name: str, missing: NoAnswer, *, what: str = "questions") -> None:
        """Leave out this one. Raises :class:`~core.errors.ServerError` if they are too many to be exceptions."""
        self.missing[name] = missing
        if self.total and len(self.missing) > most_left_out(self.total):
            raise ServerError(
                f"the server gives no answer to {len(self.missing):,} of {self.total:,} {what}, and at most "
                f"{most_left_out(self.total):,} can be left out; the last one: {missing.reason}"
            ) from missing.error

    def confirm(self, answered: int) -> None:
        """Raise the error of the last one if nothing at all was ``answered``."""
        if self.missing and not answered:
            raise list(self.missing.values())[-1].error
