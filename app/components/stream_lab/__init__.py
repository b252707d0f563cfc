"""The Stream lab's component. Two runs are sent once, and the browser follows the whole stream while a person drags.

``adaptive``, ``betting`` and ``streams`` contain the arithmetic, which ``tests/reference`` repeats in Python.
``answer`` puts the figures into words, ``tracks`` draws, and ``stream_lab`` combines them all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app import state
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows, seed
from app.state.presented import PRESENTED_NAMES
from app.state.stream_lab import StreamLabView
from core.conformal.scores import SCORE_NAMES, SCORES

NAMES = ("alpha", "score", "gamma", "change", "last", "draw", "length", *PRESENTED_NAMES)
"""The fields of a view that the component shows and changes."""

_mount = component("stream_lab", Path(__file__).with_name("stream_lab.html"))


def stream_view(view: StreamLabView) -> dict[str, Any]:
    """The part of a view that the component shows, with the names that the browser uses too."""
    return {name: getattr(view, name) for name in NAMES}


def stream_lab(
    tables: Mapping[str, Any],
    *,
    version: str,
    names: Sequence[str],
    model: str,
    view: StreamLabView,
    scores: Sequence[str] = SCORE_NAMES,
    caveats: str = "",
    key: str = "stream_lab",
) -> None:
    """Mount the lab on the tables of two runs (:func:`core.reports.stream_lab.stream_tables`).

    ``version`` identifies the data, and ``names`` are those of the first and the second kind of question. A person
    chooses one of the ``scores``. The presenter view shows the ``model`` and the ``caveats``.
    """
    start = seed(key, version, stream_view(view))
    _mount(
        key=key,
        data={
            **_streams(tables, names, view),
            "version": version,
            "scores": [(score, SCORES[score].title) for score in scores],
            "model": model,
            "caveats": caveats,
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=lambda: _take_view(key),
    )


def embedded_streams(tables: Mapping[str, Any], names: Sequence[str], view: StreamLabView) -> dict[str, Any]:
    """The data of the same lab outside the app (:mod:`charts.embed`)."""
    shown = stream_view(replace(view, present="0", shown="page"))
    return {**_streams(tables, names, view), "version": "embed", "view": shown, "revision": 0}


def _streams(tables: Mapping[str, Any], names: Sequence[str], view: StreamLabView) -> dict[str, Any]:
    return {**tables, "names": list(names), "ink": "aps" if view.score.startswith("aps") else "lac"}


def _take_view(key: str) -> None:
    reported = message_texts(key, "view")
    view = state.read_changes(StreamLabView, {name: reported[name] for name in NAMES if name in reported})
    browser_shows(key, stream_view(view))
