"""What follows a person from page to page, and what every page's record has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.state.fields import Id, Runs, Thousandths, one_of
from core.conformal.scores import SCORE_NAMES
from core.conformal.sets import EMPTY_POLICIES

NO_RUNS = "none"
"""Stands for the runs of a comparison where a person cleared them all; no run has this id."""


@dataclass(frozen=True, slots=True)
class SharedView:
    """The choices that cross pages. Every page's record has them; its link holds those that ``LEADS`` names.

    A record of a page adds the page's own fields, and its link holds all of those.
    """

    LEADS: ClassVar[tuple[str, ...]] = ()
    """What the page's link begins with: the shared fields that it holds, and any of the page's own among them."""
    OF_ONE_RUN: ClassVar[tuple[str, ...]] = ()
    """The page's own fields that mean nothing in another run; they return to their defaults with another run."""

    run: Id = ""
    """The run that is looked at ("": the page's default)."""
    alpha: Thousandths = 100
    """The share of sets that may miss the truth, in thousandths."""
    score: Annotated[str, one_of(SCORE_NAMES)] = "lac"
    """The score that a figure with room for one shows."""
    empty: Annotated[str, one_of(EMPTY_POLICIES)] = "allow"
    """What becomes of a set that no option fits."""
    runs: Runs = ""
    """The runs that are compared ("": the latest ones; :data:`NO_RUNS`: none, as all were cleared)."""
