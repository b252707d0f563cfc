"""Reads dropped files in a process with limits, which dies in place of the page when a file is a bomb.

The process says which file it opens before it does. If it dies, that file is refused with one sentence that names the
limit, and another process reads the others. Files read before are kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from core.errors import InputError
from core.exchange.dropped.files import MOST_FILES, DroppedFile, Gathered, Refusal
from core.exchange.dropped.found import FoundFile, Header, Reading, TableHeader
from core.exchange.dropped.grouping import DroppedGroup, Sorted
from core.exchange.dropped.kinds import KINDS
from core.exchange.dropped.reading import (
    Kinds,
    Progress,
    Result,
    assembled,
    find_kind,
    gathered_once,
    group_step,
    read_group,
    sorted_files,
    with_meaning,
)
from core.exchange.table_columns import Columns
from core.processes.confined import Channel, ForkServer, LimitReached, Limits, misunderstood
from core.settings import settings
from core.tables.encodings import MOST_UNPACKED
from core.tables.safe_read import LARGEST_FILE

Value = TypeVar("Value")
FORK_SERVER = ForkServer("core.exchange.dropped.apart")
"""The process that forks a reader for each drop. It ends with this process."""
SECONDS_PER_MB = 1.0
"""Processor time of a step beyond :attr:`Limits.seconds`, for each million bytes of its files."""
FIRST_SECONDS = 8.0
MOST_MESSAGES = 10 * MOST_FILES
"""What a process may send. It sends four messages for each file."""
MOST_OF_MEMORY = 4
"""How many times the limit of memory all messages may have together. They are kept until the person has decided."""
MOST_DEATHS = 5
"""Files of a drop that may reach a limit before the rest is not read either."""
WAY_OUT = "split it, or use `hedge import PATH --memory GB --seconds S`, which can be given higher limits"
"""What a person can do about a limit."""


def default_limits(*, memory_gb: float = 0.0, seconds: float = 0.0) -> Limits:
    """The limits of reading: those of the settings where none are given. Raises :class:`~core.errors.InputError` for a
    limit that nothing can be read in."""
    return Limits(memory=int((memory_gb or settings().read_memory_gb) * (1 << 30)), seconds=seconds or FIRST_SECONDS)


@dataclass(frozen=True, slots=True)
class _Opening:
    """Said before a file is opened: which, and how much of the work is done. ``seconds``: what the step may take."""

    path: Path
    name: str
    seconds: float
    done: int = 0
    of: int = 0
    key: str = ""


@dataclass(slots=True)
class _State:
    """What is known of a drop: sent to each process, and added to by what it says."""

    paths: list[tuple[Path, str]]
    scratch: Path
    gathered: Gathered | None = None
    kinds: Kinds = field(default_factory=dict)
    read: dict[str, Result] = field(default_factory=dict)
    skipped: dict[Path, Refusal] = field(default_factory=dict)
    """Paths at which a process died before the files of the drop were known."""


class DropApart:
    """Files that were dropped together, read in a process with limits."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        scratch: Path,
        name: Callable[[Path], str] = str,
        limits: Limits | None = None,
        way_out: str = WAY_OUT,
    ) -> None:
        self._limits = limits or default_limits()
        self._longest = self._limits.seconds + SECONDS_PER_MB * (MOST_UNPACKED + LARGEST_FILE) / 1e6
        self._way_out = way_out
        self._state = _State([(path, name(path)) for path in paths], scratch)

    @property
    def files(self) -> Sequence[DroppedFile]:
        """The files, those of archives too, once they have been read."""
        return self._state.gathered.files if self._state.gathered else ()

    def read(
        self,
        *,
        mappings: Mapping[Header, Columns] | None = None,
        meant: Mapping[str, str] | None = None,
        progress: Progress = lambda done, total, name: None,
    ) -> Reading:
        """Read everything; ``mappings`` say which column is what in tables with a header, ``meant`` what tables have
        (:func:`~.reading.with_meaning`)."""
        for deaths in range(MOST_DEATHS + 1):
            opening: _Opening | None = None
            known: dict[str, Result] = {key: [] for key in self._state.read}  # the results themselves stay here
            state = replace(self._state, read=known)
            with FORK_SERVER.open(
                *(_read, state, dict(mappings or {}), dict(meant or {})),
                limits=self._limits,
                reads=[path for path, _ in state.paths],
                writes=[state.scratch],
            ) as session:
                try:
                    for _ in range(MOST_MESSAGES):
                        message = session.receive(Message, seconds=opening.seconds if opening else 0.0)
                        if session.received > MOST_OF_MEMORY * self._limits.memory:
                            raise misunderstood(f"{session.received / 1e9:.1f} GB")
                        if isinstance(message, tuple):
                            message = message[1]  # what the function returned
                        if isinstance(message, _Groups):
                            return message.reading(self._state)
                        if isinstance(message, _Opening):
                            opening = replace(message, seconds=min(message.seconds, self._longest))
                            progress(min(max(message.done, 0), message.of), max(message.of, 1), message.name)
                        else:
                            message.add_to(self._state)
                    raise misunderstood(f"more than {MOST_MESSAGES:,} messages")
                except LimitReached as error:
                    if opening is None or deaths == MOST_DEATHS:
                        raise
                    self._refuse(opening, error)
        raise AssertionError("the loop returns or raises")

    def _refuse(self, opening: _Opening, error: LimitReached) -> None:
        """Leave out what the process was reading when it died."""
        refused = Refusal(opening.name, f"{error}; {self._way_out}" if error.what else str(error))
        if opening.key:
            self._state.read[opening.key] = refused
        elif self._state.gathered is None:
            self._state.skipped[opening.path] = refused
        else:
            self._state.kinds[opening.path] = refused


