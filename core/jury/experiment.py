"""The jury experiment: how often each rule is right, over repeated splits into calibration and test.

The protocol ``published`` keeps the answers on which jurors disagree, with the source's calibration answers first. It
shuffles them with pandas (``DataFrame.sample(frac=1, random_state=seed)``) and calibrates on as many of them as the
source's own calibration part has. The other answers are divided in the same way. They are never judged; only rules that
are fitted on all answers use the calibration part of them.

An interval estimates what the same experiment, calibration included, would give on other answers of the same kind.
Splits overlap and share their answers, so the spread over splits does not measure this uncertainty, and neither does a
bootstrap that keeps the fits fixed. Instead, the whole experiment is repeated without each of 20 groups of answers
(:mod:`core.calibration.jackknife`). The resulting variance says how many independent answers a figure is worth. Shares
then have Clopper–Pearson intervals, and differences Tango's.

Answers of one question, or of one named cluster, are not independent. They are left out together, and splits of our own
keep them on one side.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.calibration.bins import TopLabel
from core.calibration.errors import top_errors
from core.calibration.jackknife import difference_ends, random_groups, share_ends
from core.conformal.clusters import count, within
from core.errors import InputError
from core.estimates import Estimate
from core.jury.adjudication import CONSTANT, PUBLISHED_RULES, RULES, TOO_FEW, Case, adjudicate
from core.jury.confidence import confidence
from core.jury.dawid_skene import FEWEST
from core.jury.judgements import TIE, Judgements, one_sided
from core.records import BoolArray, FloatArray, IntArray

MEASURES = ("accuracy", "precision", "recall", "f1")
BASELINES = ("majority", "max_probability", *CONSTANT)
"""The rules with which every rule is compared."""
BEHIND = ("precision", "recall", "f1")
"""The measures that are shares of some of the answers. How many of the answers these are is a figure too."""
WIDTH = len(MEASURES) + len(BASELINES) + len(BEHIND) + 2 * len(BASELINES)
"""The number of figures of a rule (:func:`rule_figures`)."""
SEEDS_NAMED = 10
"""The most seeds that a sentence lists; of more seeds it lists the first ones."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """The settings of a test of rules.

    There is one split per seed. ``disagreement`` keeps only answers on which jurors disagree. ``share`` is the share of
    the answers that calibrates; None means as many as the source's own calibration part has. ``confidence`` and
    ``rules`` name the confidence scale and the rules. A tie counts half for each side, or is decided as in the
    published experiment without ``half_ties``. Raises :class:`InputError` if there are no seeds, a seed is not
    from 0 to 2³² − 1, or the share is outside (0, 1).
    """

    seeds: tuple[int, ...] = tuple(range(10))
    disagreement: bool = True
    share: float | None = 0.5
    confidence: str = "published"
    rules: tuple[str, ...] = tuple(RULES)
    half_ties: bool = True

    def __post_init__(self) -> None:
        if not self.seeds:
            raise InputError("an experiment needs at least one seed, got none")
        for seed in self.seeds:
            if not 0 <= seed < 1 << 32:
                raise InputError(f"a seed must be a whole number from 0 to 4294967295, got {seed}")
        if self.share is not None and not 0 < self.share < 1:
            raise InputError(f"the calibration share must lie in (0, 1), got {self.share}")


PROTOCOLS = {
    "published": Protocol(share=None, rules=PUBLISHED_RULES, half_ties=False),
    "all-rules": Protocol(share=None),
}
"""Protocols by name: the published experiment, and the same splits with every rule."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule's results over all splits: the means over seeds of the four measures.

    The last four are the rule's accuracy minus that of :data:`BASELINES` on the same answers; a rule minus itself has
    no interval. For pairs of answers, precision, recall and F1 are means over both sides, because either of two answers
    may come first.
    """

    rule: str
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate
    to_majority: Estimate
    to_max_probability: Estimate
    to_always_false: Estimate
    to_always_true: Estimate


@dataclass(frozen=True, slots=True)
class JurorOutcome:
    """A juror's mean accuracy over all splits."""

    juror: str
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class JuryExperiment:
    """The results of an experiment with ``n`` answers, selected from ``kept_of``.

    In each split ``n_calibration`` answers calibrate and ``n_test`` are tested. ``right`` is the share of the ``n``
    answers that is right, and ``n_questions`` the number of their questions. ``ece`` is the expected calibration error
    (15 bins) of all jurors' confidences together, and ``ece_raw`` that of their raw probabilities; both are means over
    splits, as published. ``notes`` are sentences about ties, repeated questions and rules that are left out.
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
    n_questions: int
    notes: tuple[str, ...]

    @property
    def best_constant(self) -> RuleResult | None:
        """The better of the rules Always True and Always False; None if the protocol has neither."""
        return max(
            (outcome for outcome in self.outcomes if outcome.rule in CONSTANT),
            key=lambda outcome: outcome.accuracy.value,
            default=None,
        )


@dataclass(frozen=True, slots=True)
class Split:
    """One split: the indices of its calibration and test rows among the judgements, and the input of the rules."""

    calibration: IntArray
    test: IntArray
    case: Case


def read_ties(judgements: Judgements, protocol: Protocol) -> Judgements:
    """The judgements with ties as the protocol takes them."""
    if judgements.half_ties == protocol.half_ties:
        return judgements
    return replace(judgements, half_ties=protocol.half_ties)


def usable_rules(judgements: Judgements, rules: Sequence[str]) -> tuple[str, ...]:
    """The rules that this many jurors allow, which is all of them except Dawid–Skene of two jurors.

    Raises :class:`InputError` if there are none.
    """
    few = len(judgements.jurors) < FEWEST
    usable = tuple(name for name in rules if not (few and name == "dawid_skene"))
    if rules and not usable:
        raise InputError(f"rule dawid_skene {TOO_FEW}, got {len(judgements.jurors)}; choose another rule")
    return usable


def answers_used(judgements: Judgements, protocol: Protocol) -> IntArray:
    """The indices of the answers that an experiment uses, with the source's calibration part first.

    Raises :class:`InputError` if the jurors disagree on no answer, or the remaining answers are all right or all wrong.
    """
    judgements = read_ties(judgements, protocol)
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
        those = "of those on which the jurors disagree, " if len(places) < len(judgements) else ""
        raise InputError(f"{those}{one_sided(judgements.rows(places))}; a rule can only be judged if both labels occur")
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
    places = answers_used(judgements, protocol)
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

    Unless the split follows the source's own (share None), whole questions are shuffled, and about ``size`` of their
    answers calibrate (:func:`sides`).

    ``without`` (n,) marks judgements that are then left out on both sides. A side keeps them if it would otherwise lack
    what it needs: calibration needs right and wrong answers, and testing needs at least one answer.
    """
    judgements = read_ties(judgements, protocol)
    others = _shuffled(_not_judged(judgements, places), seed)
    agreed = others[: _share_of_others(judgements, others, protocol)]
    clusters = None if protocol.share is None else judgements.clusters
    fitted, judged = sides(places, size, seed, clusters)
    if clusters is not None:
        agreed = agreed[~np.isin(clusters[agreed], clusters[judged])]
    if without is not None:
        fitted, judged = (
            _less(fitted, without, judgements, both_labels=True),
            _less(judged, without, judgements, both_labels=False),
        )
        agreed = agreed[~without[agreed]]
    calibration, test = judgements.rows(fitted), judgements.rows(judged)
    return Split(
        fitted,
        judged,
        Case(
            test,
            confidence(protocol.confidence, calibration, test),
            calibration,
            judgements.verdicts[agreed] if protocol.disagreement else None,
        ),
    )


