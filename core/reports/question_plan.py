"""How many questions? What a number of questions shows, and how many a wanted figure needs.

A plan begins with a pilot, which says how the answers of two runs differ: two runs, one run, or guesses
(:class:`core.reports.compare.power.SpreadOfPair`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.conformal.alpha import THOUSAND, Alpha, alpha_text
from core.conformal.clusters import count
from core.conformal.coverage import beta_binomial_band
from core.conformal.question_counts import (
    MOST,
    band_width,
    calibration_needed,
    fewest,
    questions_for_threshold,
    questions_for_width,
    sides,
)
from core.conformal.set_sizes.power import calibrating
from core.errors import InputError
from core.reports.caveats import in_one, of_run
from core.reports.compare import paired
from core.reports.compare.power import (
    POWER,
    SIGNIFICANT,
    SpreadOfPair,
    spread_of_pair,
    spread_with_another,
)
from core.reports.compare.shared_questions import FEWEST
from core.reports.evaluation import Evaluation
from core.tables.read_as import counted

POINTS = 40
"""The numbers of questions of a curve."""
LEAST, UP_TO = 40, 10_000
"""The ends of a curve, unless the chosen number of questions lies beyond them."""
UNEVEN_BELOW = 0.5
"""Clusters whose Kish number is a smaller share of their number differ much in size."""
UNEVEN = (
    "Its questions or clusters differ much in how many rows they have. The planned power in accuracy may then be too "
    "low, so fewer questions may be enough."
)
WORST = (
    "Without a pilot run, the two models are taken to answer independently and to be right on half of the questions, "
    "which needs the most questions."
)


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a plan takes to hold of two runs, and the sentence that says it.

    ``calibration`` and ``tests`` count the questions of the runs that it comes from; None for a guess. ``apart`` is the
    difference of two guessed accuracies, otherwise None. ``caveats`` are those of the runs, each with its run's id.
    """

    spread: SpreadOfPair
    says: str
    calibration: float | None = None
    tests: int | None = None
    apart: float | None = None
    caveats: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionNeed:
    """The questions that reach a ``wanted`` figure, a width or a difference: how many ``calibration`` and ``test``
    questions, with how many ``rows`` to test. ``reached`` is the width, or the power, that they have."""

    wanted: float
    questions: int
    calibration: int
    test: int
    rows: int
    reached: float


@dataclass(frozen=True, slots=True)
class DetectableFigures:
    """What a number of questions shows: the band of coverage and its width, and the smallest differences in accuracy
    and mean set size that a comparison of two such runs finds. NaN where there is none, or where it is not known.
    ``rough`` says that the one in set size is (:meth:`SpreadOfPair.is_rough`)."""

    calibration: int
    test: int
    band: tuple[float, float]
    width: float
    accuracy: float
    set_size: float
    rough: bool


def pilot_of(runs: Sequence[Evaluation], alpha: int, *, score: str = "lac") -> Pilot:
    """The pilot of one run or of two. Raises :class:`InputError` for another number, for the same run twice, and
    for runs with fewer than 10 (shared) test questions."""
    if len(runs) not in (1, 2):
        raise InputError(f"a plan takes one pilot run or two, got {len(runs)}; name the two that are most alike")
    if len({run.run_id for run in runs}) < len(runs):
        raise InputError(f"both pilot runs are {runs[0].run_id}, which says nothing of a second model; name it once")
    if len(runs) == 1:
        side, clusters = paired.swappable_run(runs[0], alpha, score=score)
        if (tested := count(clusters, side.right.shape[1])) < FEWEST:
            raise InputError(
                f"run {runs[0].run_id} has {counted(tested, 'test question')}, and a pilot needs at least {FEWEST}; "
                "name a larger one, or give guesses"
            )
        spread, n = spread_with_another(side, alpha, clusters), float(side.calibration.shape[1])
        says = (
            f"From {runs[0].run_id}. The other model is taken to answer independently of it, which needs more "
            "questions than models that agree."
        )
    else:
        first, second, clusters = paired.swappable_pair(runs[0], runs[1], alpha, score=score)
        side, spread = first, spread_of_pair(first, second, alpha, clusters)
        n = calibrating(*(run.calibration.shape[1] + len(run.alone) for run in (first, second)))
        alone = f"exactly one is right on {spread.differing:.1%} of the questions"
        says = f"From {runs[0].run_id} and {runs[1].run_id}: {alone}." + f" {UNEVEN}" * (spread.even < UNEVEN_BELOW)
    caveats = tuple((run.run_id, text) for run in runs if (text := in_one(of_run(run))))
    return Pilot(spread, says, n, count(clusters, side.right.shape[1]), caveats=caveats)


