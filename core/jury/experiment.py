"""The jury experiment: how often each rule is right, over repeated splits into calibration and test.

The protocol ``published`` keeps the answers on which jurors disagree, with the source's calibration answers first. It
shuffles them with pandas (``DataFrame.sample(frac=1, random_state=seed)``) and calibrates on as many of them as the
source's own calibration part has. The other answers are divided in the same way. They are never judged; only rules that
are fitted on all answers use the calibration part of them.

An interval estimates what the same experiment, calibration included, would give on other answers of the same kind.
Splits overlap and share their answers, so the spread over splits does not measure this uncertainty, and neither does a
bootstrap that keeps the fits fixed. Instead, the whole experiment is repeated without each of 20 groups of answers
(:mod:`core.calibration.jackknife`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.calibration.bins import TopLabel
from core.calibration.errors import top_errors
from core.calibration.jackknife import ends, random_groups
from core.errors import InputError
from core.estimates import Estimate
from core.jury.adjudication import PUBLISHED_RULES, RULES, Case, adjudicate
from core.jury.confidence import confidence
from core.jury.judgements import Judgements, one_sided
from core.records import BoolArray, FloatArray, IntArray

MEASURES = ("accuracy", "precision", "recall", "f1")
BASELINES = ("majority", "max_probability")
"""The rules with which every rule is compared."""
SEEDS_NAMED = 10
"""The most seeds that a sentence lists; of more seeds it lists the first ones."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How rules are tested.

    There is one split per seed. ``disagreement`` keeps only answers on which jurors disagree. ``share`` is the share of
    the answers that calibrates; None means as many as the source's own calibration part has. ``confidence`` and
    ``rules`` name the confidence scale and the rules. Raises :class:`InputError` if there are no seeds, a seed is not
    from 0 to 2³² − 1, or the share is outside (0, 1).
    """

    seeds: tuple[int, ...] = tuple(range(10))
    disagreement: bool = True
    share: float | None = 0.5
    confidence: str = "published"
    rules: tuple[str, ...] = tuple(RULES)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise InputError("an experiment needs at least one seed, got none")
        for seed in self.seeds:
            if not 0 <= seed < 1 << 32:
                raise InputError(f"a seed must be a whole number from 0 to 4294967295, got {seed}")
        if self.share is not None and not 0 < self.share < 1:
            raise InputError(f"the calibration share must lie in (0, 1), got {self.share}")


PROTOCOLS = {
    "published": Protocol(share=None, rules=PUBLISHED_RULES),
    "all-rules": Protocol(share=None),
}
"""Protocols by name: the published experiment, and the same splits with every rule."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule's results over all splits: the means over seeds of the four measures.

    ``to_majority`` and ``to_max_probability`` are the rule's accuracy minus that of these two rules on the same
    answers.
    """

    rule: str
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate
    to_majority: Estimate
    to_max_probability: Estimate


@dataclass(frozen=True, slots=True)
class JurorOutcome:
    """A juror's mean accuracy over all splits."""

    juror: str
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class JuryExperiment:
    """The results of an experiment with ``n`` answers, selected from ``kept_of``.

    In each split ``n_calibration`` answers calibrate and ``n_test`` are tested. ``right`` is the share of the ``n``
    answers that is right. ``ece`` is the expected calibration error (15 bins) of all jurors' confidences together, and
    ``ece_raw`` that of their raw probabilities; both are means over splits, as published.
    """

    protocol: Protocol
    kept_of: int
    n: int
    n_calibration: int
    n_test: int
    right: float
    outcomes: tuple[RuleResult, ...]
    jurors: tuple[JurorOutcome, ...]
    ece: float
    ece_raw: float


@dataclass(frozen=True, slots=True)
class Split:
    """One split: the indices of its calibration and test rows among the judgements, and the input of the rules."""

    calibration: IntArray
    test: IntArray
    case: Case


