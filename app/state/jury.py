"""The state in a link to the Jury page."""

from dataclasses import dataclass
from typing import Annotated

from app.state.fields import Names, Text, one_of, whole
from app.state.selective import SelectiveView
from core.errors import InputError
from core.jury.adjudication import RULES
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import MEASURES

CASES = ("all", "split", "flipped", "differ", "sure", "abstained")
"""The kinds of answers that can be listed."""


def _hundredths(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 3 and int(text) <= 100):
        raise InputError("it must be a whole number of hundredths from 0 to 100")
    return int(text)


@dataclass(frozen=True, slots=True)
class JuryView(SelectiveView):
    """A jury, how its answers are judged, and the answer that is open."""

    LEADS = ("alpha",)

    jury: Text = ""
    """The jury's id ("": the latest jury)."""
    judged: Annotated[str, one_of(("disputed", "all"))] = "disputed"
    """The kind of answers that are judged."""
    confidence: Annotated[str, one_of(tuple(CONFIDENCES))] = "published"
    """The scale of the jurors' confidence."""
    rule: Annotated[str, one_of(tuple(RULES))] = "majority"
    """The rule whose verdicts are shown."""
    at: Annotated[int, _hundredths] = 0
    """The confidence, in hundredths, below which the rule abstains."""
    cases: Annotated[str, one_of(CASES)] = "all"
    """The kind of answers that are listed."""
    order: Annotated[str, one_of(MEASURES)] = "accuracy"
    """The measure by which the rules are ordered."""
    judges: Names = ""
    """The judges that are asked one after another, in this order ("": all, in the jury's order)."""
    labels: Annotated[int, whole(6, "it must be a whole number of labels")] = 50
    """The number of human labels of the label budget."""
    use: Text = ""
    """The judge of the label budget and what is used of it ("": the first one)."""
    card: Text = ""
    """The id of the answer that is open ("": none)."""