def guess(accuracies: Sequence[float] = (), agreement: float | None = None) -> Pilot:
    """The pilot of guesses: the accuracies of one model or of two, and on which share of the questions both are right
    or both are wrong. Without an agreement they answer independently.

    Raises :class:`InputError` for shares outside [0, 1], and for an agreement that these accuracies can't have.
    """
    if len(accuracies) > 2:
        raise InputError(f"a plan compares two models, got {len(accuracies)} accuracies; give one or two")
    for name, value in (*(("an accuracy", p) for p in accuracies), ("the agreement", agreement)):
        if value is not None and not 0 <= value <= 1:
            raise InputError(f"{name} must be a share from 0 to 1, got {value:g}; 0.7 stands for 70%")
    first, second = (*accuracies, *accuracies, 0.5, 0.5)[:2] if len(accuracies) < 2 else tuple(accuracies)
    apart = abs(first - second) if len(accuracies) == 2 else None
    if agreement is None:
        differing, growth = first + second - 2 * first * second, 0.0 if apart is not None else abs(1 - 2 * first)
        says = "The two models are taken to answer independently, which needs more questions than models that agree."
        return Pilot(SpreadOfPair(differing, growth), says if accuracies else WORST, apart=apart)
    fewest_alike, most_alike = abs(first + second - 1), 1 - abs(first - second)
    if accuracies and not fewest_alike - 1e-9 <= agreement <= most_alike + 1e-9:
        raise InputError(
            f"models that are right on {first:g} and {second:g} of the questions agree on {fewest_alike:g} to "
            f"{most_alike:g} of them, got {agreement:g}; change the agreement or the accuracies"
        )
    says = f"The two models are taken to agree on {agreement:.1%} of the questions."
    return Pilot(SpreadOfPair(1 - agreement), says, apart=apart)


def figures_of(
    pilot: Pilot,
    calibration: float,
    test: int,
    alpha: Alpha,
    *,
    significance: float = SIGNIFICANT,
    power: float = POWER,
) -> DetectableFigures:
    """What this many calibration and test questions show."""
    n, spread = round(calibration), pilot.spread
    width = band_width(n, test, alpha)
    set_size = math.nan
    if test and calibration:
        set_size = spread.detectable_size(calibration, test, significance=significance, power=power)
    return DetectableFigures(
        n,
        test,
        (math.nan, math.nan) if math.isnan(width) else beta_binomial_band(n, test, alpha),
        width,
        spread.detectable_accuracy(test, significance=significance, power=power) if test else math.nan,
        set_size,
        not math.isnan(set_size) and spread.is_rough(calibration),
    )


