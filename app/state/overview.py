"""The state in a link to the Overview."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import SWITCH, Names, one_of, some_of
from app.state.shared import SharedView
from core.reports.overview.published import SOURCES

FIGURES = ("matrix", "scatter", "runs")
ALL = "all"
"""The value of a filter that keeps every run, where an empty one stands for what the page begins with."""
YOURS = "yours"
"""The runs that a person launched or imported."""
WHOSE = (ALL, "shipped", YOURS, "launched", "imported", *SOURCES)


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
    strategy: Names = ""
    """The strategies ("": the one that the page begins with; :data:`ALL`)."""
    shots: Names = ""
    """The numbers of shots ("": the one that the page begins with; :data:`ALL`)."""
    form: Names = ""
    """The forms ("": the one that the page begins with; :data:`ALL`)."""
    precision: Names = ""
    """The precisions ("": the one that the page begins with; :data:`ALL`)."""
    whose: Annotated[str, some_of(WHOSE)] = ALL
    """The sources of the runs (:data:`YOURS`: launched and imported ones) and of published figures."""
    published: Annotated[str, one_of(SWITCH)] = "off"
    """Whether published figures stand beside those that were computed here. A filter that names
    them shows them anyway."""
