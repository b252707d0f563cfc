"""The state in a link to the Overview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Names, Text, one_of
from app.state.shared import SharedView
from core.reports.overview.filters import SOURCES

FIGURES = ("matrix", "scatter", "runs")


@dataclass(frozen=True, slots=True)
class OverviewView(SharedView):
    """Which runs are shown, and how."""

    LEADS = ("alpha", "score")

    figure: Annotated[str, one_of(FIGURES)] = "matrix"
    """Models × tasks, accuracy against set size, or every figure in a table."""
    models: Names = ""
    """The models ("": all)."""
    tasks: Names = ""
    """The keys of the tasks ("": all)."""
    strategy: Text = ""
    """The strategy ("": the one that the page begins with; "all")."""
    form: Text = ""
    """The form ("": the one that the page begins with; "all")."""
    precision: Text = ""
    """The precision ("": the one that the page begins with; "all")."""
    whose: Annotated[str, one_of(SOURCES)] = SOURCES[0]
    """Runs that ship with Hedge, a person's own, or both."""