def sides(places: IntArray, size: int, seed: int, clusters: IntArray | None) -> tuple[IntArray, IntArray]:
    """The places that calibrate and those that are tested, for one seed.

    ``clusters`` numbers the cluster of every judgement. Those of ``places`` are then shuffled whole, and as many of
    them calibrate as bring the number of answers closest to ``size``, with one cluster left on either side.
    """
    own = within(clusters, places) if clusters is not None else None
    g = count(own, len(places))
    if own is None or g < 2:
        order = _shuffled(places, seed)
        return order[:size], order[size:]
    rank = np.empty(g, dtype=np.int64)
    rank[_order(g, seed)] = np.arange(g)
    order = np.argsort(rank[own], kind="stable")
    # (g,): how many answers the first 1 … g clusters have
    totals = np.cumsum(np.bincount(rank[own], minlength=g))
    cut = int(totals[: g - 1][np.argmin(np.abs(totals[: g - 1] - size))])
    return places[order[:cut]], places[order[cut:]]


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


def _less(side: IntArray, without: BoolArray, judgements: Judgements, *, both_labels: bool) -> IntArray:
    """The side without the marked answers; all of it if none would be left, or with ``both_labels`` not both labels."""
    rest = side[~without[side]]
    enough = len(rest) > 0 and (not both_labels or 0 < judgements.labels[rest].sum() < len(rest))
    return rest if enough else side


