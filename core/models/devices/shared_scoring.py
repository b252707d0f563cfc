"""One run's questions scored by several devices of this host at once.

The run's own process scores on the first device as it would alone, and is the only one that writes. Beside it, each
other device has a scorer (:mod:`core.models.devices.scorers`). All of them work off the same batches, formed as one
device forms them, so the scores are those of one device, bit for bit.

Which devices take part:

- those that a person lists (``--device cuda:0,cuda:1``). Scoring begins when each of them is ready or has failed;
- if no device is named, on a host with several GPUs, all free ones of one kind
  (:func:`core.models.devices.sharing.free_devices`). The run begins on the first. Once it has scored a batch, it knows
  its rate: if the rest would take more than :data:`WORTH` times as long as loading the model took, and at least
  :data:`LEAST_S`, the other devices load the model too and join when they are ready. A small run never pays for that.

Runs of the queue are not shared out: idle devices there take the next runs, which costs no further loading, and a run
that took all devices would make the next one wait.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from queue import Empty, SimpleQueue

from core.errors import RunError
from core.models.devices.scorers import DeviceScorer, ScorerEvent, WorkList
from core.models.devices.sharing import ScorerDevice, free_devices, named_devices
from core.models.devices.slots import CPU, Slot
from core.models.engine import Engine, SharingEngine
from core.models.imports import fewer_threads
from core.models.scorer_messages import ScorerBegin
from core.progress import Reporter
from core.records import OptionLogits, Prompt

WORTH = 2.0
"""Other devices join if the rest of the run takes this many times as long as loading the model took."""
LEAST_S = 20.0
"""No other device joins for less: a new process takes up to ten seconds before it loads anything."""
SILENT_S = 30.0
"""A device that has not answered for this long when the run ends is named in the log."""
LOOK_EVERY_S = 0.05


@contextmanager
def shared_devices(
    device: str,
    slots: Sequence[Slot],
    reporter: Reporter,
    *,
    start: Callable[[ScorerDevice], DeviceScorer],
    needs_gib: Callable[[], float],
    busy: Callable[[], Collection[str]],
) -> Iterator[SharedScoring | None]:
    """What scores a run of the foreground on several devices; None if it has one alone. Its scorers end with the body.

    ``device`` is what a person named, empty for none, ``start`` starts a scorer of the run's model, and ``busy`` names
    the slots on which workers of this host execute runs. Raises :class:`~core.errors.InputError` if a device that a
    person named is not here.
    """
    named = "," in device
    devices: tuple[ScorerDevice, ...] = ()
    if named:
        devices = named_devices(device, slots)
    elif not device and len(slots) > 1:
        devices = free_devices(needs_gib(), slots, busy=busy())
    if len(devices) < 2:
        yield None
        return
    with ExitStack() as stack:
        if devices[0].here == CPU:
            stack.enter_context(fewer_threads(len(devices)))
        scoring = SharedScoring(devices, reporter, start=start)
        stack.callback(scoring.end)
        if named:
            scoring.start()
        yield scoring


class SharedScoring:
    """Scores a run's prompts on its own device, ``devices[0]``, and on the others as far as that pays."""

    def __init__(
        self, devices: Sequence[ScorerDevice], reporter: Reporter, *, start: Callable[[ScorerDevice], DeviceScorer]
    ) -> None:
        self.devices = devices
        self.reporter = reporter
        self._start_scorer = start
        self.loading_s = 0.0
        self.questions: Counter[str] = Counter()
        """The questions that each device has scored."""
        self.characters_here = 0
        self._begun = time.monotonic()
        self._scorers: list[DeviceScorer] = []
        self._named = False
        self._joined: set[str] = set()
        self._events: SimpleQueue[ScorerEvent] = SimpleQueue()

    @property
    def device_count(self) -> int:
        """The number of devices that score at the moment."""
        return 1 + len(self._joined)

    @property
    def here(self) -> str:
        """The device of this process, for torch."""
        return self.devices[0].here

    @property
    def scored_here(self) -> dict[str, int]:
        """What this process's device has scored, by which its rate is known."""
        return {"questions": self.questions[self.devices[0].name], "characters": self.characters_here}

    def loaded(self) -> None:
        """Say that this process has loaded the model."""
        self.loading_s = time.monotonic() - self._begun

    def start(self, *, named: bool = True) -> None:
        """Start the scorers of the other devices; ``named`` says that a person asked for these."""
        self._named = named
        for device in self.devices[1:]:
            try:
                self._scorers.append(self._start_scorer(device))
            except OSError as error:
                raise RunError(f"no process could be started for {device.name}: {error}") from error

    def score(self, engine: Engine, chunks: Iterable[Sequence[Prompt]]) -> Iterator[OptionLogits]:
        """Yield the scores of all batches of these chunks as they come, each question once."""
        assert isinstance(engine, SharingEngine)
        chunks = list(chunks)
        work = WorkList(batch for chunk in chunks for batch in engine.batches(chunk))
        first: OptionLogits | None = None
        while batch := work.take_any():
            scored = list(engine.score(batch.prompts))
            if work.finish(batch):
                self.characters_here += sum(len(prompt.text) for prompt in batch.prompts)
                yield from self._counted(self.devices[0].name, scored)
            if first is None:
                first = scored[0]
                by_id = {prompt.question_id: prompt for prompt in batch.prompts}
                begin = ScorerBegin(engine.setup(), engine.packed([by_id[name] for name in first.ids]), first)
                self._begin(begin, work, engine.packed)
            elif not self._scorers and self._is_worth():
                self.start(named=False)
                self._begin(begin, work, engine.packed)
            yield from self._arrived(work)
        for scorer in self._scorers:
            if (name := scorer.device.name) in self._joined and scorer.silent_s > SILENT_S:
                self.reporter.log(
                    f"{name} has not answered for {scorer.silent_s:.0f} s; {self.devices[0].name} scored what it had"
                )
        if len(self.questions) > 1:
            counts = ", ".join(f"{name} {count:,}" for name, count in self.questions.items())
            self.reporter.log(f"questions by device: {counts}")
        if lost := sum(map(len, chunks)) - self.questions.total():
            raise RunError(f"{lost} questions got no scores; resume the run on one device (--device {self.here})")

    def _begin(self, begin: ScorerBegin, work: WorkList, pack: Callable[[list[Prompt]], object]) -> None:
        """Let the scorers begin; wait for those that a person asked for."""
        for scorer in self._scorers:
            scorer.begin(begin, work, pack, self._events)
        waits_from = time.monotonic()
        while self._named and (loading := [s.device.name for s in self._scorers if not s.settled.is_set()]):
            self.reporter.report(f"loading the model on {', '.join(loading)}")
            time.sleep(LOOK_EVERY_S)
        self.reporter.rate.begun += time.monotonic() - waits_from  # nothing was scored meanwhile

    def _is_worth(self) -> bool:
        """Whether the rest takes so long on one device that loading the model on the others pays."""
        left_s = self.reporter.rate.remaining_s
        if left_s <= max(LEAST_S, WORTH * self.loading_s):
            return False
        self.reporter.log(
            f"the rest would take {left_s:.0f} s on one device, and loading took {self.loading_s:.0f} s, so "
            f"{', '.join(device.name for device in self.devices[1:])} load the model too"
        )
        return True

    def _arrived(self, work: WorkList) -> Iterator[OptionLogits]:
        """The scores that have come meanwhile; the log says who joins and who leaves."""
        while True:
            try:
                event = self._events.get_nowait()
            except Empty:
                return
            name = event.scorer.device.name
            if event.reason:
                self._joined.discard(name)
                self.reporter.log(f"{name} left: {event.reason}; {self.devices[0].name} scores what it had")
            elif event.batch is None:
                self._joined.add(name)
                self.reporter.log(f"{name} scores questions of this run, too")
            elif work.finish(event.batch):
                yield from self._counted(name, event.scores)

    def _counted(self, name: str, scores: Iterable[OptionLogits]) -> Iterator[OptionLogits]:
        for batch in scores:
            self.questions[name] += len(batch.ids)
            yield batch

    def end(self) -> None:
        """End all scorers."""
        for scorer in self._scorers:
            scorer.kill()
        for scorer in self._scorers:
            scorer.end()
