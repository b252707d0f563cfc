"""The state in a link to the Stream lab."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Id, parts, whole, whole_or_nothing
from app.state.presented import PresentedView
from core.errors import InputError
from core.reports.stream_lab import LONGEST, SHORTEST, check_gamma

NO_CHANGE = "none"
"""The value of ``after`` for a stream whose kind of question never changes. No run has this id."""
NARROWEST, WIDEST = 20, 1000


def _gamma(text: str) -> int:
    return check_gamma(parts(3, 1000, "gamma must be a whole number of thousandths from 0 to 200")(text))


def _last(text: str) -> int:
    rule = f"the number of last questions must be a whole number from {NARROWEST} to {WIDEST}"
    number = whole(4, rule)(text)
    if not NARROWEST <= number <= WIDEST:
        raise InputError(rule)
    return number


def _length(text: str) -> int:
    rule = f"the length must be a whole number from {SHORTEST} to {LONGEST}, or 0 for each question once"
    number = whole(5, rule)(text)
    if number and not SHORTEST <= number <= LONGEST:
        raise InputError(rule)
    return number


@dataclass(frozen=True, slots=True)
class StreamLabView(PresentedView):
    """Two runs as one stream, the point of the change, and what the three ways through it need."""

    LEADS = ("run", "alpha", "score")
    KEPT = ("run",)
    OF_ONE_RUN = ("run", "after", "change")

    after: Id = ""
    """The run whose questions come after the change ("": the most similar one; :data:`NO_CHANGE`: none)."""
    gamma: Annotated[int, _gamma] = 5
    """The step of the adaptive level, in thousandths."""
    change: Annotated[str, whole_or_nothing(5, "the change must be a whole number of questions")] = ""
    """How many questions come before the change ("": all of the first run's, or half of the length)."""
    last: Annotated[int, _last] = 100
    """How many last questions the line of coverage counts."""
    draw: Annotated[int, whole(6, "an order must be a whole number with at most 6 digits")] = 0
    """The seed of the order. 0 leaves the first run its own calibration questions."""
    length: Annotated[int, _length] = 0
    """How many questions are drawn with replacement (0: each comes once)."""
