"""What a reliability diagram says, as an answer in words: one bin, and the verdict on all answers."""

import math
from collections import Counter
from collections.abc import Sequence

from core.calibration.reliability import ReliabilityBin
from core.reports.calibration.calibrated import SIGNIFICANT, CalibrationDiagram, CalibrationFigures

NEAR = 0.9
"""The answer is about the bin whose mean confidence is nearest to this."""
FEWEST_IN_BIN = 10
"""A bin with fewer answers is passed over, if another bin has as many."""
UNSURE = "can't tell if it is off"
VERDICTS = {
    "over": ("shows overconfidence", "show overconfidence"),
    "under": ("shows underconfidence", "show underconfidence"),
    "calibrated": ("shows no error beyond chance", "show no error beyond chance"),
    "few": ("has too few answers for a verdict", "have too few answers for a verdict"),
}
"""A verdict and its words about one diagram and about several."""
WHOLE = 0.995
"""If at least this part of the error is of one kind, it is said without “mostly”."""


def telling_bin(diagram: CalibrationDiagram) -> int:
    """The number (from 1) of the bin that the answer is about: of the bins with at least ten answers, the one whose
    mean confidence is nearest to 90%; if no bin has ten, the one with most answers.

    The rule looks at confidences alone. A bin that was chosen because its accuracy is far off would need a wider
    interval.
    """
    filled = {number: held for number, held in enumerate(diagram.reliability, start=1) if held.n}
    enough = {number: held for number, held in filled.items() if held.n >= FEWEST_IN_BIN}
    if enough:
        return min(enough, key=lambda number: abs(enough[number].confidence - NEAR))
    return max(filled, key=lambda number: filled[number].n)


def bin_in_words(held: ReliabilityBin, model: str) -> tuple[str, str]:
    """How often a model is right when it says what this bin says, and how far that can be trusted.

    >>> bin_in_words(ReliabilityBin(0.87, 0.93, 28, 0.9, 0.54, 0.34, 0.72, 0.75, 0.97), "pocket-8m")
    ('When pocket-8m says 90%, it is right 54% of the time', '28 answers, 95% interval 34% to 72%')
    >>> bin_in_words(ReliabilityBin(0.87, 0.93, 28, 0.9, 0.86, 0.67, 0.96, 0.75, 0.97), "pocket-8m")[1]
    "28 answers, 95% interval 67% to 96%: can't tell if it is off"
    """
    answers = f"{held.n:,} answer{'s' * (held.n != 1)}"
    words = f"When {model} says {held.confidence:.0%}, it is right {held.accuracy:.0%} of the time"
    if math.isnan(held.accuracy_low):
        return words, f"{answers}, no interval: {UNSURE}"
    interval = f"{answers}, 95% interval {held.accuracy_low:.0%} to {held.accuracy_high:.0%}"
    return words, interval + f": {UNSURE}" * (held.accuracy_low <= held.confidence <= held.accuracy_high)


def verdict(figures: CalibrationFigures) -> str:
    """What the test of the ECE says of all answers: one of :data:`VERDICTS`."""
    if figures.test.reason:
        return "few"
    if figures.test.p_value > SIGNIFICANT:
        return "calibrated"
    return "over" if figures.estimates["over"].value > figures.estimates["under"].value else "under"


def verdict_in_words(figures: CalibrationFigures) -> str:
    """The verdict on one diagram, as a sentence."""
    word = verdict(figures)
    if word == "few":
        return "These are too few answers for a verdict."
    if word == "calibrated":
        return "Overall: calibrated, as far as we can tell."
    parts = figures.estimates["over"].value, figures.estimates["under"].value
    return f"Overall: {'' if max(parts) >= WHOLE * sum(parts) else 'mostly '}{word}confident."


def verdicts_in_words(figures: Sequence[CalibrationFigures]) -> str:
    """The verdicts on several diagrams, counted."""
    counts = Counter(map(verdict, figures))
    parts = [f"{counts[word]} {words[counts[word] > 1]}" for word, words in VERDICTS.items() if counts[word]]
    return f"Of {len(figures)} diagrams, {' and '.join(filter(None, (', '.join(parts[:-1]), parts[-1])))}."
