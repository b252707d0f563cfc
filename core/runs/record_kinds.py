"""The kinds of values in the provenance of ``run.json``, checked once when it is read.

A record with a digest is what Hedge wrote. An older one, and one that a person has changed, may hold anything.
"""

import math
from collections.abc import Mapping
from typing import Any

from core.storage.sealed import DamagedError

NUMBER = float
"""A finite number, whole or not."""

PROVENANCE: dict[str, Any] = {
    "bounded_questions": int,
    "budget_reached": NUMBER,
    "chunk": int,
    "engine": {
        "budget": {"bytes": NUMBER},
        "device": str,
        "notes": [str],
        "parameters": NUMBER,
        "rung": str,
        "servers": [str],
        "vocabulary": int,
    },
    "jury": str,
    "missing": {},
    "ordered": bool,
    "model_files": {},
    "scored": {"characters": NUMBER, "questions": NUMBER},
    "scoring_seconds": NUMBER,
    "spent": [int],
}
"""What is computed with or shown as it is; all other fields of a provenance are only shown. An object has
any of these fields, and others."""
WORDS: dict[Any, str] = {str: "a text", int: "a whole number", NUMBER: "a number", bool: "true or false"}
LENGTHS = {"spent": 2}


def check_provenance(provenance: Mapping[str, Any]) -> None:
    """Raise :class:`~core.storage.sealed.DamagedError` for a value of another kind."""
    for name, value in provenance.items():
        if (wrong := misfit(name, value)) is not None:
            raise DamagedError(f"it has {wrong}")


def misfit(name: str, value: Any) -> str | None:
    """What is wrong with a value of a provenance, in words; None if nothing is."""
    if name not in PROVENANCE or value is None:
        return None
    try:
        _check(name, value, PROVENANCE[name])
    except DamagedError as error:
        return str(error).removeprefix("it has ")
    if len(value) != LENGTHS[name] if name in LENGTHS else False:
        return f"a field {name} of another length"
    if name == "scored" and set(PROVENANCE[name]) - {key for key, each in value.items() if each is not None}:
        return f"a field {name} that is not whole"
    return None


def _check(name: str, value: Any, kind: Any) -> None:
    """Raise :class:`DamagedError` unless the value is of the kind: a type, an object with fields of kinds, or a list
    whose entries have one kind."""
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            raise DamagedError(f"it has a field {name} that is no object")
        for key, each in value.items():
            if each is not None and key in kind:
                _check(f"{name}.{key}", each, kind[key])
    elif isinstance(kind, list):
        if not isinstance(value, list):
            raise DamagedError(f"it has a field {name} that is no list")
        for each in value:
            _check(name, each, kind[0])
    elif not _is(value, kind):
        raise DamagedError(f"it has a field {name} that is not {WORDS[kind]}")


def _is(value: Any, kind: type) -> bool:
    if kind is NUMBER:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
