"""From a link to a page's record and back; no browser and no session here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar, get_type_hints

from app.formatting import shortened
from app.state.fields import Read
from app.state.shared import SharedView
from core.errors import InputError
from core.reports.frames import alpha_value

View = TypeVar("View", bound=SharedView)

ALWAYS_SHOWN = ("run", "alpha")
"""Fields that stand in the address even at their defaults."""
SHARED_NAMES = tuple(field.name for field in fields(SharedView))


def readers(page: type[SharedView]) -> dict[str, Read]:
    """From each field of a page's record to what reads its text or raises :class:`InputError`."""
    hints = get_type_hints(page, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in fields(page)}


def names_in_address(page: type[SharedView]) -> tuple[str, ...]:
    """The fields that a page's link holds: the shared ones that it shows and all of its own."""
    own = [field.name for field in fields(page) if field.name not in SHARED_NAMES]
    return (*page.LEADS, *(name for name in own if name not in page.LEADS))


def parse(address: Mapping[str, str], start: View) -> tuple[View, tuple[str, ...]]:
    """The view that an address asks for, ``start`` where it says nothing, and a sentence for each nonsense in it."""
    values: dict[str, Any] = {}
    problems = []
    for name, read in readers(type(start)).items():
        if name not in address:
            continue
        try:
            values[name] = read(address[name])
        except InputError as error:
            problems.append(
                f"The link's {name} is “{shortened(address[name], 40)}”, but {error}; "
                f"{_in_words(name, getattr(start, name))} is shown instead."
            )
    return replace(start, **values), tuple(problems)


def opened(address: Mapping[str, str], start: View) -> tuple[View, tuple[str, ...]]:
    """The view of a page whose address is ``address``; ``start`` is the last view of it.

    An address without any field of the page, such as a menu's, brings back the last view. In any other, what stands
    at its default is left out, so a field that is absent returns to its default; the run and alpha are kept.
    """
    page = type(start)
    if not set(readers(page)).isdisjoint(address):
        default = page()
        absent = set(names_in_address(page)) - set(ALWAYS_SHOWN) - set(address)
        start = replace(start, **{name: getattr(default, name) for name in absent})
    return parse(address, start)


def _in_words(name: str, value: Any) -> str:
    return f"alpha {alpha_value(value):.3f}" if name == "alpha" else f"{name} {value}"


def address_of(view: SharedView) -> dict[str, str]:
    """The address that brings the view back: the fields of its page that differ from their defaults."""
    default = type(view)()
    shown = {name: str(getattr(view, name)) for name in names_in_address(type(view))}
    return {
        name: value
        for name, value in shown.items()
        if value and (name in ALWAYS_SHOWN or value != str(getattr(default, name)))
    }