Figures = Callable[[Sequence[Split]], FloatArray]
"""A function from an experiment's splits to any figures (f,)."""


def repeated(judgements: Judgements, protocol: Protocol, figures: Figures) -> tuple[FloatArray, FloatArray]:
    """Figures of an experiment's splits, (f,), and of the same experiment without each of g groups of answers, (g, f).

    A group has whole questions. Raises :class:`InputError` as :func:`kept`, :func:`calibration_size` and the rules do.
    """
    judgements = read_ties(judgements, protocol)
    places, clusters = answers_used(judgements, protocol), judgements.clusters
    group = np.empty(len(judgements), dtype=np.int64)
    for rows in (places, _not_judged(judgements, places)):
        own = within(clusters, rows) if clusters is not None and len(rows) else None
        groups = random_groups(count(own, len(rows)))
        group[rows] = groups if own is None else groups[own]
    if clusters is not None:  # the other answers of a question that is judged leave with it
        named = np.full(count(clusters, len(judgements)), -1)
        named[clusters[places]] = group[places]
        group = np.where(named[clusters] >= 0, named[clusters], group)
    left_out = [once(judgements, protocol, figures, without=group == number) for number in np.unique(group[places])]
    return once(judgements, protocol, figures), np.stack(left_out)


def once(
    judgements: Judgements, protocol: Protocol, figures: Figures, *, without: BoolArray | None = None
) -> FloatArray:
    """Figures of an experiment's splits, (f,), of all answers or ``without`` (n,) the marked ones.

    Raises :class:`InputError` as :func:`repeated` does.
    """
    judgements = read_ties(judgements, protocol)
    places = answers_used(judgements, protocol)
    size = calibration_size(judgements, places, protocol)
    return figures([split(judgements, places, size, seed, protocol, without=without) for seed in protocol.seeds])


def run(judgements: Judgements, protocol: Protocol) -> JuryExperiment:
    """Apply every rule of the protocol to every split.

    Raises :class:`InputError` as :func:`kept`, :func:`calibration_size` and the rules do.
    """
    names = with_baselines(usable_rules(judgements, protocol.rules))

    def figures(splits: Sequence[Split]) -> FloatArray:
        return rule_figures(splits, [decided(names, part.case) for part in splits])

    values, left_out = repeated(judgements, protocol, figures)
    return tried(judgements, protocol, values, *rule_ends(judgements, protocol, values, left_out))


def decided(rules: Sequence[str], case: Case) -> dict[str, FloatArray]:
    """The verdicts (n,) of each of these rules."""
    return {name: adjudicate(name, case) for name in rules}