def apart(function: Callable[..., Value], *arguments: Any, name: str) -> Value:
    """What a module's function returns for ``arguments``, which come from the file ``name``, called in such a process.
    Raises what it raises, and :class:`InputError` if the file reaches a limit."""
    paths = [argument for argument in arguments if isinstance(argument, Path)]
    with FORK_SERVER.open(_call, function, arguments, limits=default_limits(), reads=paths) as session:
        try:
            value: Value = session.receive(get_type_hints(function)["return"])[1]
        except LimitReached as error:
            raise InputError(f"{name}: {error}; split it, or set HEDGE_READ_MEMORY_GB") from error
    return value


# ---------------------------------------------------------------- in the process with limits


def _call(channel: Channel, function: Callable[..., Value], arguments: tuple[Any, ...]) -> Value:
    return function(*arguments)


@dataclass(frozen=True, slots=True)
class _Files:
    gathered: Gathered

    def add_to(self, state: _State) -> None:
        """Take the files, which must be those of the drop, or unpacked from them."""
        paths = {path for path, _ in state.paths}
        roots = [path.resolve() for path in (*paths, state.scratch)]
        for file in self.gathered.files:
            real = file.path.resolve()
            if file.path not in paths and not any(real.is_relative_to(root) for root in roots):
                raise misunderstood(f"the file {file.path}, which is not part of the drop")
        state.gathered = self.gathered


@dataclass(frozen=True, slots=True)
class _Kind:
    path: Path
    kind: str | Refusal

    def add_to(self, state: _State) -> None:
        if isinstance(self.kind, str) and self.kind not in KINDS:
            raise misunderstood(f"the kind {self.kind!r}")
        state.kinds[self.path] = self.kind


@dataclass(frozen=True, slots=True)
class _Group:
    key: str
    result: Result

    def add_to(self, state: _State) -> None:
        state.read[self.key] = self.result


@dataclass(frozen=True, slots=True)
class _Groups:
    """What :class:`~.grouping.Sorted` holds, with each group as its names and its key."""

    groups: tuple[tuple[tuple[str, ...], str], ...]
    elsewhere: tuple[FoundFile, ...]
    refused: tuple[Refusal, ...]
    tables: tuple[TableHeader, ...]

    def reading(self, state: _State) -> Reading:
        files = set(state.gathered.files if state.gathered else ())
        for file in self.elsewhere:
            if file.file not in files or file.kind not in KINDS:
                raise misunderstood(f"the file {file.file.name}, which is not part of the drop")
        if state.gathered is None or any(key not in state.read for _, key in self.groups):
            raise misunderstood("results without their files")
        groups = [DroppedGroup(names, _read_already, key) for names, key in self.groups]
        done = Sorted(groups, list(self.elsewhere), list(self.refused), list(self.tables))
        return assembled(done, state.read, refused=(*state.gathered.refused, *state.skipped.values()))


Message = _Opening | _Files | _Kind | _Group | _Groups
"""What the process sends; the last one is what :func:`_read` returns."""


def _read(channel: Channel, state: _State, mappings: Mapping[Header, Columns], meant: Mapping[str, str]) -> _Groups:
    """Read what is not known yet and say it. Returns the groups."""

    def opens(path: Path, name: str, size: int, **more: Any) -> None:
        seconds = channel.limits.seconds + SECONDS_PER_MB * size / 1e6
        channel.send(_Opening(path, name, seconds, **more))
        channel.step(seconds)

    if state.gathered is None:
        names = {path: name for path, name in state.paths if path not in state.skipped}
        state.gathered = gathered_once(
            list(names),
            scratch=state.scratch,
            name=names.__getitem__,
            at=lambda path, name: opens(path, name, _size(path)),
        )
        channel.send(_Files(state.gathered))
    files, steps = state.gathered.files, 2 * len(state.gathered.files)
    for n, file in enumerate(files):
        if file.path not in state.kinds:
            opens(file.path, file.name, _size(file.path), done=n, of=steps)
            state.kinds[file.path] = find_kind(file, files)
            channel.send(_Kind(file.path, state.kinds[file.path]))
    done = sorted_files(
        files,
        with_meaning(files, state.kinds, meant),
        mappings,
        at=lambda file: opens(file.path, file.name, _size(file.path), done=len(files), of=steps),
    )
    for n, group in enumerate(done.groups):
        if group.key not in state.read:
            size = sum(map(_size, group.paths))
            opens(group.paths[0], group.names[0], size, done=group_step(n, done.groups, files), of=steps, key=group.key)
            channel.send(_Group(group.key, read_group(group, files)))
    groups = tuple((group.names, group.key) for group in done.groups)
    return _Groups(groups, tuple(done.elsewhere), tuple(done.refused), tuple(done.tables))


def _read_already() -> list[Any]:
    """Stands for a group's reader where the group has been read in another process."""
    raise AssertionError("the group was read in another process")


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(inner.stat().st_size for inner in path.rglob("*") if inner.is_file() and not inner.is_symlink())
    return path.stat().st_size
