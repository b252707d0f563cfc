"""The state in a link to the Prompting page."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Id, Text, one_of, whole_or_nothing
from app.state.shared import SharedView
from core.questions.prompting.strategies import STRATEGIES
from core.reports.prompting.experiments import METHODS

Shots = Annotated[str, whole_or_nothing(3, "the number of shots must be a whole number")]


@dataclass(frozen=True, slots=True)
class PromptingView(SharedView):
    """An experiment, the two ways of asking that are compared, and the question whose card is open."""

    LEADS = ("alpha", "score")

    experiment: Text = ""
    """The experiment's key ("": the one with the most forms)."""
    method: Annotated[str, one_of(tuple(METHODS))] = "letters"
    """The method of the base way, with which all others are compared."""
    beside: Annotated[str, one_of(tuple(METHODS))] = "raw"
    """The method of the second way."""
    shots: Shots = ""
    """The number of shots of the base way ("": the fewest)."""
    beside_shots: Shots = ""
    """The number of shots of the second way ("": as many as the base way)."""
    strategy: Annotated[str, one_of(STRATEGIES)] = "base"
    """The strategy of the base way."""
    beside_strategy: Annotated[str, one_of(STRATEGIES)] = "base"
    """The strategy of the second way."""
    question: Id = ""
    """The id of the question whose card is open ("": the first one)."""
