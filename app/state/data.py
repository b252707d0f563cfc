"""The state in a link to the Data page."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class DataView(SharedView):
    """The page has only shared fields, which say how the sets of exported figures are formed."""

    LEADS = ("alpha", "score")
