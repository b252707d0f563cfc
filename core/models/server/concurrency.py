"""The number of requests in flight, which grows as long as more of them help.

It starts at :data:`START`. After each window of answers it compares the rate with that of the best limit so far: while
more requests in flight raise the rate by :data:`WORTH`, the limit grows; once they do not, it goes back to the best
and stays there. A server that says "too many" halves it, at most once for the requests that were in flight then.
"""

START = 32
MOST = 256
GROWTH = 1.5
WORTH = 1.05
"""The ratio of two rates from which a larger limit is worth keeping."""
WINDOWS = 2
"""The length of a window, as a multiple of the limit of answers."""


class InFlight:
    """The limit on requests in flight. Times are seconds of one clock that never goes back."""

    def __init__(self, *, start: int = START, most: int = MOST) -> None:
        self.limit = min(start, most)
        self.most = most
        self.best = self.limit
        self.settled = False
        self._best_rate = 0.0
        self._since: float | None = None
        self._answers = 0
        self._quiet = 0

    def answered(self, now: float) -> None:
        """One request was answered."""
        self._quiet = max(0, self._quiet - 1)
        if self._since is None:
            self._since = now
            return
        self._answers += 1
        if self.settled or self._answers < WINDOWS * self.limit or now <= self._since:
            return
        self._compare(self._answers / (now - self._since))
        self._since, self._answers = now, 0

    def refused(self) -> None:
        """The server said that requests came too fast, or did not answer in time."""
        if self._quiet:
            return
        self._quiet = self.limit
        self.limit = self.best = max(1, self.limit // 2)
        self.settled = True

    def pause(self) -> None:
        """Nothing is in flight for a while, so the time that passes says nothing about the server."""
        self._since, self._answers = None, 0

    def _compare(self, rate: float) -> None:
        if rate >= self._best_rate * WORTH:
            self._best_rate, self.best = rate, self.limit
            larger = min(self.most, int(self.limit * GROWTH) + 1)
            self.settled = larger == self.limit
            self.limit = larger
        else:
            self.limit, self.settled = self.best, True
