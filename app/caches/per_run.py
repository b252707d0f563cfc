"""A cache with one value for each run, for pages that go through all runs at once."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class RunKey:
    """One version of a run: ``stamp`` is the time at which its ``run.json`` was written, in nanoseconds."""

    run_id: str
    stamp: int


class PerRun(Generic[Value]):
    """The value of ``compute`` for the current version of each run, for at most ``most`` runs.

    Streamlit's caches drop the least recently used entry. A page that goes through more runs than such a cache holds
    finds none of them again: at the 1,025th run of 1,024 it would compute all runs at every view. A full ``PerRun``
    drops any other run at random. So of n runs about ``most`` / n are found, and the time grows without a jump.

    A newer version of a run takes the place of the older one. Threads that ask for the same run at once compute it
    once. An error is raised, and not kept.
    """

    def __init__(self, compute: Callable[[RunKey], Value], *, most: int) -> None:
        self.most = most
        self._compute = compute
        self._held: dict[str, tuple[int, Future[Value]]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def held(self, key: RunKey) -> bool:
        """Whether the value of this version of the run is there, or on its way."""
        entry = self._held.get(key.run_id)
        return entry is not None and entry[0] == key.stamp

    def __call__(self, key: RunKey) -> Value:
        entry = self._held.get(key.run_id)
        if entry is not None and entry[0] == key.stamp:
            return entry[1].result()
        with self._lock:
            if self.held(key):
                future, mine = self._held[key.run_id][1], False
            else:
                future, mine = Future(), True
                if key.run_id not in self._held and len(self._held) >= self.most:
                    del self._held[random.choice(list(self._held))]
                self._held[key.run_id] = (key.stamp, future)
        if mine:
            self._fill(key, future)
        return future.result()

    def _fill(self, key: RunKey, future: Future[Value]) -> None:
        try:
            future.set_result(self._compute(key))
        except BaseException as error:
            with self._lock:
                if self._held.get(key.run_id, (0, None))[1] is future:
                    del self._held[key.run_id]
            future.set_exception(error)
