"""The experiment: which rule is right how often, over repeated splits into calibration and test.

``published`` keeps the answers on which jurors disagree, those that the source made to calibrate first, shuffles them
with pandas (``DataFrame.sample(frac=1, random_state=seed)``) and calibrates on as many as the source's own calibration
part has. Intervals are percentile bootstraps over answers: what another draw of answers would give, the splits as
they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.jury.adjudication import PUBLISHED_RULES, RULES, Case, adjudicate
from core.jury.agreement import Estimate, interval
from core.jury.confidence import confidence
from core.jury.judgements import Judgements
from core.records import BoolArray, FloatArray, IntArray

RESAMPLES = 2000
CHUNK = 250
MEASURES = ("accuracy", "precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Protocol:
    """How rules are tried.

    ``disagreement`` keeps only answers on which jurors disagree. ``share`` of them calibrates; None: as many as the
    source's own calibration part has. A split a seed. Raises :class:`InputError` for no seeds, or a share outside
    (0, 1).
    """

    seeds: tuple[int, ...] = tuple(range(10))
    disagreement: bool = True
    share: float | None = 0.5
    confidence: str = "published"
    rules: tuple[str, ...] = tuple(RULES)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise InputError("an experiment needs at least one seed, got none")
        if any(not 0 <= seed < 1 << 32 for seed in self.seeds):
            raise InputError(f"a seed must be a whole number from 0 to 4294967295, got {max(self.seeds, key=abs)}")
        if self.share is not None and not 0 < self.share < 1:
            raise InputError(f"the calibration share must lie in (0, 1), got {self.share}")


PROTOCOLS = {
    "published": Protocol(share=None, rules=PUBLISHED_RULES),
    "all-rules": Protocol(share=None),
}
"""By name: the published experiment, and the same splits with every rule."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A rule over all splits: means over seeds of the four measures, and the accuracy's difference to majority's and
    to maximum probability's on the same answers."""

    rule: str
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate
    to_majority: Estimate
    to_max_probability: Estimate


@dataclass(frozen=True, slots=True)
class JurorOutcome:
    """A juror over all splits: its accuracy, and the expected calibration error (15 bins) of its confidence and of
    its raw probability."""

    juror: str
    accuracy: Estimate
    ece: float
    ece_raw: float


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came out: ``n`` answers, of which ``n_calibration`` calibrate in each split; ``kept_of`` answers in all.

    ``ece`` and ``ece_raw`` are those of all jurors' verdicts together, means over splits; ``right`` the share of the
    answers that is right.
    """

    protocol: Protocol
    kept_of: int
    n: int
    n_calibration: int
    n_test: int
    right: float
    outcomes: tuple[Outcome, ...]
    jurors: tuple[JurorOutcome, ...]
    ece: float
    ece_raw: float


@dataclass(frozen=True, slots=True)
class Split:
    """One split: its rows' places among the judgements, and the case that rules see of its test rows."""

    calibration: IntArray
    test: IntArray
    case: Case


def kept(judgements: Judgements, protocol: Protocol) -> IntArray:
    """The places of the answers that an experiment is made of, the source's calibration part first.

    Raises :class:`InputError` where the jurors disagree on none, or what is left is all right or all wrong.
    """
    chosen = judgements.disagreed if protocol.disagreement else np.ones(len(judgements), dtype=np.bool_)
    if not chosen.any():
        raise InputError(
            f"the jurors agree on all {len(judgements)} answers, so there is none to decide; keep all answers"
        )
    places = np.flatnonzero(chosen)
    later = np.array([judgements.parts[i] != "calibration" for i in places])
    places = places[np.argsort(later, kind="stable")]
    labels = judgements.labels[places]
    if labels.all() or not labels.any():
        word = "right" if labels[0] else "wrong"
        raise InputError(
            f"all {len(places)} answers are {word}; a rule can only be judged where some are right and some wrong"
        )
    return places


def calibration_size(judgements: Judgements, places: IntArray, protocol: Protocol) -> int:
    """How many of the places calibrate; :class:`InputError` where none would, or none be tested."""
    n = len(places)
    if protocol.share is None:
        size: int = sum(judgements.parts[i] == "calibration" for i in places.tolist())
        if not 0 < size < n:
            raise InputError(
                f"of these {n} answers the source made {size} to calibrate on, so its own split can't be taken; give a "
                "calibration share"
            )
        return size
    return min(max(round(protocol.share * n), 1), n - 1)


def split(judgements: Judgements, places: IntArray, size: int, seed: int, protocol: Protocol) -> Split:
    """The split of a seed: shuffled with pandas, the first ``size`` calibrate."""
    import pandas as pd  # heavy, and whoever only asks for names does without

    order = pd.Series(places).sample(frac=1, random_state=seed).to_numpy()
    calibration, test = judgements.rows(order[:size]), judgements.rows(order[size:])
    return Split(
        order[:size], order[size:], Case(test, confidence(protocol.confidence, calibration, test), calibration)
    )


