"""The state in a link to the lesson."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.fields import Ordinal
from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class LearnView(SharedView):
    """The run whose figures the lesson shows, its alpha, and the current step."""

    LEADS = ("run", "alpha")
    KEPT = ("run",)

    step: Ordinal = 1
    """The step of the lesson, from 1. A number beyond the last step is the end of the lesson."""
