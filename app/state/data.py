"""The state in a link to the Data page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.state.fields import Id, Names, run_list
from app.state.shared import SharedView

MOST_EXPORTED = 50
NOTHING = "-"
"""What the link says of a choice of the shelf in which nothing is chosen."""


@dataclass(frozen=True, slots=True)
class DataView(SharedView):
    """The runs that are exported, how the sets of their figures are formed, and the result set of the shelf."""

    LEADS: ClassVar[tuple[str, ...]] = ("runs", "alpha", "score")
    KEPT: ClassVar[tuple[str, ...]] = ("runs",)

    runs: Annotated[str, run_list(MOST_EXPORTED, f"at most {MOST_EXPORTED} runs can be exported together")] = ""
    """The runs that are exported ("": the page's default; :data:`~app.state.shared.NO_RUNS`: none)."""
    shelf: Id = ""
    """The result set of the shelf that is shown ("": the first). The page says whether it exists."""
    shelf_model: Names = ""
    """The models of the result set that are chosen, as its files or its authors call them ("": the first;
    :data:`NOTHING`: none, because a person removed all).

    Of the Open LLM Leaderboard, it is the model that was looked up ("": none)."""
    shelf_data: Names = ""
    """The data sets that are chosen, as the files call them ("": the first; :data:`NOTHING`: none)."""
