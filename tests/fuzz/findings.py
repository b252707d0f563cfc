"""Runs one target on many inputs, and keeps the smallest input of each kind of finding."""

import logging
import resource
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

MOST_SECONDS = 10
MOST_MEMORY = 1 << 30
AT_ONCE = 2_000
"""Inputs for one call of Hypothesis, which keeps what it has tried in memory."""


class Finding(Exception):
    """Something that a target may not do, in words."""


class TooSlowError(BaseException):
    """An input took more processor time than it may; no reader catches this."""


@dataclass(slots=True)
class Findings:
    """The findings in ``inputs`` inputs: for each kind the count, and the smallest input with its traceback."""

    inputs: int = 0
    slowest: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    smallest: dict[str, tuple[Any, str]] = field(default_factory=dict)
    odd: Counter[str] = field(default_factory=Counter)
    """Refusals as "found another form", by what was raised and where."""

    def add(self, kind: str, given: Any, trace: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind not in self.smallest or len(repr(given)) < len(repr(self.smallest[kind][0])):
            self.smallest[kind] = given, trace


def fuzz(strategy: st.SearchStrategy[Any], check: Callable[[Any], None], *, inputs: int, begin: int = 0) -> Findings:
    """Check this many inputs of the strategy, which ``begin`` seeds; ``check`` raises for what may not be."""
    findings = Findings()
    handler = _OddHandler(findings.odd)
    log = logging.getLogger("core.exchange.dropped.reading")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        for start in range(0, inputs, AT_ONCE):
            _some(strategy, check, findings, inputs=min(AT_ONCE, inputs - start), begin=begin + start)
    finally:
        log.removeHandler(handler)
    return findings


class _OddHandler(logging.Handler):
    """Counts what readers raised that was no sentence."""

    def __init__(self, into: Counter[str]) -> None:
        super().__init__()
        self.into = into

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1]:
            steps = [step for step in traceback.extract_tb(record.exc_info[2]) if "/core/" in step.filename]
            at = steps[-1]
            self.into[f"{type(record.exc_info[1]).__name__} at {Path(at.filename).name}:{at.name}"] += 1


def _some(
    strategy: st.SearchStrategy[Any], check: Callable[[Any], None], findings: Findings, *, inputs: int, begin: int
) -> None:
    @seed(begin)
    @settings(
        max_examples=inputs,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def check_one(given: Any) -> None:
        findings.inputs += 1
        begun = time.process_time()
        try:
            with _limited(), warnings.catch_warnings():
                warnings.simplefilter("error")
                check(given)
        except TooSlowError:
            findings.add(f"more than {MOST_SECONDS} s", given, traceback.format_exc())
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            ours = [step for step in traceback.extract_tb(error.__traceback__) if "/core/" in step.filename]
            at = ours[-1] if ours else place
            kind = str(error) if isinstance(error, Finding) else type(error).__name__
            findings.add(f"{kind} at {at.filename.rpartition('/')[2]}:{at.name}", given, traceback.format_exc())
        findings.slowest = max(findings.slowest, time.process_time() - begun)

    check_one()


@contextmanager
def _limited() -> Iterator[None]:
    """Stop the block after ten seconds of processor time."""

    def stop(number: int, frame: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory() -> None:
    """Give this process no more than a GiB beyond what it has, so that a greedy input raises MemoryError."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
