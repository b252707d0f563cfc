"""The result of a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CommandResult:
    """``values`` for ``--json``, ``text`` for a person, ``errors`` for standard error, and the exit status."""

    values: Any
    text: str
    status: int = 0
    errors: str = ""
