"""The state in a link to the One question page."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Id, one_of
from app.state.presented import PresentedView
from core.conformal.scores import SCORES


@dataclass(frozen=True, slots=True)
class OneQuestionView(PresentedView):
    """A test question of a run, or a person's own question."""

    LEADS = ("run", "question", "alpha", "empty")
    OF_ONE_RUN = ("question",)

    question: Id = ""
    """The id of the run's question ("": the page's default, :func:`core.reports.one_question.first_shown`)."""
    bars: Annotated[str, one_of(tuple(SCORES))] = "lac"
    """The score whose p-values are drawn."""
    ask: Annotated[str, one_of(("run", "own"))] = "run"
    """Whether the question is from a run or a person's own."""
    calibration: Id = ""
    """The run that a person chose to calibrate their own questions ("": a run with questions of the same kind)."""
    answer: Id = ""
    """The id of the answer to a person's own question ("": none was asked)."""
