"""The state in a link to the Calibration page."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import one_of, parts, whole
from app.state.shared import SharedView
from core.calibration.bins import ECE_BINS, EDGES, check_bins
from core.reports.calibration.calibrated import WITHIN
from core.reports.calibration.temperature import check_hundredths


def _bins(text: str) -> int:
    return check_bins(whole(3, "the number of bins must be a whole number")(text))


def _temperature(text: str) -> int:
    return check_hundredths(parts(3, 100, "a temperature must be a whole number of hundredths")(text))


@dataclass(frozen=True, slots=True)
class CalibrationView(SharedView):
    """Reliability diagrams of several runs, and the temperature of one run."""

    LEADS = ("runs", "alpha")

    bins: Annotated[int, _bins] = ECE_BINS
    """The number of bins."""
    edges: Annotated[str, one_of(EDGES)] = "width"
    """Whether bins have equal width or equal mass."""
    within: Annotated[str, one_of(WITHIN)] = "all"
    """The groups that have a diagram each."""
    t: Annotated[int, _temperature] = 100
    """The temperature in hundredths."""
