"""The state in a link to the Compare page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.state.fields import SWITCH, Id, Names, Text, one_of, some_of
from app.state.selective import SelectiveView
from core.conformal.selective import BY
from core.reports.compare.run_matrix import MEASURES
from core.reports.overview.published import SOURCES

COUNTS = ("all", "both", "first", "second", "neither")
"""Questions that both runs have right, only the first, only the second, or neither."""
CHANGES = ("all", "grew", "shrank", "same")
"""How the second run's set differs in size from the first run's."""
SURE = ("all", "both", "neither", "first", "second")
"""Questions on which both runs are sure, neither is, or one is much more certain than the other."""
ORDERS = ("grew", "shrank", "confidence", "file")
EVERY_TABLE = "all"


@dataclass(frozen=True, slots=True)
class CompareView(SelectiveView):
    """``measure`` is the figure of the matrix. The other fields are those of the inspector: its two runs ("": the first
    two that share questions), its filters and order, and the question that is open ("": none)."""

    LEADS = ("runs", "alpha", "score")
    FIRST: ClassVar[Mapping[str, str]] = {"published": "off"}

    measure: Annotated[str, one_of(MEASURES)] = "accuracy"
    first: Id = ""
    second: Id = ""
    right: Annotated[str, one_of(COUNTS)] = "all"
    change: Annotated[str, one_of(CHANGES)] = "all"
    sure: Annotated[str, one_of(SURE)] = "all"
    subject: Text = ""
    search: Text = ""
    order: Annotated[str, one_of(ORDERS)] = "grew"
    question: Id = ""
    pass_by: Annotated[str, one_of(BY)] = "confidence"
    """What decides whether a question is answered."""
    published: Annotated[str, one_of(SWITCH)] = "on"
    """Whether published figures stand below the runs."""
    published_by: Annotated[str, some_of((EVERY_TABLE, *SOURCES))] = EVERY_TABLE
    """The published tables whose figures stand there."""
    published_models: Names = ""
    """The models whose published figures stand there ("": all)."""
