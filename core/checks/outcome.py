"""The result of a check. Loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

State = Literal["passed", "failed", "not here", "not tried"]
STATES: tuple[State, ...] = ("passed", "failed", "not here", "not tried")
Figure = float | int | str


class NotHereError(Exception):
    """Raised by a check that needs what this machine does not have; its text is a sentence that says so."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a check computes: ``device`` is cpu or cuda, the first one that its process sees; ``dtype`` is empty for a
    check that is made in one precision alone."""

    device: str = "cpu"
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Whether a check ``passed``, one sentence that says what was found, and its figures by name.

    A figure's name ends in its unit.
    """

    passed: bool
    says: str
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One row of the table. ``name`` is ``check/device/dtype``, as far as the check has them; ``seconds`` what it took.

    ``not here`` says that this machine lacks what the check needs, ``not tried`` that the time was up or it was
    stopped.
    """

    name: str
    shows: str
    state: State
    says: str
    figures: Mapping[str, Figure] = field(default_factory=dict)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values."""
        return asdict(self)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> CheckResult:
        """The row of :meth:`to_json`; raises KeyError, TypeError or ValueError for anything else."""
        if values["state"] not in STATES:
            raise ValueError(f"unknown state {values['state']!r}")
        return CheckResult(**values)
