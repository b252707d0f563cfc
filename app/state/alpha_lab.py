"""What a link to the Alpha lab holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Ordinal, Text, one_of, whole, whole_or_nothing
from app.state.shared import SharedView
from core.conformal.mondrian import BY
from core.conformal.scores import SCORE_NAMES

SHOWN_SETS = ("all", "misses", "empty", "wrong-single", "largest")


@dataclass(frozen=True, slots=True)
class AlphaLabView(SharedView):
    """Two scores side by side, how they are calibrated, the list of test questions, and the shift."""

    LEADS = ("run", "alpha", "empty")
    OF_ONE_RUN = ("row",)

    left: Annotated[str, one_of(SCORE_NAMES)] = "lac"
    """The score on the left."""
    right: Annotated[str, one_of(SCORE_NAMES)] = "aps"
    """The score on the right."""
    by: Annotated[str, one_of(BY)] = "all"
    """Which questions share a threshold."""
    extra: Annotated[str, one_of(("keep", "drop"))] = "keep"
    """Whether the options E and F are kept."""
    n: Annotated[int, whole(9, "calibration questions are counted in whole numbers, 0 for all")] = 0
    """How many calibration questions are used (0: all)."""
    split: Annotated[str, whole_or_nothing(6, "a split's number is whole and has at most 6 digits")] = ""
    """The number of another random split ("": the run's own)."""
    show: Annotated[str, one_of(SHOWN_SETS)] = "all"
    """Which sets the list of test questions shows."""
    on: Annotated[str, one_of(("left", "right"))] = "left"
    """By the score of which side the list is made."""
    subject: Text = ""
    """The subject of the listed questions ("": any)."""
    search: Text = ""
    """Words of the listed questions ("": any)."""
    list: Annotated[str, one_of(("cards", "rows"))] = "cards"
    """Whether questions are cards or rows."""
    row: Ordinal = 1
    """The number, from 1, of the first question that is shown."""
    source: Text = ""
    """What the shift calibrates on: a subject, or ``run:`` and the id of a run ("": the pair that shows most)."""
    target: Text = ""
    """What the shift tests on, in the same words."""
