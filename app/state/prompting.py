"""The state in a link to the Prompting page."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Id, Text, one_of, whole_or_nothing
from app.state.shared import SharedView
from core.reports.prompting.experiments import METHODS


@dataclass(frozen=True, slots=True)
class PromptingView(SharedView):
    """An experiment, the two methods that are compared, and the question whose card is open."""

    LEADS = ("alpha", "score")

    experiment: Text = ""
    """The experiment's key ("": the one with the most forms)."""
    method: Annotated[str, one_of(tuple(METHODS))] = "letters"
    """The first of the two methods."""
    beside: Annotated[str, one_of(tuple(METHODS))] = "raw"
    """The second of the two methods."""
    shots: Annotated[str, whole_or_nothing(3, "the number of shots must be a whole number")] = ""
    """The number of shots of both methods ("": the fewest)."""
    question: Id = ""
    """The id of the question whose card is open ("": the first one)."""
