"""What a link to the lesson holds."""

from __future__ import annotations

from dataclasses import dataclass

from app.state.fields import Ordinal
from app.state.shared import SharedView


@dataclass(frozen=True, slots=True)
class LearnView(SharedView):
    """The run whose figures the lesson shows, and the step."""

    LEADS = ("run",)

    step: Ordinal = 1
    """The step of the lesson, from 1."""
