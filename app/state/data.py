"""What a link to the Data page holds."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class DataView(SharedView):
    """Shared fields alone: how the sets of exported figures are formed."""

    LEADS = ("alpha", "score")
