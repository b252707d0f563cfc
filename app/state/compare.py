"""What a link to the Compare page holds."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class CompareView(SharedView):
    """Shared fields alone."""

    LEADS = ("runs", "alpha", "score")
