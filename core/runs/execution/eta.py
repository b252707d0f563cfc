"""The rate of a run, and its remaining time."""

from __future__ import annotations

import time


class RunRate:
    """The rate of a run's questions; the time left goes by their length, because the longest come first.

    ``characters`` is how much text is still to be read.
    """

    def __init__(self, characters: int) -> None:
        self.left = characters
        self.read = 0
        self.questions = 0
        self.begun = time.monotonic()

    def add(self, questions: int, characters: int) -> None:
        """Add answered questions and their characters to the count."""
        self.questions += questions
        self.read += characters
        self.left -= characters

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.begun

    @property
    def rate(self) -> float:
        """Questions per second so far."""
        return self.questions / max(self.seconds, 1e-9)

    @property
    def remaining_s(self) -> float:
        """The remaining seconds at the rate so far."""
        return self.left * self.seconds / max(self.read, 1)
