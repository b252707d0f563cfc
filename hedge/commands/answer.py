"""The result of a command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from core.errors import UnreadableRunError

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """``values`` for ``--json``, ``text`` for a person, ``errors`` for standard error, and the exit status."""

    values: Any
    text: str
    status: int = 0
    errors: str = ""

    def beside(self, read: OfRuns[Any]) -> CommandResult:
        """The result, which is of the runs that could be read; the others are named on standard error."""
        errors = "\n".join(filter(None, [self.errors, read.errors]))
        return replace(self, status=self.status or read.status, errors=errors)


@dataclass(frozen=True)
class OfRuns(Generic[Value]):
    """A value for each run that could be read, and a line about each other run."""

    values: list[Value]
    errors: str
    status: int


def of_runs(names: Sequence[str], read: Callable[[str], Value]) -> OfRuns[Value]:
    """What ``read`` makes of each of these runs. Those that can't be read take nothing away from the others.

    Raises :class:`~core.errors.UnreadableRunError` if none can be read.
    """
    values, unreadable = [], []
    for name in names:
        try:
            values.append(read(name))
        except UnreadableRunError as error:
            unreadable.append(error)
    errors = "\n".join(f"hedge: {error}" for error in unreadable)
    if unreadable and not values:
        raise UnreadableRunError("; ".join(map(str, unreadable)))
    return OfRuns(values, errors, 1 if unreadable else 0)