def curve(
    pilot: Pilot, alpha: Alpha, share: float, *, chosen: int, significance: float = SIGNIFICANT, power: float = POWER
) -> pd.DataFrame:
    """What numbers of questions show, from few to many: ``questions``, ``width``, ``accuracy``, ``set_size``
    and ``rough`` (:class:`DetectableFigures`). The ``chosen`` number is among them."""
    ends = min(LEAST, max(chosen // 2, 2)), max(UP_TO, 2 * chosen)
    numbers = np.unique(np.append(np.geomspace(*ends, POINTS).round().astype(np.int64), chosen))
    rows = [
        figures_of(pilot, *sides(number, share), alpha, significance=significance, power=power)
        for number in numbers.tolist()
    ]
    columns = {name: [getattr(row, name) for row in rows] for name in ("width", "accuracy", "set_size", "rough")}
    return pd.DataFrame({"questions": numbers, **columns})


def for_threshold(alpha: Alpha, share: float) -> QuestionNeed:
    """The fewest questions for which an exact threshold exists. Raises :class:`InputError` above a million."""
    questions = questions_for_threshold(alpha, share)
    needed = calibration_needed(alpha)
    if questions is None:
        raise InputError(
            f"an exact threshold at alpha {alpha_text(float(alpha) / THOUSAND)} needs {needed:,} calibration "
            f"questions, which are more than a share of {share:g} of {MOST:,} questions; choose a larger alpha"
        )
    return _need(float(alpha) / THOUSAND, questions, share, 1.0, needed)


def for_width(width: float, alpha: Alpha, share: float) -> QuestionNeed:
    """The number of questions from which on the band of coverage is at most this wide.

    Raises :class:`InputError` for a width outside (0, 1), and above a million questions.
    """
    if not 0 < width < 1:
        raise InputError(f"the width of a band must be between 0 and 1, got {width:g}; 0.05 stands for 5 points")
    for_threshold(alpha, share)
    questions = questions_for_width(width, alpha, share)
    if questions is None:
        raise InputError(f"a band of width {width:g} needs more than {MOST:,} questions; ask for a wider one")
    return _need(width, questions, share, 1.0, band_width(*sides(questions, share), alpha))


def for_accuracy(
    pilot: Pilot, difference: float, share: float, *, significance: float = SIGNIFICANT, power: float = POWER
) -> QuestionNeed:
    """The questions that show a difference in accuracy with this power.

    Raises :class:`InputError` for a difference outside (0, 1], and above a million questions.
    """
    if not 0 < difference <= 1:
        raise InputError(
            f"a difference in accuracy must be above 0 and at most 1, got {difference:g}; 0.03 is 3 points"
        )

    def reached(questions: int) -> float:
        return pilot.spread.accuracy_power(sides(questions, share)[1], difference, significance)

    return _for(reached, power, difference, share, pilot.spread.rows, "accuracy")


def for_set_size(
    pilot: Pilot, difference: float, share: float, *, significance: float = SIGNIFICANT, power: float = POWER
) -> QuestionNeed:
    """The questions that show a difference in mean set size with this power.

    Raises :class:`InputError` without a pilot run, for a difference that is not above 0, and above a million questions.
    """
    if pilot.spread.sizes is None:
        raise InputError(
            "how much set sizes vary can't be guessed, and at an infinite threshold they don't vary; name one or two "
            "finished runs with enough calibration questions for this alpha as --runs"
        )
    if not 0 < difference < math.inf:
        raise InputError(
            f"a difference in mean set size must be above 0, got {difference:g}; 0.2 is a fifth of an option"
        )

    def reached(questions: int) -> float:
        calibration, tests = sides(questions, share)
        if not (calibration and tests):
            return 0.0
        return pilot.spread.size_power(calibration, tests, difference, significance)

    return _for(reached, power, difference, share, pilot.spread.rows, "mean set size")


def _for(
    reached: Callable[[int], float], power: float, difference: float, share: float, rows: float, figure: str
) -> QuestionNeed:
    questions = fewest(lambda number: reached(number) >= power, 2)
    if questions is None:
        raise InputError(
            f"a difference of {difference:g} in {figure} needs more than {MOST:,} questions at a power of {power:g}; "
            "ask for a larger difference or less power"
        )
    return _need(difference, questions, share, rows, reached(questions))


def _need(wanted: float, questions: int, share: float, rows: float, reached: float) -> QuestionNeed:
    calibration, test = sides(questions, share)
    return QuestionNeed(wanted, questions, calibration, test, round(test * rows), reached)
