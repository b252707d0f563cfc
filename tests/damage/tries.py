"""One try: a copy of a prepared home is damaged, and a process that knows nothing of it before looks at everything."""

import contextlib
import functools
import importlib
import json
import os
import pickle
import select
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from core.errors import HedgeError
from tests.damage.damages import DAMAGES
from tests.damage.looks import Look

WITHIN_S = 90.0
"""The time of one try; a look takes milliseconds, or seconds where it loads a model."""
LONGEST = 1_500
"""Characters of a sentence."""
PAGES_EVERY = 50
"""The number of tries per look at the pages, because AppTest takes a second for each."""

FOLDERS = ("runs", "bin", "archive", "juries", "adapters")
"""Where the name of a file says which part it plays."""
AT_MOST = 20
"""Files that are tried until a damage changes one."""
MODULES = "modules"
Seen = dict[str, tuple[str, Any]]
"""For each look ``value``, ``refused`` or ``error``, and the text of it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file. ``build`` makes it in an empty HEDGE_HOME and returns the names that ``looks`` needs.

    ``files`` are patterns of the files that are damaged. Of ``older`` kinds no digest was kept, so other figures are
    known to be possible there.
    """

    build: Callable[[], dict[str, str]]
    looks: Callable[[dict[str, str]], list[Look]]
    files: tuple[str, ...]
    older: bool = False


@dataclass(slots=True)
class Result:
    """One try: its number, what was damaged, and what came of it in the worst look."""

    number: int
    damaged: str
    outcome: str
    details: str


OUTCOMES = ("same", "refused", "unclear sentence", "others lost", "other figures", "exception", "hang")
"""From the best to the worst."""
GOOD = ("same", "refused")


@dataclass(slots=True)
class Row:
    """A line of the table: all tries of one damage to one kind."""

    kind: str
    damage: str
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, Result] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        self.counts[result.outcome] += 1
        self.first.setdefault(result.outcome, result)

    @property
    def bad(self) -> list[Result]:
        """The first try of each outcome that may not be."""
        return [result for outcome, result in self.first.items() if outcome not in GOOD]

    def to_markdown(self) -> str:
        counts = " | ".join(str(self.counts[outcome]) for outcome in OUTCOMES)
        return f"| {self.kind} | {self.damage} | {sum(self.counts.values())} | {counts} |"


HEADER = f"| kind | damage | tries | {' | '.join(OUTCOMES)} |\n|---|---|{'---|' * (len(OUTCOMES) + 1)}"


class Stage:
    """A prepared home of one kind. Each try gets a copy of it at the same path."""

    def __init__(self, name: str, kind: Kind, folder: Path, *, pages: bool = True) -> None:
        self.name, self.kind = name, kind
        self.home, self.whole = folder / "home", folder / "whole"
        self.pages = pages
        self.home.mkdir(parents=True)
        with _environment(self.home):
            _, (outcome, names) = _in_fork(lambda: _checked(kind.build))
        if outcome != "value":
            raise AssertionError(f"{name} could not be made: {names}")
        self.looks = kind.looks(names)
        self.home.rename(self.whole)
        self._copy()
        with _environment(self.home):
            _, (self.before, modules) = _in_fork(lambda: (_seen(self.looks), list(sys.modules)))
        for module in modules:  # so that no try has to import anything
            with contextlib.suppress(Exception):
                importlib.import_module(module)
        wrong = {look: text for look, (outcome, text) in self.before.items() if outcome != "value"}
        if wrong:
            raise AssertionError(f"{name}: without damage there are no figures: {wrong}")

    @property
    def files(self) -> list[Path]:
        """The files that are damaged, in a fixed order, relative to the home."""
        paths = {path for pattern in self.kind.files for path in self.whole.glob(pattern) if path.is_file()}
        return sorted(path.relative_to(self.whole) for path in paths if path.stat().st_size)

    def run(self, damage: str, numbers: Sequence[int], seed: int, *, at_once: int = 1) -> list[Result]:
        """Tries, each decided by ``seed``, ``damage`` and its number; a try that can damage nothing is left out.

        Each try runs in a process of its own. With ``at_once``, this many share one process. It clears its caches in
        between, looks at what was damaged and, in one of ten tries, looks at everything else.
        """
        results: list[Result] = []
        for start in range(0, len(numbers), at_once):
            chosen = numbers[start : start + at_once]
            with _environment(self.home):
                outcome, outcomes = _in_fork(
                    lambda chosen=chosen: [self._try(damage, n, seed, at_once > 1) for n in chosen]
                )
            if outcome != "value":
                outcomes = [Result(chosen[0], "?", "hang" if outcome == "hang" else "exception", str(outcomes))]
            results += filter(None, outcomes)
        return results

    def _try(self, damage: str, number: int, seed: int, quick: bool) -> Result | None:
        rng = Random(f"{seed} {self.name} {damage} {number}")
        self._copy()
        if quick:
            _forget()
        for _ in range(AT_MOST):
            chosen = rng.choice(self.files)
            siblings = [self.home / path for path in self.files if _is_like(path, chosen)]
            if changed := [path.relative_to(self.home) for path in DAMAGES[damage](self.home / chosen, siblings, rng)]:
                break
        else:
            return None
        looks = [look for look in self.looks if not look.costly]
        if quick and number % 10:
            concerned = [look for look in looks if look.central or not _spares(look, changed)]
            looks = [rng.choice(concerned or looks)]
        costly = [look for look in self.looks if look.costly and look.name != "pages"]
        looks += rng.sample(costly, min(len(costly), not quick))
        if self.pages and number % PAGES_EVERY == 0:
            looks += [look for look in self.looks if look.name == "pages"]
        return Result(number, ", ".join(map(str, changed)), *self._judged(changed, looks, _seen(looks)))

    def _judged(self, changed: Sequence[Path], looks: Sequence[Look], seen: Seen) -> tuple[str, str]:
        judged = [(self._outcome(look, changed, *seen[look.name]), look.name) for look in looks]
        worst = max((outcome for outcome, _ in judged), key=OUTCOMES.index)
        name = next(name for outcome, name in judged if outcome == worst)
        _, text = seen[name]
        if worst == "other figures":
            text = _difference(self.before[name][1], text)
        return worst, f"{name}: {text}"

    def _outcome(self, look: Look, changed: Sequence[Path], outcome: str, text: str) -> str:
        if outcome == "error":
            return "exception"
        if (outcome, text) == self.before[look.name]:
            return "same"
        if outcome == "value":
            return "other figures"
        if _spares(look, changed):
            return "others lost"
        return "refused" if self._is_clear(text, look, changed) else "unclear sentence"

    def _is_clear(self, sentence: str, look: Look, changed: Sequence[Path]) -> bool:
        """Whether it is one sentence that names what is damaged, and no exception."""
        names = {*look.paths, *(name for path in changed for name in (path.name, path.stem, path.parent.name) if name)}
        if "\n" in sentence or len(sentence) > LONGEST or "Traceback" in sentence:
            return False
        return any(name.strip("/").rpartition("/")[2] in sentence or name in sentence for name in names)

    def _copy(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.whole, self.home)