def rule_figures(splits: Sequence[Split], verdicts: Sequence[dict[str, FloatArray]]) -> FloatArray:
    """The figures of an experiment from the verdicts of its rules on each split, flat.

    First come those of each rule, in the order of ``verdicts``, :data:`WIDTH` in all: the four measures; the four
    differences to :data:`BASELINES`, which have to be among the rules; the shares of the answers :data:`BEHIND`
    precision, recall and F1; and for each baseline, how often the rule alone is right and how often the baseline alone
    is. Then comes the accuracy of each juror.
    """
    names = list(verdicts[0])
    places = [names.index(other) for other in BASELINES]
    # measured (rules, 7): the four measures and what is behind them, averaged over splits
    measured = np.mean(
        [
            [_measures(decided_by[name], part) for name in names]
            for part, decided_by in zip(splits, verdicts, strict=True)
        ],
        axis=0,
    )
    accuracies, width = measured[:, 0], len(MEASURES)
    against = [accuracies - accuracies[place] for place in places]
    alone = np.mean(
        [_alone(part, decided_by, places) for part, decided_by in zip(splits, verdicts, strict=True)], axis=0
    )
    jurors = np.mean([part.case.test.right.mean(axis=0) for part in splits], axis=0)
    return np.concatenate(
        [np.column_stack([measured[:, :width], *against, measured[:, width:], alone]).ravel(), jurors]
    )


def _alone(part: Split, verdicts: dict[str, FloatArray], places: Sequence[int]) -> FloatArray:
    """How often each rule alone is right, and how often a baseline alone is, for each baseline, (rules, 8)."""
    right = 1 - np.abs(np.stack(list(verdicts.values())) - part.case.test.labels)
    return np.column_stack(
        [np.maximum(sign * (right - right[place]), 0).mean(axis=1) for place in places for sign in (1, -1)]
    )


def tested(judgements: Judgements, protocol: Protocol) -> tuple[int, int]:
    """The number of different answers that the splits test, and of their questions."""
    judgements = read_ties(judgements, protocol)
    places, clusters = answers_used(judgements, protocol), judgements.clusters
    size = calibration_size(judgements, places, protocol)
    own = None if protocol.share is None else clusters
    rows = np.unique(np.concatenate([sides(places, size, seed, own)[1] for seed in protocol.seeds]))
    return len(rows), len(rows) if clusters is None else len(np.unique(clusters[rows]))


