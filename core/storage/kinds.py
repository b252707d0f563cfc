"""Whether the values of a record that was read from a file are of the kinds that its fields name."""

from dataclasses import fields
from numbers import Integral, Real
from typing import Any

from core.storage.sealed import DamagedError

KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (Integral,),
    "int | None": (Integral, type(None)),
    "float": (Real,),
    "float | None": (Real, type(None)),
}
"""The values that a field may have, by its annotation."""
LISTS = {"tuple[str, ...]": "str", "tuple[float, ...]": "float", "tuple[bool, ...]": "bool"}
DICTIONARIES = {"dict[str, str]": "str", "dict[str, Any]": "Any"}
"""The annotations of fields with several values, with that of each value."""


def fits(value: Any, kind: str) -> bool:
    """Whether a value may stand in a field with this annotation; True for an annotation that is not listed here.

    >>> fits(2, "float"), fits(True, "int"), fits(("a", 1), "tuple[str, ...]")
    (True, False, False)
    """
    if kind in LISTS:
        return isinstance(value, tuple) and all(fits(each, LISTS[kind]) for each in value)
    if kind in DICTIONARIES:
        return isinstance(value, dict) and all(fits(each, DICTIONARIES[kind]) for each in value.values())
    return kind not in KINDS or (isinstance(value, KINDS[kind]) and isinstance(value, bool) == (kind == "bool"))


def check_kinds(record: Any) -> None:
    """Raise :class:`~core.storage.sealed.DamagedError` for a dataclass with a value that does not fit its field's
    annotation."""
    for each in fields(record):
        if not fits(getattr(record, each.name), str(each.type)):
            raise DamagedError(f"it has a field {each.name} that is not of the kind {each.type}")
