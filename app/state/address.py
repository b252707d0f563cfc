"""Convert between a link and a page's record. Uses no browser and no session."""

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
"""The fields that a link contains even if they have their default values."""
SHARED_NAMES = tuple(field.name for field in fields(SharedView))


_readers: dict[type[SharedView], dict[str, Read]] = {}
"""What :func:`readers` has found, which takes a millisecond for each record."""


def readers(page: type[SharedView]) -> dict[str, Read]:
    """For each field of a page's record, a function that reads its text or raises :class:`InputError`."""
    if page not in _readers:
        hints = get_type_hints(page, include_extras=True)
        _readers[page] = {field.name: hints[field.name].__metadata__[0] for field in fields(page)}
    return _readers[page]


_names: dict[type[SharedView], tuple[str, ...]] = {}
"""What :func:`names_in_address` has found: a matrix has a link for each of its runs."""


def names_in_address(page: type[SharedView]) -> tuple[str, ...]:
    """The fields in a page's link: the shared ones that the page shows, and all of its own."""
    if page not in _names:
        own = [field.name for field in fields(page) if field.name not in SHARED_NAMES]
        _names[page] = (*page.LEADS, *(name for name in own if name not in page.LEADS))
    return _names[page]


def parse(address: Mapping[str, str], start: View) -> tuple[View, tuple[str, ...]]:
    """The view that an address describes, and one sentence for each invalid value in it.

    Fields that the address lacks keep their values in ``start``.
    """
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
    """The view of a page whose address is ``address``; ``start`` is the page's last view.

    An address without any field of the page, such as a menu's link, restores the last view. In any other address,
    fields at their defaults are left out, so a missing field returns to its default; the run and alpha are kept.
    """
    page = type(start)
    if not set(readers(page)).isdisjoint(address):
        default = page()
        absent = set(names_in_address(page)) - set(ALWAYS_SHOWN) - set(address)
        start = replace(start, **{name: getattr(default, name) for name in absent})
    return parse(address, start)


def _in_words(name: str, value: Any) -> str:
    if value == "":
        return "the default"
    return f"alpha {alpha_value(value):.3f}" if name == "alpha" else f"{name} {value}"


def linked(page: type[View], view: SharedView, **values: Any) -> dict[str, str]:
    """The address of a page for a link from another one: with the alpha, score and policy for empty sets of ``view``,
    defaults for the page's own fields, and ``values``."""
    return address_of(page(**{**page.FIRST, "alpha": view.alpha, "score": view.score, "empty": view.empty, **values}))


def address_of(view: SharedView) -> dict[str, str]:
    """The address that restores the view: the fields of its page that differ from their defaults."""
    default = type(view)()
    shown = {name: str(getattr(view, name)) for name in names_in_address(type(view))}
    return {
        name: value
        for name, value in shown.items()
        if value and (name in ALWAYS_SHOWN or value != str(getattr(default, name)))
    }
