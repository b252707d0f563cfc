"""The scorers of a run whose questions are shared out: their processes, and the list of batches that all work off.

A scorer is a process of its own for each device but the run's own (:mod:`core.models.scorer_process`). A thread of
the run's process gives it one batch after another and always one ahead. If a scorer leaves, whatever the reason, the
run's own device scores what it had, so that a batch which kills its scorer kills no second one.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar

from core.errors import HedgeError, RunError
from core.models.devices.sharing import ScorerDevice
from core.models.model_sources import canonical
from core.models.scorer_messages import ScorerBegin, ScorerResult, ScorerStatus, ScorerTask
from core.processes.child import Child
from core.records import OptionLogits, Prompt
from core.settings import settings

AHEAD = 2
"""Batches that a scorer has at a time: the one that it scores, and the next."""
ENDS_WITHIN_S = 5.0
LOG = "scorers.log"

Message = TypeVar("Message")


@dataclass(frozen=True, slots=True)
class SharedBatch:
    """A batch of prompts under a number."""

    number: int
    prompts: list[Prompt]


class WorkList:
    """The batches of a run, in their order. Threads take from it, and the first scores of a batch count."""

    def __init__(self, batches: Iterable[list[Prompt]]) -> None:
        self._lock = threading.Lock()
        self._waiting: Iterator[SharedBatch] = (SharedBatch(i, prompts) for i, prompts in enumerate(batches))
        self._open: dict[int, SharedBatch] = {}
        self._returned: deque[SharedBatch] = deque()

    def take(self) -> SharedBatch | None:
        """The next batch that nobody has taken; None if there is none."""
        with self._lock:
            return self._next()

    def take_any(self) -> SharedBatch | None:
        """The next batch for the run's own device: one that was given back, a new one, or the one that a scorer took
        last and has not answered. None if every batch is scored."""
        with self._lock:
            while self._returned:
                batch = self._returned.popleft()
                if batch.number in self._open:
                    return batch
            return self._next() or next(reversed(self._open.values()), None)

    def give_back(self, batches: Iterable[SharedBatch]) -> None:
        """Leave batches to the run's own device."""
        with self._lock:
            self._returned.extend(batches)

    def finish(self, batch: SharedBatch) -> bool:
        """Whether these are the first scores of the batch."""
        with self._lock:
            return self._open.pop(batch.number, None) is not None

    def _next(self) -> SharedBatch | None:
        batch = next(self._waiting, None)
        if batch:
            self._open[batch.number] = batch
        return batch


@dataclass(frozen=True, slots=True)
class ScorerEvent:
    """What a scorer's thread says: it scores from now on, it left (``reason``), or the ``scores`` of a ``batch``."""

    scorer: DeviceScorer
    batch: SharedBatch | None = None
    scores: tuple[OptionLogits, ...] = ()
    reason: str = ""


class DeviceScorer:
    """One scorer of a ``model`` on a device. ``settled`` is set once it scores or has left.

    ``batch_size`` is in questions, None for the engine's own choice. Raises :class:`OSError` if no process starts.
    """

    def __init__(
        self, device: ScorerDevice, *, model: str, dtype: str, batch_size: int | None, fingerprint: str = ""
    ) -> None:
        self.device = device
        self.settled = threading.Event()
        onto = "" if device.visible else device.here  # of the GPUs it sees one alone
        self._child = Child(
            "core.models.scorer_process",
            *(canonical(model), dtype, str(batch_size or ""), onto, fingerprint),
            environment=os.environ | {"CUDA_VISIBLE_DEVICES": device.visible, "HEDGE_HOME": str(settings().home)},
            log=LOG,
        )
        self._thread: threading.Thread | None = None
        self._waits_from: float | None = None

    @property
    def silent_s(self) -> float:
        """For how many seconds it has held batches without answering; 0 if it holds none."""
        return 0.0 if self._waits_from is None else time.monotonic() - self._waits_from

    def begin(
        self, begin: ScorerBegin, work: WorkList, pack: Callable[[list[Prompt]], Any], events: SimpleQueue[ScorerEvent]
    ) -> None:
        """Score batches of ``work`` from now on, in a thread; ``events`` hears of all that happens."""
        self._thread = threading.Thread(
            target=self._serve, args=(begin, work, pack, events), daemon=True, name=f"hedge-scorer-{self.device.name}"
        )
        self._thread.start()

    def _serve(
        self, begin: ScorerBegin, work: WorkList, pack: Callable[[list[Prompt]], Any], events: SimpleQueue[ScorerEvent]
    ) -> None:
        given: deque[SharedBatch] = deque()
        try:
            self._received(ScorerStatus)
            self._child.send(begin)
            self._received(ScorerStatus)
            events.put(ScorerEvent(self))
            self.settled.set()
            while True:
                while len(given) < AHEAD and (batch := work.take()):
                    given.append(batch)
                    self._child.send(ScorerTask(batch.number, pack(batch.prompts)))
                self._waits_from = time.monotonic() if given else None
                if not given:
                    return
                scores = self._received(ScorerResult).scores
                events.put(ScorerEvent(self, given.popleft(), scores))
        except (EOFError, OSError):
            events.put(ScorerEvent(self, reason=f"its process was {self._child.end(within_s=ENDS_WITHIN_S)}"))
        except Exception as error:  # the run must hear of it, whatever it is, and continue without this scorer
            reason = str(error) if isinstance(error, HedgeError) else f"{type(error).__name__}: {str(error)[:300]}"
            events.put(ScorerEvent(self, reason=reason))
        finally:
            work.give_back(given)
            self.settled.set()

    def _received(self, kind: type[Message]) -> Message:
        message = self._child.receive(object)
        if isinstance(message, ScorerStatus) and message.stage == "failed":
            raise RunError(message.message)
        assert isinstance(message, kind)
        return message

    def kill(self) -> None:
        """Kill the process."""
        self._child.kill()

    def end(self) -> None:
        """Kill the process and wait until it is gone, and its thread with it."""
        self.kill()
        if self._thread:
            self._thread.join(ENDS_WITHIN_S)
        self._child.end()