def _seen(looks: Sequence[Look]) -> Seen:
    return {look.name: _checked(lambda get=look.get: json.dumps(get(), sort_keys=True)) for look in looks}


def _spares(look: Look, changed: Sequence[Path]) -> bool:
    """Whether a look is at something else than the files that were changed."""
    return not any(part in path.as_posix() for part in look.paths for path in changed)


def _forget() -> None:
    """Forget what functions of Hedge have kept, as a new process does."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("core.", "app.")):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def _is_like(path: Path, other: Path) -> bool:
    """Whether two files play the same part for two runs, juries, …"""
    if path == other or path.parts[0] != other.parts[0] or path.suffix != other.suffix:
        return False
    return path.name == other.name or path.parts[0] not in FOLDERS or "chunks" in path.parts


def _checked(function: Callable[[], Any]) -> tuple[str, Any]:
    """The return value of a function, its refusal in a sentence, or its exception. A warning counts as an error."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = function()
        ours = [warning for warning in caught if issubclass(warning.category, (RuntimeWarning, UserWarning))]
        if ours:
            return "error", f"warning: {ours[0].message} ({ours[0].filename}:{ours[0].lineno})"
        return "value", value
    except HedgeError as error:
        return "refused", str(error)
    except BaseException:
        return "error", traceback.format_exc()


def _in_fork(function: Callable[[], Any]) -> tuple[str, Any]:
    """The return value of a function in a fork of this process; ``hang`` if the function takes too long."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on, where there are threads
        child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            os.close(reading)
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(silence, stream)
            try:
                content = pickle.dumps(("value", function()))
            except BaseException:
                content = pickle.dumps(("error", traceback.format_exc()))
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(content)
        finally:
            os._exit(0)
    os.close(writing)
    content, end = b"", time.monotonic() + WITHIN_S
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpgid(child, child)
    try:
        while (left := end - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
            if not (piece := os.read(reading, 1 << 20)):
                break
            content += piece
        else:
            return "hang", ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
    if not content:
        return "error", "the process died"
    outcome, value = pickle.loads(content)
    return outcome, value


@contextlib.contextmanager
def _environment(home: Path) -> Iterator[None]:
    variables = {
        "HEDGE_HOME": str(home),
        "HEDGE_FAKE_ENGINE": "{}",
        "HEDGE_START_AGENT": "0",
        "HEDGE_HOST": "here",
        "HEDGE_ARCHIVE_URL": f"file://{home}/archive",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
    }
    before = {name: os.environ.get(name) for name in (*variables, "HEDGE_DATABASE_URL")}
    os.environ.pop("HEDGE_DATABASE_URL", None)
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _difference(before: str, now: str) -> str:
    """Where two texts differ, with what is around."""
    place = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
    start = max(place - 60, 0)
    return f"…{before[start : place + 60]}… is now …{now[start : place + 60]}…"