def kept(judgements: Judgements, protocol: Protocol) -> IntArray:
    """The indices of the answers that an experiment uses, with the source's calibration part first.

    Raises :class:`InputError` if the jurors disagree on no answer, or the remaining answers are all right or all wrong.
    """
    chosen = judgements.disagreed if protocol.disagreement else np.ones(len(judgements), dtype=np.bool_)
    if not chosen.any():
        raise InputError(
            f"the jurors agree on all {len(judgements)} answers, so there is nothing to decide; choose all answers"
        )
    places = np.flatnonzero(chosen)
    later = np.array([judgements.parts[i] != "calibration" for i in places])
    places = places[np.argsort(later, kind="stable")]
    labels = judgements.labels[places]
    if labels.all() or not labels.any():
        raise InputError(f"{one_sided(judgements.rows(places))}; a rule can only be judged if both labels occur")
    return places


def calibration_size(judgements: Judgements, places: IntArray, protocol: Protocol) -> int:
    """The number of answers among ``places`` that calibrate.

    Raises :class:`InputError` if the source's own split would leave none to calibrate on or none to test.
    """
    n = len(places)
    if protocol.share is None:
        size: int = sum(judgements.parts[i] == "calibration" for i in places.tolist())
        if not 0 < size < n:
            raise InputError(
                f"of these {n} answers, the source marks {size} for calibration, so its own split can't be used; give "
                "a calibration share"
            )
        return size
    return min(max(round(protocol.share * n), 1), n - 1)


def split_in_half(judgements: Judgements, protocol: Protocol) -> tuple[Protocol, str]:
    """The protocol, changed to calibrate on half of the answers if it asks for a source's split that does not exist.

    The second value is a sentence that says so and why; it is empty if the protocol is unchanged. Raises
    :class:`InputError` as :func:`kept` does.
    """
    if protocol.share is not None:
        return protocol, ""
    places = kept(judgements, protocol)
    calibrate = sum(judgements.parts[i] == "calibration" for i in places.tolist())
    if 0 < calibrate < len(places):
        return protocol, ""
    if not any(judgements.parts):
        why = "The judgements do not say which answers are for calibration"
    else:
        why = f"The judgements mark {'all' if calibrate else 'none'} of these {len(places)} answers for calibration"
    seeds = ", ".join(map(str, protocol.seeds[:SEEDS_NAMED])) + (" …" if len(protocol.seeds) > SEEDS_NAMED else "")
    return replace(protocol, share=0.5), (
        f"{why}, so each split calibrates on a random half of them and tests on the other half (seeds {seeds})."
    )


def split(
    judgements: Judgements,
    places: IntArray,
    size: int,
    seed: int,
    protocol: Protocol,
    *,
    without: BoolArray | None = None,
) -> Split:
    """The split for one seed: ``places`` are shuffled with pandas, and the first ``size`` calibrate.

    ``without`` (n,) marks judgements that are then left out on both sides. A side keeps them if it would otherwise lack
    what it needs: calibration needs right and wrong answers, and testing needs at least one answer.
    """
    order, others = _shuffled(places, seed), _shuffled(_not_judged(judgements, places), seed)
    agreed = others[: _share_of_others(judgements, others, protocol)]
    sides = order[:size], order[size:]
    if without is not None:
        sides = _less(sides[0], without, judgements, both=True), _less(sides[1], without, judgements, both=False)
        agreed = agreed[~without[agreed]]
    calibration, test = (judgements.rows(side) for side in sides)
    return Split(
        *sides,
        Case(
            test,
            confidence(protocol.confidence, calibration, test),
            calibration,
            judgements.verdicts[agreed] if protocol.disagreement else None,
        ),
    )


def _shuffled(places: IntArray, seed: int) -> IntArray:
    return places[_order(len(places), seed)]


