"""A verification as a JSON document, and the last one of this home.

The document::

    {"schema": 1,
     "started": "2026-11-22T21:40:00Z",     UTC
     "seconds": 214.0,                      from the start to the end
     "stopped": false,                      whether a person ended it early
     "failed": 0,                           rows that failed
     "machine": {"host", "system", "processor", "cores", "memory_gib", "gpus": [{"name", "memory_gib"}], "driver",
                 "python", "hedge", "packages": {name: version}},
     "rows": [{"name": "paths/cpu/float32", "shows": "what the check shows",
               "state": "passed" | "failed" | "not here" | "not tried",
               "says": "one sentence", "figures": {name: number or text}, "seconds": 7.1}],
     "sealed": "a digest of all this"}      (:mod:`core.storage.sealed`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.checks.outcome import CheckResult, State
from core.errors import InputError
from core.settings import settings
from core.storage.sealed import read_json, write_json

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Verification:
    """All rows of one verification; ``started`` is UTC as text, ``machine`` as :func:`core.checks.machine.described`.

    ``stopped`` says that a person ended it early.
    """

    started: str
    seconds: float
    machine: Mapping[str, Any]
    rows: tuple[CheckResult, ...]
    stopped: bool = False

    def count(self, state: State) -> int:
        """How many rows have this state."""
        return sum(row.state == state for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The document."""
        return {
            "schema": SCHEMA,
            "started": self.started,
            "seconds": round(self.seconds, 1),
            "stopped": self.stopped,
            "failed": self.count("failed"),
            "machine": dict(self.machine),
            "rows": [row.to_json() for row in self.rows],
        }

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Verification:
        """The verification of a document; raises KeyError, TypeError or ValueError for anything else."""
        if values["schema"] != SCHEMA:
            raise ValueError(f"schema {values['schema']} and not {SCHEMA}")
        rows = tuple(map(CheckResult.from_json, values["rows"]))
        return Verification(values["started"], values["seconds"], values["machine"], rows, values["stopped"])


def write(verification: Verification, path: Path) -> None:
    """Write the document. Raises :class:`InputError` if that is not possible."""
    try:
        write_json(path, verification.to_json(), indent=1)
    except OSError as error:
        raise InputError(f"{path} can't be written ({error.strerror}); give another file") from error


def keep(verification: Verification) -> None:
    """Keep it as the last one of this home, for the Doctor page."""
    _latest().parent.mkdir(parents=True, exist_ok=True)
    write(verification, _latest())


def latest() -> Verification | None:
    """The last verification of this home; None if there was none, or it is of another version of Hedge."""
    try:
        return Verification.from_json(read_json(_latest()))
    except (OSError, KeyError, TypeError, ValueError):
        return None


def _latest() -> Path:
    return settings().home / "verify" / "latest.json"
