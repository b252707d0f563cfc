"""What a link to the One question page holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Id, one_of
from app.state.shared import SharedView
from core.conformal.scores import SCORE_NAMES


@dataclass(frozen=True, slots=True)
class OneQuestionView(SharedView):
    """A test question of a run, or a question of one's own."""

    LEADS = ("run", "question", "alpha", "empty")
    OF_ONE_RUN = ("question",)

    question: Id = ""
    """The id of the run's question ("": its first test question)."""
    bars: Annotated[str, one_of(SCORE_NAMES)] = "lac"
    """The score whose p-values are drawn."""
    ask: Annotated[str, one_of(("run", "own"))] = "run"
    """Whether the question is a run's or one's own."""
    answer: Id = ""
    """The id of the answer to a question of one's own ("": none was asked)."""
