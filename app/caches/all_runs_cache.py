"""A cache of what pages compute from the list of all runs, for all sessions of the server."""

import operator
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from core.runs.store import RunRecord

Value = TypeVar("Value")


class AllRunsCache:
    """The last ``most`` values that were made of the runs as they are now. All are dropped when a run comes, goes or
    changes.

    :mod:`app.caches.run_cache` gives the same record again while a run's ``run.json`` is unchanged, and another one
    afterwards. So the runs have not changed if their records are the same objects.

    Sessions that ask for the same value at once make it once. Sessions that ask for others wait meanwhile; computing
    both at once would take as long. An error is raised, and not kept.
    """

    def __init__(self, *, most: int) -> None:
        self.most = most
        self._runs: Sequence[RunRecord] = ()
        self._held: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._held)

    def __call__(
        self,
        runs: Sequence[RunRecord],
        key: Hashable,
        make: Callable[[], Value],
        *,
        lasts: Callable[[Value], bool] = lambda value: True,
    ) -> Value:
        """The value of ``make`` for these runs and everything else that it depends on, which ``key`` names.

        A value that does not last, because it tells of an error that may pass, is returned and not kept. Sessions share
        the value, so it must not be changed.
        """
        with self._lock:
            if not _same(runs, self._runs):
                self._held.clear()
                self._runs = runs
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]  # type: ignore[no-any-return]
            value = make()
            if lasts(value):
                self._held[key] = value
                while len(self._held) > self.most:
                    self._held.popitem(last=False)
            return value


def _same(records: Sequence[RunRecord], others: Sequence[RunRecord]) -> bool:
    return records is others or (len(records) == len(others) and all(map(operator.is_, records, others)))