@functools.lru_cache(maxsize=64)
def _order(n: int, seed: int) -> IntArray:
    """A random order of n rows as pandas shuffles them, (n,). It is cached, because experiments repeat their splits."""
    import pandas as pd  # slow to import, and not needed to list names

    order = np.array(pd.Series(np.arange(n)).sample(frac=1, random_state=seed), dtype=np.int64)
    order.setflags(write=False)
    return order


def _not_judged(judgements: Judgements, places: IntArray) -> IntArray:
    """The indices of all other answers, in order."""
    others = np.ones(len(judgements), dtype=np.bool_)
    others[places] = False
    return np.flatnonzero(others)


def _share_of_others(judgements: Judgements, others: IntArray, protocol: Protocol) -> int:
    """The number of answers that calibrate among those that are not judged.

    This follows :func:`calibration_size`, but it may be 0.
    """
    if protocol.share is None:
        return sum(judgements.parts[i] == "calibration" for i in others.tolist())
    return round(protocol.share * len(others))


def _less(side: IntArray, without: BoolArray, judgements: Judgements, *, both: bool) -> IntArray:
    """The side without the marked answers, or the whole side if too little would be left (``both``: both labels)."""
    kept = side[~without[side]]
    enough = len(kept) > 0 and (not both or 0 < judgements.labels[kept].sum() < len(kept))
    return kept if enough else side


Figures = Callable[[Sequence[Split]], FloatArray]
"""A function from an experiment's splits to any figures (f,)."""


def estimates(
    judgements: Judgements, protocol: Protocol, figures: Figures, *, least: float = -np.inf, most: float = np.inf
) -> list[Estimate]:
    """Figures of an experiment's splits with 95% intervals, which are clipped to ``least`` … ``most``.

    Raises :class:`InputError` as :func:`kept`, :func:`calibration_size` and the rules do.
    """
    values, left_out = repeated(judgements, protocol, figures)
    low, high = ends(values, left_out, least=least, most=most)
    return [Estimate(*map(float, one)) for one in zip(values, low, high, strict=True)]


def repeated(judgements: Judgements, protocol: Protocol, figures: Figures) -> tuple[FloatArray, FloatArray]:
    """Figures of an experiment's splits, (f,), and of the same experiment without each of g groups of answers, (g, f).

    Raises :class:`InputError` as :func:`estimates` does.
    """
    places = kept(judgements, protocol)
    group = np.empty(len(judgements), dtype=np.int64)
    for of in (places, _not_judged(judgements, places)):
        group[of] = random_groups(len(of))
    left_out = [once(judgements, protocol, figures, without=group == one) for one in np.unique(group[places])]
    return once(judgements, protocol, figures), np.stack(left_out)


def once(
    judgements: Judgements, protocol: Protocol, figures: Figures, *, without: BoolArray | None = None
) -> FloatArray:
    """Figures of an experiment's splits, (f,), of all answers or ``without`` (n,) the marked ones.

    Raises :class:`InputError` as :func:`estimates` does.
    """
    places = kept(judgements, protocol)
    size = calibration_size(judgements, places, protocol)
    return figures([split(judgements, places, size, seed, protocol, without=without) for seed in protocol.seeds])


def run(judgements: Judgements, protocol: Protocol) -> JuryExperiment:
    """Apply every rule of the protocol to every split.

    Raises :class:`InputError` as :func:`kept`, :func:`calibration_size` and the rules do.
    """
    names = with_baselines(protocol.rules)

    def figures(splits: Sequence[Split]) -> FloatArray:
        return rule_figures(splits, [decided(names, of.case) for of in splits])

    values, left_out = repeated(judgements, protocol, figures)
    return tried(judgements, protocol, values, *ends(values, left_out, least=-1.0, most=1.0))


def decided(rules: Sequence[str], case: Case) -> dict[str, BoolArray]:
    """The verdicts (n,) of each of these rules."""
    return {name: adjudicate(name, case) for name in rules}


