"""The state in a link to the lesson."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import SWITCH, Ordinal, one_of
from app.state.presented import PresentedView
from core.reports.lesson import LESSONS


@dataclass(frozen=True, slots=True)
class LearnView(PresentedView):
    """The lesson, the run whose figures it shows, its alpha, and the current step."""

    LEADS = ("run", "alpha")
    KEPT = ("run",)

    step: Ordinal = 1
    """The step of the lesson, from 1. A number beyond the last step is the end of the lesson."""
    lesson: Annotated[str, one_of(tuple(LESSONS))] = "sets"
    """The lesson of the course."""
    sheet: Annotated[str, one_of(SWITCH)] = "off"
    """Whether the lecturer's sheet of the lesson is shown instead of a step."""
