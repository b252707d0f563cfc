"""The state in a link to the Alpha lab."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Ordinal, Text, one_of, whole, whole_or_nothing
from app.state.presented import PresentedView
from core.conformal.mondrian import BY
from core.conformal.scores import SCORES

SHOWN_SETS = ("all", "misses", "empty", "wrong-single", "largest")


@dataclass(frozen=True, slots=True)
class AlphaLabView(PresentedView):
    """Two scores side by side, their calibration, the list of test questions, and the shift."""

    LEADS = ("run", "alpha", "empty")
    OF_ONE_RUN = ("row",)

    left: Annotated[str, one_of(tuple(SCORES))] = "lac"
    """The score on the left."""
    right: Annotated[str, one_of(tuple(SCORES))] = "aps"
    """The score on the right."""
    by: Annotated[str, one_of(BY)] = "all"
    """The questions that share a threshold."""
    extra: Annotated[str, one_of(("keep", "drop"))] = "keep"
    """Whether the options E and F are kept."""
    n: Annotated[int, whole(9, "the number of calibration questions must be a whole number, with 0 for all")] = 0
    """The number of calibration questions that are used (0: all)."""
    split: Annotated[str, whole_or_nothing(6, "a split must be a whole number with at most 6 digits")] = ""
    """The seed of another random split ("": the run's own split)."""
    show: Annotated[str, one_of(SHOWN_SETS)] = "all"
    """The kind of sets that the list of test questions shows."""
    on: Annotated[str, one_of(("left", "right"))] = "left"
    """The side whose score selects the listed questions."""
    subject: Text = ""
    """The subject of the listed questions ("": any subject)."""
    search: Text = ""
    """Words that the listed questions contain ("": any question)."""
    list: Annotated[str, one_of(("cards", "rows"))] = "cards"
    """Whether questions are shown as cards or rows."""
    row: Ordinal = 1
    """The position, from 1, of the first question that is shown."""
    source: Text = ""
    """The questions on which the shift calibrates: a subject, or ``run:`` and a run's id ("": the pair that differs
    most).
    """
    target: Text = ""
    """The questions on which the shift tests, in the same form."""
