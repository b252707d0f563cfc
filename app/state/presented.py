"""The state in a link to a page that can be presented."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import one_of
from app.state.shared import SharedView

PRESENTED_NAMES = ("present", "shown")
"""The fields that a presentable component shows and reports."""


@dataclass(frozen=True, slots=True)
class PresentedView(SharedView):
    """The presenter view, in which one component fills the window (``app/components/shared/presenter.js``)."""

    present: Annotated[str, one_of(("0", "1"))] = "0"
    """Whether the page is presented ("1": yes)."""
    shown: Annotated[str, one_of(("page", "1", "2", "3"))] = "page"
    """The scores that are presented, by their keys: the first, the second, or both ("page": what the page shows)."""
