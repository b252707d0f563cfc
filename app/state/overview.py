"""What a link to the Overview holds."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class OverviewView(SharedView):
    """Shared fields alone."""

    LEADS = ("alpha", "score")
