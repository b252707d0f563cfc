"""A question as Moodle's formats have it, before it is one that Hedge can ask."""

from collections.abc import Sequence
from dataclasses import dataclass

TRUE_FALSE = ("True", "False")
NO_RIGHT = "no right answer"
SEVERAL = "several right answers"
SHOWN = 60


@dataclass(frozen=True, slots=True)
class QuizRow:
    """A question with its options, the place of the right one, and the last part of its category. ``skipped`` says why
    it can't be asked; it is empty for one that can."""

    question: str
    options: tuple[str, ...] = ()
    label: int = -1
    subject: str = ""
    skipped: str = ""


def short(text: str) -> str:
    """The beginning of a question in one line, as a message names it."""
    flat = " ".join(text[: 4 * SHOWN].split())
    return flat if len(flat) <= SHOWN else flat[: SHOWN - 1] + "…"


def right_one(weights: Sequence[float]) -> tuple[int, str]:
    """The place of the only option that scores anything; −1 and the reason if none or several do.

    >>> right_one([0, 100, -50]), right_one([50, 50, 0])
    ((1, ''), (-1, 'several right answers'))
    """
    right = [place for place, weight in enumerate(weights) if weight > 0]
    return (right[0], "") if len(right) == 1 else (-1, SEVERAL if right else NO_RIGHT)
