"""The state in a link to the Compare page."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class CompareView(SharedView):
    """The page has only shared fields."""

    LEADS = ("runs", "alpha", "score")