def rule_figures(splits: Sequence[Split], verdicts: Sequence[dict[str, BoolArray]]) -> FloatArray:
    """The figures of an experiment from the verdicts of its rules on each split, flat.

    First come six for each rule, in the order of ``verdicts``: the four measures and the two differences to
    :data:`BASELINES`, which have to be among the rules. Then comes the accuracy of each juror.
    """
    names = list(verdicts[0])
    # measured (rules, 4): the four measures, averaged over splits
    measured = np.mean(
        [[_measures(said[name], of) for name in names] for of, said in zip(splits, verdicts, strict=True)], axis=0
    )
    accuracies = measured[:, 0]
    against = [accuracies - accuracies[names.index(other)] for other in BASELINES]
    jurors = np.mean([of.case.asked.right.mean(axis=0) for of in splits], axis=0)
    return np.concatenate([np.column_stack([measured, *against]).ravel(), jurors])


def tried(
    judgements: Judgements, protocol: Protocol, values: FloatArray, low: FloatArray, high: FloatArray
) -> JuryExperiment:
    """The experiment whose figures (:func:`rule_figures`) are ``values``, with the ends of their intervals.

    The rules are those of the protocol and :data:`BASELINES` (:func:`with_baselines`). The ends are NaN if only the
    figures themselves are computed.
    """
    places = kept(judgements, protocol)
    size = calibration_size(judgements, places, protocol)
    names = with_baselines(protocol.rules)
    found = [Estimate(*map(float, one)) for one in zip(values, low, high, strict=True)]
    width = len(MEASURES) + len(BASELINES)
    by_rule = {name: found[i * width : (i + 1) * width] for i, name in enumerate(names)}
    splits = [split(judgements, places, size, seed, protocol) for seed in protocol.seeds]
    return JuryExperiment(
        protocol=protocol,
        kept_of=len(judgements),
        n=len(places),
        n_calibration=size,
        n_test=len(places) - size,
        right=float(judgements.labels[places].mean()),
        outcomes=tuple(RuleResult(name, *by_rule[name]) for name in protocol.rules),
        jurors=tuple(
            JurorOutcome(name, of) for name, of in zip(judgements.jurors, found[len(names) * width :], strict=True)
        ),
        ece=_mean_ece([(of.case.confidence, of.case.asked.right) for of in splits]),
        ece_raw=_mean_ece([(of.case.asked.top, of.case.asked.right) for of in splits]),
    )


def _mean_ece(splits: Sequence[tuple[FloatArray, BoolArray]]) -> float:
    """The mean over splits of the ECE of all jurors' confidences together.

    Each split has the confidences (n, j) and whether the verdicts are right (n, j).
    """
    return float(
        np.mean([top_errors(TopLabel(sure.ravel(), right.ravel().astype(np.float64))).ece for sure, right in splits])
    )


def with_baselines(rules: Sequence[str]) -> list[str]:
    """The rules, and after them those of :data:`BASELINES` that are not among them."""
    return list(dict.fromkeys([*rules, *BASELINES]))


def _measures(verdict: BoolArray, of: Split) -> list[float]:
    return list(measures(verdict, of.case.asked.labels).values())


def measures(verdict: BoolArray, labels: BoolArray) -> dict[str, float]:
    """Accuracy, precision, recall and F1 of verdicts (n,), n ≥ 1; a right answer is the positive class.

    A measure is 0 if its denominator is 0: precision if no answer is judged right, recall if no answer is right.

    >>> measures(np.array([True, True, False]), np.array([True, False, False]))["precision"]
    0.5
    """
    hits, said, right = int((verdict & labels).sum()), int(verdict.sum()), int(labels.sum())
    parts = (int((verdict == labels).sum()), len(labels)), (hits, said), (hits, right), (2 * hits, said + right)
    return {name: part / of if of else 0.0 for name, (part, of) in zip(MEASURES, parts, strict=True)}