def rule_ends(
    judgements: Judgements, protocol: Protocol, values: FloatArray, left_out: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The ends of the 95% intervals of :func:`rule_figures` (f,), (f,) each, from the same figures without each group
    of answers (g, f). They are NaN for figures that are not shown, for a rule minus itself, and for one question."""
    n, questions = tested(judgements, protocol)
    low, high = np.full((2, len(values)), np.nan)
    if questions < 2:
        return low, high
    jurors = len(judgements.jurors)
    rules = values[:-jurors].reshape(-1, WIDTH)
    of_rules, of_jurors = left_out[:, :-jurors].reshape(len(left_out), -1, WIDTH), left_out[:, -jurors:]
    ends = np.full((2, *rules.shape), np.nan)
    behind = rules[:, len(MEASURES) + len(BASELINES) :][:, : len(BEHIND)]
    for place, name in enumerate(MEASURES):
        share = behind[:, BEHIND.index(name)] if name in BEHIND else np.ones(len(rules))
        shares, without = rules[:, place], of_rules[:, :, place]
        if name == "f1":  # F1 = 2s / (1 + s), with s the share of hits among answers that are right or judged right
            shares, without = shares / (2 - shares), without / (2 - without)
        both_ends = np.stack(share_ends(shares, without, *counts_behind(share, n, questions)))
        ends[:, :, place] = 2 * both_ends / (1 + both_ends) if name == "f1" else both_ends
    for i in range(len(BASELINES)):
        place = len(MEASURES) + i
        only = len(MEASURES) + len(BASELINES) + len(BEHIND) + 2 * i
        least, most = difference_ends(
            rules[:, only], rules[:, only + 1], of_rules[:, :, place], *counts_behind(np.ones(len(rules)), n, questions)
        )
        ends[:, :, place] = np.minimum(least, rules[:, place]), np.maximum(most, rules[:, place])
    low[:-jurors], high[:-jurors] = ends.reshape(2, -1)
    counts = counts_behind(np.ones(jurors), n, questions)
    low[-jurors:], high[-jurors:] = share_ends(values[-jurors:], of_jurors, *counts)
    return low, high


def counts_behind(share: FloatArray, n: int, questions: int) -> tuple[IntArray, IntArray]:
    """How many answers, and how many questions, each figure (f,) comes from: its share of all n answers and of all
    ``questions``."""
    return np.ceil(share * n - 1e-9).astype(np.int64), np.ceil(share * questions - 1e-9).astype(np.int64)


def tried(
    judgements: Judgements, protocol: Protocol, values: FloatArray, low: FloatArray, high: FloatArray
) -> JuryExperiment:
    """The experiment whose figures (:func:`rule_figures`) are ``values``, with the ends of their intervals.

    The rules are those of the protocol that can be used (:func:`usable_rules`) and :data:`BASELINES`
    (:func:`with_baselines`). The ends are NaN if only the figures themselves are computed.
    """
    judgements = read_ties(judgements, protocol)
    places = answers_used(judgements, protocol)
    size = calibration_size(judgements, places, protocol)
    shown = usable_rules(judgements, protocol.rules)
    names = with_baselines(shown)
    estimates = [Estimate(*map(float, ends)) for ends in zip(values, low, high, strict=True)]
    own = len(MEASURES) + len(BASELINES)
    by_rule = {name: estimates[i * WIDTH : i * WIDTH + own] for i, name in enumerate(names)}
    for i, name in enumerate(BASELINES):  # a rule minus itself
        by_rule[name][len(MEASURES) + i] = Estimate(0.0, float("nan"), float("nan"))
    splits = [split(judgements, places, size, seed, protocol) for seed in protocol.seeds]
    calibrate = round(float(np.mean([len(division.calibration) for division in splits])))
    return JuryExperiment(
        protocol=protocol,
        kept_of=len(judgements),
        n=len(places),
        n_calibration=calibrate,
        n_test=len(places) - calibrate,
        right=float(judgements.labels[places].mean()),
        outcomes=tuple(RuleResult(name, *by_rule[name]) for name in shown),
        jurors=tuple(
            JurorOutcome(name, accuracy)
            for name, accuracy in zip(judgements.jurors, estimates[len(names) * WIDTH :], strict=True)
        ),
        ece=_mean_ece([(division.case.confidence, division.case.test.right) for division in splits]),
        ece_raw=_mean_ece([(division.case.test.top, division.case.test.right) for division in splits]),
        n_questions=len(places) if judgements.clusters is None else len(np.unique(judgements.clusters[places])),
        notes=notes(judgements, protocol),
    )


def notes(judgements: Judgements, protocol: Protocol) -> tuple[str, ...]:
    """Sentences about rules that are left out, ties, and questions that occur several times."""
    sentences = []
    if len(usable_rules(judgements, protocol.rules)) < len(protocol.rules):
        sentences.append(f"Dawid–Skene is left out: it {TOO_FEW}.")
    ties = int((np.abs(judgements.p_true - judgements.p_false) <= TIE).sum())
    if ties:
        how = (
            "count half for each side"
            if protocol.half_ties
            else "count as False, as in the published experiment; use another protocol to count them half for each side"
        )
        sentences.append(f"{counted_ties(ties)} of equal probabilities {how}.")
    places, clusters = answers_used(judgements, protocol), judgements.clusters
    own = within(clusters, places) if clusters is not None else None
    if own is not None:
        what = "pairs" if judgements.pairwise else "answers"
        units = "clusters" if judgements.cluster_names else "questions"
        sentences.append(
            f"{len(places):,} {what}, {count(own, len(places)):,} {units}: {what} of one {units[:-1]} count as one "
            "unit in every interval."
        )
        if protocol.share is None:
            sentences.append(
                f"The source's own split may have {what} of one {units[:-1]} on both sides, which flatters fitted "
                "rules; give a calibration share to keep them together."
            )
    return tuple(sentences)


def counted_ties(ties: int) -> str:
    """How many judgements are ties, as the subject of a sentence in the plural."""
    return f"{ties:,} judgements" if ties > 1 else "Judgements (1)"


def _mean_ece(splits: Sequence[tuple[FloatArray, FloatArray]]) -> float:
    """The mean over splits of the ECE of all jurors' confidences together.

    Each split has the confidences (n, j) and whether the verdicts are right (n, j).
    """
    return float(np.mean([top_errors(TopLabel(sure.ravel(), right.ravel())).ece for sure, right in splits]))


def with_baselines(rules: Sequence[str]) -> list[str]:
    """The rules, and after them those of :data:`BASELINES` that are not among them."""
    return list(dict.fromkeys([*rules, *BASELINES]))


def _measures(verdict: FloatArray, part: Split) -> list[float]:
    """The four measures, and the shares of the answers :data:`BEHIND` three of them."""
    judged = part.case.test
    sides = _sides(verdict, judged.labels, both_classes=judged.pairwise and judged.half_ties)
    return [
        *_measured(sides, verdict, judged.labels).values(),
        *(_behind([getattr(side, name) for side in sides], len(judged)) for name in BEHIND),
    ]


@dataclass(frozen=True, slots=True)
class _Side:
    """One side, True or False, as the positive class: its hits, and the numbers of answers behind each measure."""

    hits: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return self.precision + self.recall - self.hits


def _sides(verdict: FloatArray, labels: BoolArray, *, both_classes: bool) -> list[_Side]:
    hits, trues, right, n = float(verdict[labels].sum()), float(verdict.sum()), float(labels.sum()), len(labels)
    true = _Side(hits, trues, right)
    return [true, _Side(n - trues - right + hits, n - trues, n - right)] if both_classes else [true]


def _behind(counts: Sequence[float], n: int) -> float:
    """The share of n answers that a measure is a share of. The mean of two shares, of this many answers each, has the
    variance of one share of 4 / Σ(1/count)."""
    if len(counts) == 1:
        return counts[0] / n
    first, second = counts
    return 4 * first * second / (first + second) / n if first + second else 0.0


def measures(verdict: FloatArray | BoolArray, labels: BoolArray, *, both_classes: bool = False) -> dict[str, float]:
    """Accuracy, precision, recall and F1 of verdicts (n,), n ≥ 1; a right answer is the positive class.

    A tie, ½, counts half on either side. With ``both_classes``, precision, recall and F1 are means over True and False
    as the positive class. A measure is 0 if its denominator is 0: precision if no answer is judged right, recall if no
    answer is right.

    >>> measures(np.array([True, True, False]), np.array([True, False, False]))["precision"]
    0.5
    """
    values = np.asarray(verdict, dtype=np.float64)
    return _measured(_sides(values, labels, both_classes=both_classes), values, labels)


def _measured(sides: Sequence[_Side], verdict: FloatArray, labels: BoolArray) -> dict[str, float]:
    def share(part: str) -> float:
        counts = [
            (2 * side.hits, side.precision + side.recall) if part == "f1" else (side.hits, getattr(side, part))
            for side in sides
        ]
        return sum(hits / total if total else 0.0 for hits, total in counts) / len(counts)

    right = len(labels) - float(np.abs(verdict - labels).sum())
    return {"accuracy": right / len(labels), **{name: share(name) for name in BEHIND}}
