"""The state in a link to a page that says from which confidence a model or a judge may answer."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import parts
from app.state.shared import SharedView
from core.errors import InputError

SELECTIVE_NAMES = ("error", "delta")
"""The fields that the component shows and reports."""


def _half(text: str) -> int:
    rule = "it must be a whole number of thousandths from 1 to 500, or a number such as 0.05"
    number = parts(3, 1000, rule)(text)
    if not 1 <= number <= 500:
        raise InputError(rule)
    return number


@dataclass(frozen=True, slots=True)
class SelectiveView(SharedView):
    """A promise about answers (:mod:`core.conformal.selective`), in thousandths."""

    error: Annotated[int, _half] = 100
    """The largest share of answers that may be wrong."""
    delta: Annotated[int, _half] = 100
    """How often the promise may fail."""
