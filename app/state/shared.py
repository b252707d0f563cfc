"""The fields that follow a person from page to page, and the base of every page's record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.state.fields import Id, Runs, Thousandths, one_of
from core.conformal.scores import SCORES
from core.conformal.sets import EMPTY_POLICIES

NO_RUNS = "none"
"""The value of ``runs`` if a person removed all runs from a comparison. No run has this id."""


@dataclass(frozen=True, slots=True)
class SharedView:
    """The fields that pages share. Every page's record has them; the page's link holds those that ``LEADS`` names.

    A page's record adds the page's own fields, and the page's link holds all of those.
    """

    LEADS: ClassVar[tuple[str, ...]] = ()
    """The fields with which the page's link begins: the shared fields that it holds, and any own fields among them."""
    OF_ONE_RUN: ClassVar[tuple[str, ...]] = ()
    """The page's own fields that belong to one run. They return to their defaults if another run is selected. A page
    that keeps its run to itself can have the run among them: it then takes the run that is selected on another page."""

    FIRST: ClassVar[Mapping[str, str]] = {}
    """Values of the page's own fields where no link says them: at the first visit, and in links from other pages. In a
    link that lacks a field, the field has its default, so that older links open the same view."""

    KEPT: ClassVar[tuple[str, ...]] = ()
    """The shared fields that the page keeps to itself: it neither takes their values from other pages nor gives any."""

    MOVED: ClassVar[tuple[str, ...]] = (
        "alpha",
        "at",
        "bins",
        "change",
        "delta",
        "error",
        "gamma",
        "last",
        "length",
        "n",
        "t",
    )
    """The fields that a slider moves: their changes add no entry to the browser's history. Empty: all of the page's."""

    run: Id = ""
    """The selected run ("": the page's default)."""
    alpha: Thousandths = 100
    """Alpha, the share of sets that may miss the truth, in thousandths."""
    score: Annotated[str, one_of(tuple(SCORES))] = "lac"
    """The score that is shown by a figure with room for only one."""
    empty: Annotated[str, one_of(EMPTY_POLICIES)] = "allow"
    """The policy for a set that would be empty."""
    runs: Runs = ""
    """The runs that are compared ("": the page's default; :data:`NO_RUNS`: none, because a person removed all)."""
