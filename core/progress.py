"""How far long work is: its rate, the time that is left, who hears of it, and for how long nothing has changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Protocol, TypeVar

K = TypeVar("K", bound=Hashable)


class Reporter(Protocol):
    """Who hears how far a piece of work is, ``done`` of ``total``, and says whether it was cancelled."""

    done: int
    total: int
    cancelled: Callable[[], bool]
    rate: ScoringRate

    def expect(self, size: int) -> None:
        """Start the clock: the size of the text to read, in characters or tokens."""

    def advance(self, number: int, size: int) -> None:
        """Report that ``number`` more are done, which were ``size`` to read. Raises as :meth:`report`."""

    def report(self, stage: str) -> None:
        """Report the stage. Raises :class:`~core.errors.RunCancelled` if the work was cancelled."""

    def stop_if_cancelled(self) -> None:
        """Raise :class:`~core.errors.RunCancelled` if the work was cancelled."""

    def log(self, line: str) -> None:
        """Write a line to the log."""


class ScoringRate:
    """The rate of questions; the time left goes by their length, because the longest come first.

    ``size`` is how much text is left to read, in characters or tokens.
    """

    def __init__(self, size: int) -> None:
        self.left = size
        self.read = 0
        self.questions = 0
        self.begun = time.monotonic()

    def add(self, questions: int, size: int) -> None:
        """Add answered questions and their length to the count."""
        self.questions += questions
        self.read += size
        self.left -= size

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.begun

    @property
    def per_second(self) -> float:
        """Questions per second so far."""
        return self.questions / max(self.seconds, 1e-9)

    @property
    def remaining_s(self) -> float:
        """The remaining seconds at the rate so far."""
        return self.left * self.seconds / max(self.read, 1)


def rate_in_words(a_second: float, unit: str) -> str:
    """A rate above 0 as a person would say it; ``one`` is what is counted.

    >>> rate_in_words(1234.5, "question"), rate_in_words(2.34, "prompt"), rate_in_words(0.0641, "question")
    ('1,234 questions per second', '2.3 prompts per second', '1 question in 16 s')
    """
    if a_second < 0.95:
        return f"1 {unit} in {1 / a_second:,.{0 if a_second <= 0.1 else 1}f} s"
    return f"{a_second:,.{0 if a_second >= 10 else 1}f} {unit}s per second"


class UnchangedFor:
    """How long each key has had its value, by this process's monotonic clock, which can't be set."""

    def __init__(self) -> None:
        self._since: dict[object, float] = {}

    def seconds(self, values: Mapping[K, Hashable]) -> dict[K, float]:
        """For each key the seconds since a call first found it with this value; keys left out are forgotten."""
        now = time.monotonic()
        self._since = {item: self._since.get(item, now) for item in values.items()}
        return {key: now - self._since[key, value] for key, value in values.items()}
