"""The Alpha lab's component. Data is sent to the browser once, and the browser computes everything while alpha moves.

The shared scripts ``random_numbers``, ``scores``, ``sets`` and ``coverage_distributions``, and the local scripts
``splits`` and ``redraw``, contain the arithmetic of :mod:`core.conformal`. The other scripts draw, and ``alpha_lab``
combines them all.

Data stays the same between reruns, so Streamlit sends a reference instead of the arrays. The browser's starting state
(the seed) changes only if something other than the component changed the view, such as a link or the back button.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app import state
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows, seed
from app.state.address import names_in_address
from app.state.alpha_lab import AlphaLabView
from core.conformal.scores.table import score_table

NAMES = tuple(name for name in names_in_address(AlphaLabView) if name not in ("run", "source", "target"))
"""The fields of a view that the component shows and changes: all but the run and the two sides of the shift."""

_mount = component("alpha_lab", Path(__file__).with_name("alpha_lab.html"))


def lab_view(view: AlphaLabView) -> dict[str, Any]:
    """The part of a view that the lab shows, with the names that the browser uses too."""
    return {name: getattr(view, name) for name in NAMES}


def alpha_lab(
    tables: Mapping[str, Any],
    *,
    version: str,
    name: str,
    caveats: str,
    view: AlphaLabView,
    on_open: Callable[[str], None],
    key: str = "alpha_lab",
) -> None:
    """Mount the lab on a run's tables (:func:`core.reports.frames.lab_tables`).

    ``version`` identifies the data, and ``name`` is the run's title. The presenter view shows the ``caveats``. A value
    that a person drags goes into the view when they release it. ``on_open`` is called with the id of a question that a
    person wants to see on its own page.
    """
    start = seed(key, version, lab_view(view))
    _mount(
        key=key,
        data={
            **tables,
            "version": version,
            "name": name,
            "caveats": caveats,
            "scores": score_table(ordered=tables["ordered"]),
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: _take_view(key),
        on_open_change=lambda: _open(key, on_open),
    )


def _take_view(key: str) -> None:
    view = _read(message_texts(key, "view"))
    browser_shows(key, lab_view(view))


def _open(key: str, on_open: Callable[[str], None]) -> None:
    reported = message_texts(key, "open")
    _read(reported)
    on_open(reported.get("question", ""))


def _read(reported: dict[str, str]) -> AlphaLabView:
    """Update the view with what the browser reports. The values are validated as those of a link are."""
    return state.read_changes(AlphaLabView, {name: reported[name] for name in NAMES if name in reported})