def run(judgements: Judgements, protocol: Protocol) -> Experiment:
    """Try every rule of the protocol on every split.

    Raises :class:`InputError` as :func:`kept`, :func:`calibration_size` and the rules do.
    """
    places = kept(judgements, protocol)
    size = calibration_size(judgements, places, protocol)
    splits = [split(judgements, places, size, seed, protocol) for seed in protocol.seeds]
    decided = {name: [adjudicate(name, of.case) for of in splits] for name in _with_baselines(protocol.rules)}
    row_of = {int(place): i for i, place in enumerate(places)}
    rows = [np.array([row_of[int(place)] for place in of.test]) for of in splits]
    tallies = {
        name: _tally(said, [of.case.asked.labels for of in splits], rows, len(places)) for name, said in decided.items()
    }
    found = _measured(tallies, len(places))
    eces = [_eces(of) for of in splits]
    right = [of.case.asked.right for of in splits]
    drawn = _jurors(right, rows, len(places), len(judgements.jurors))
    return Experiment(
        protocol=protocol,
        kept_of=len(judgements),
        n=len(places),
        n_calibration=size,
        n_test=len(places) - size,
        right=float(judgements.labels[places].mean()),
        outcomes=tuple(found[name] for name in protocol.rules),
        jurors=tuple(
            JurorOutcome(name, drawn[i], *(float(np.mean([one[kind][i] for one in eces])) for kind in (0, 1)))
            for i, name in enumerate(judgements.jurors)
        ),
        ece=float(np.mean([one[0][-1] for one in eces])),
        ece_raw=float(np.mean([one[1][-1] for one in eces])),
    )


def _with_baselines(rules: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*rules, "majority", "max_probability"]))


@dataclass(frozen=True, slots=True)
class _Tally:
    """Per answer and split (n, s): whether it is tested, and then a true or false positive, or a false negative."""

    tested: FloatArray
    hits: FloatArray
    false_alarms: FloatArray
    missed: FloatArray

    def measures(self, weights: FloatArray) -> FloatArray:
        """The four measures (4, r), means over splits, of answers weighted by (r, n)."""
        tested, tp, fp, fn = (weights @ part for part in (self.tested, self.hits, self.false_alarms, self.missed))
        with np.errstate(invalid="ignore", divide="ignore"):
            accuracy = (tested - fp - fn) / tested
            precision = np.where(tp + fp > 0, tp / (tp + fp), 0.0)
            recall = np.where(tp + fn > 0, tp / (tp + fn), 0.0)
            f1 = np.where(2 * tp + fp + fn > 0, 2 * tp / (2 * tp + fp + fn), 0.0)
        return np.stack([np.nanmean(part, axis=1) for part in (accuracy, precision, recall, f1)])


def measures(verdict: BoolArray, labels: BoolArray) -> dict[str, float]:
    """Accuracy, precision, recall and F1 of verdicts (n,), n ≥ 1; a right answer is the positive. 0 where a share is of
    nothing: precision where nothing is said to be right, recall where nothing is.

    >>> measures(np.array([True, True, False]), np.array([True, False, False]))["precision"]
    0.5
    """
    tally = _tally([verdict], [labels], [np.arange(len(labels))], len(labels))
    return dict(zip(MEASURES, tally.measures(np.ones((1, len(labels))))[:, 0].tolist(), strict=True))


def _tally(said: Sequence[BoolArray], labels: Sequence[BoolArray], rows: Sequence[IntArray], n: int) -> _Tally:
    parts = np.zeros((4, n, len(said)))
    for s, (verdict, label, places) in enumerate(zip(said, labels, rows, strict=True)):
        parts[:, places, s] = np.stack([np.ones(len(label), bool), verdict & label, verdict & ~label, ~verdict & label])
    return _Tally(*parts)


def _weights(n: int) -> list[FloatArray]:
    """Resamples of n answers as how often each is drawn, in chunks of (r, n), seeded."""
    rng = np.random.default_rng([n, 0x1055])
    return [rng.multinomial(n, np.full(n, 1 / n), size=CHUNK).astype(np.float64) for _ in range(RESAMPLES // CHUNK)]


def _measured(tallies: dict[str, _Tally], n: int) -> dict[str, Outcome]:
    once = np.ones((1, n))
    values = {name: tally.measures(once)[:, 0] for name, tally in tallies.items()}
    chunks = _weights(n)
    drawn = {
        name: np.concatenate([tally.measures(chunk) for chunk in chunks], axis=1) for name, tally in tallies.items()
    }
    found = {}
    for name in tallies:
        four = {measure: interval(float(values[name][i]), drawn[name][i]) for i, measure in enumerate(MEASURES)}
        against = (
            interval(float(values[name][0] - values[other][0]), drawn[name][0] - drawn[other][0])
            for other in ("majority", "max_probability")
        )
        found[name] = Outcome(name, *four.values(), *against)
    return found


def _jurors(right: Sequence[BoolArray], rows: Sequence[IntArray], n: int, j: int) -> list[Estimate]:
    """Each juror's accuracy on test rows, a mean over splits."""
    found = []
    chunks = _weights(n)
    for juror in range(j):
        hits, tested = np.zeros((n, len(right))), np.zeros((n, len(right)))
        for s, (correct, places) in enumerate(zip(right, rows, strict=True)):
            hits[places, s], tested[places, s] = correct[:, juror], 1
        drawn = np.concatenate([np.nanmean((chunk @ hits) / (chunk @ tested), axis=1) for chunk in chunks])
        found.append(interval(float(np.mean(hits.sum(axis=0) / tested.sum(axis=0))), drawn))
    return found


def _eces(of: Split) -> tuple[list[float], list[float]]:
    """The calibration errors of each juror's confidence and of all together last; the same of the raw probability."""
    right = of.case.asked.right
    return tuple(  # type: ignore[return-value]
        [ece(values[:, i], right[:, i]) for i in range(right.shape[1])] + [ece(values.ravel(), right.ravel())]
        for values in (of.case.confidence, of.case.asked.top)
    )


def ece(sure: FloatArray, right: BoolArray) -> float:
    """The expected calibration error of confidences (n,) in verdicts that are right or not, 15 equal bins of [0, 1]."""
    index = np.clip(np.ceil(sure * 15).astype(int) - 1, 0, 14)
    return float(abs(np.bincount(index, weights=right - sure, minlength=15)).sum() / len(sure))
