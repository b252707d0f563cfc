"""What the tests of a pair of runs say, as an answer in words."""

import math
from collections.abc import Sequence

from core.conformal.scores import SCORES
from core.reports.compare.power import POWER, ROUGH, SIGNIFICANT, SmallestDifferences
from core.reports.compare.run_matrix import PairDifference, RunMatrix
from core.reports.p_values import p_said


def pair_in_words(
    matrix: RunMatrix, names: Sequence[str], first: int, second: int, *, score: str = "lac"
) -> tuple[str, str]:
    """Which of two runs is right more often and which is more certain, and the figures that say so.

    ``names`` are those of the matrix's runs, ``first`` and ``second`` two places among them, and sets are by ``score``.
    Where the corrected p-value is above 5%, the answer is that nobody can tell.
    """
    accuracy, size = (_of_pair(matrix.pairs[measure], first, second) for measure in ("accuracy", "set_size"))
    right, held = matrix.figures["accuracy"], matrix.figures["set_size"]
    in_order = [(first, second), (second, first)]
    better = in_order[right[first] < right[second]] if accuracy.corrected <= SIGNIFICANT else None
    surer = in_order[held[first] > held[second]] if size.corrected <= SIGNIFICANT else None
    figures = (
        f"{names[first]} is right on {right[first]:.1%} of the questions and {names[second]} on {right[second]:.1%} "
        f"({p_said(accuracy.corrected)}). Their sets by {SCORES[score].title} hold {held[first]:.2f} and "
        f"{held[second]:.2f} options on average ({p_said(size.corrected)})."
    )
    detectable = detectable_words(matrix, (first, second))
    return _answer(names, (first, second), better, surer), f"{figures} {detectable}{_of_all(matrix)}"


def detectable_words(matrix: RunMatrix, pair: tuple[int, int] | None = None) -> str:
    """How large a true difference has to be, so that these questions show it: of a pair, or of any pair."""
    largest, rough = {}, False
    for measure in ("accuracy", "set_size"):
        pairs = matrix.pairs[measure] if pair is None else [_of_pair(matrix.pairs[measure], *pair)]
        detectable = [difference.detectable for difference in pairs]
        largest[measure] = math.nan if any(map(math.isnan, detectable)) else max(detectable)
        rough = rough or (any(difference.rough for difference in pairs) and not math.isnan(largest[measure]))
    several = len(matrix.pairs["accuracy"])
    return smallest_in_words(
        SmallestDifferences(largest["accuracy"], largest["set_size"], rough),
        between="" if pair or several == 1 else " between two of these runs",
        corrected=f"{several} pairs" if several > 1 else "",
    )


def smallest_in_words(smallest: SmallestDifferences, *, between: str = "", corrected: str = "") -> str:
    """The smallest differences in a sentence, ``between`` which runs and ``corrected`` for what."""
    sizes = [f"{100 * smallest.accuracy:.1f} points in accuracy"] * (not math.isnan(smallest.accuracy))
    sizes += [f"{smallest.set_size:.2f} options in set size"] * (not math.isnan(smallest.set_size))
    if not sizes:
        return "These questions are too few to show any difference."
    after = f", after the correction for {corrected}" if corrected else ""
    says = f"a true difference{between} of {' or '.join(sizes)} in {POWER:.0%} of draws{after}"
    return f"These questions show {says}.{f' {ROUGH}' if smallest.rough else ''}"


def _of_pair(pairs: Sequence[PairDifference], first: int, second: int) -> PairDifference:
    return next(pair for pair in pairs if {pair.first, pair.second} == {first, second})


def _answer(
    names: Sequence[str], pair: tuple[int, int], better: tuple[int, int] | None, surer: tuple[int, int] | None
) -> str:
    """``better`` and ``surer`` are the pair with the better run first, or None where the difference can be chance."""
    if better and surer:
        surely = " and more certain" if better == surer else f", but {names[surer[0]]} is more certain"
        return f"{_more('right more often', names, better)}{surely}: both are more than chance."
    if better:
        return f"{_more('right more often', names, better)}, by more than chance. Can't tell which is more certain."
    if surer:
        return f"{_more('more certain', names, surer)}, by more than chance. Can't tell which is right more often."
    first, second = (names[place] for place in pair)
    return f"Can't tell {first} and {second} apart: both differences can be chance."


def _more(what: str, names: Sequence[str], pair: tuple[int, int]) -> str:
    return f"{names[pair[0]]} is {what} than {names[pair[1]]}"


def _of_all(matrix: RunMatrix) -> str:
    """How many of all pairs differ; empty for a single pair."""
    pairs = len(matrix.pairs["accuracy"])
    if pairs == 1:
        return ""
    accuracy, size = (
        sum(pair.corrected <= SIGNIFICANT for pair in matrix.pairs[measure]) for measure in ("accuracy", "set_size")
    )
    return (
        f" Of all {pairs} pairs, {accuracy} differ in accuracy and {size} in set size by more than chance, after the "
        "p-values are corrected for this number of pairs."
    )
