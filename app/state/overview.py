"""The state in a link to the Overview."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class OverviewView(SharedView):
    """The page has only shared fields."""

    LEADS = ("alpha", "score")
