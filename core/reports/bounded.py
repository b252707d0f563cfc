"""The figures of a run in which only an upper bound of some letters is known: each lies between two ends.

The ends hold whatever the letters' probabilities are (:mod:`core.conformal.bounds`); they are no intervals of chance.
NLL, Brier score and calibration error are not computed: they need every probability.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.conformal.alpha import ALPHAS, THOUSAND, check_thousandths
from core.conformal.bounds import ScoreBounds, bounded_sets, exact_alphas, exact_shares, score_bounds
from core.conformal.curve import thresholds
from core.conformal.scores import UNTUNED, score_named
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray
from core.reports.caveats import of_run, texts
from core.reports.evaluation import Evaluation, load
from core.reports.repeated import questions_of, sides
from core.reports.report import DEFAULT_SCORES, finite
from core.reports.scored_sets import check_score
from core.runs import store
from core.runs.caveats import Caveats

if TYPE_CHECKING:
    import pandas as pd

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BoundedScore:
    """One score's sets on the test questions, each figure between two ends.

    ``exact_share`` is the share of questions whose set is known exactly. ``exact_alphas`` lists the ranges of alpha, as
    first and last value, in which every set is.
    """

    threshold: Ends
    coverage: Ends
    mean_set_size: Ends
    exact_share: float
    exact_alphas: tuple[Ends, ...]


@dataclass(frozen=True, slots=True)
class BoundedReport:
    """One run at one alpha. For ``bounded_questions`` of its questions, only a bound of some letter is known."""

    run: str
    model: str
    task: str
    bank: str
    n_calibration: int
    n_test: int
    test_questions: int
    k: int
    alpha: float
    bounded_questions: int
    accuracy: Ends
    scores: dict[str, BoundedScore]
    caveats: Caveats = ()

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values; infinite values become ``null``."""
        values = asdict(self)
        return {key: finite(value) for key, value in (values | values.pop("scores")).items() if key != "scores"}

    def lines(self, task: str) -> list[str]:
        """The report as text."""
        lines = [
            f"{self.run}",
            f"  {task}: {sides(self.n_calibration, self.n_test, self.test_questions)}: accuracy "
            f"{between(self.accuracy)}",
            *(f"  {text}" for text in texts(self.caveats)),
            f"  sets at alpha {self.alpha:.3f}:",
        ]
        for name, figures in self.scores.items():
            known = ", ".join(f"{low:.3f} to {high:.3f}" for low, high in figures.exact_alphas) or "none"
            lines += [
                f"  {name:<15} coverage {between(figures.coverage)}, mean set size {between(figures.mean_set_size)}, "
                f"sets known exactly for {figures.exact_share:.3f} of questions",
                f"    alphas at which all sets are known exactly: {known}",
            ]
            if score_named(name).tuned:
                lines.append(f"    Not tuned: {parameters_text(name)}, because tuning needs every probability.")
        return lines


@dataclass(frozen=True, slots=True)
class BoundedRun:
    """A finished run with its bounds. ``run`` has bounds in place of unknown values, ``logits`` (n, k) are upper bounds
    where ``bounded`` is true, and ``scores`` maps the name of each score to its bounds."""

    run: Evaluation
    logits: FloatArray
    bounded: BoolArray
    scores: dict[str, ScoreBounds]

    @property
    def bounded_questions(self) -> int:
        """The calibration and test questions with a letter for which only a bound is known."""
        rows = np.concatenate([self.run.calibration, self.run.test])
        return int(self.bounded[rows].any(axis=1).sum())

    def calibration(self, name: str) -> ScoreBounds:
        """The bounds of the true options' calibration scores, (n,)."""
        return self.scores[name].rows(self.run.calibration).of(self.run.labels[self.run.calibration])

    def test(self, name: str) -> ScoreBounds:
        """The bounds of the test questions' scores, (m, k)."""
        return self.scores[name].rows(self.run.test)


def bounded_run(run_id: str, *, scores: Sequence[str] = DEFAULT_SCORES) -> BoundedRun:
    """Read a finished run with its bounds.

    Scores with parameters have the default ones, because tuning needs every probability. Raises :class:`InputError` as
    :func:`core.reports.evaluation.load` does, for an unknown score, and without calibration or test questions.
    """
    run = load(run_id, with_bounds=True)
    scored = store.read_logits(run_id)
    bounded = np.zeros(scored.logits.shape, dtype=np.bool_) if scored.bounded is None else scored.bounded
    if not len(run.calibration) or not len(run.test):
        raise InputError(
            f"run {run.run_id} has {len(run.calibration)} calibration and {len(run.test)} test questions; both are "
            "needed"
        )
    for name in scores:
        check_score(run, name)
    logits = scored.logits.astype(np.float64)
    bounds = {name: score_bounds(name, logits, bounded, seed=run.spec.seed) for name in scores}
    return BoundedRun(run, logits, bounded, bounds)


def bounded_report(run_id: str, alpha: int, *, scores: Sequence[str] = DEFAULT_SCORES) -> BoundedReport:
    """The figures of a run with bounds at ``alpha`` thousandths. Raises :class:`InputError` as :func:`bounded_run`."""
    return report_of(bounded_run(run_id, scores=scores), alpha)


def report_of(run_bounds: BoundedRun, alpha: int) -> BoundedReport:
    """The figures of a run that has been read, at ``alpha`` thousandths."""
    check_thousandths(alpha)
    run = run_bounds.run
    return BoundedReport(
        run=run.run_id,
        model=run.spec.model_name,
        task=run.spec.task,
        bank=run.bank,
        n_calibration=len(run.calibration),
        n_test=len(run.test),
        test_questions=questions_of(run, run.test),
        k=run.k,
        alpha=alpha / THOUSAND,
        bounded_questions=run_bounds.bounded_questions,
        accuracy=accuracy_ends(run_bounds.logits[run.test], run_bounds.bounded[run.test], run.labels[run.test]),
        scores={name: _score(run_bounds, name, alpha=alpha) for name in run_bounds.scores},
        caveats=of_run(run),
    )


@dataclass(frozen=True, slots=True)
class BoundedCurves:
    """One score's figures between two ends at each alpha, all (999,), and the share of sets that are known exactly."""

    coverage: tuple[FloatArray, FloatArray]
    mean_set_size: tuple[FloatArray, FloatArray]
    exact_share: FloatArray


def bounded_curves(run_bounds: BoundedRun, name: str) -> BoundedCurves:
    """The figures of :func:`report_of` at every alpha.

    An option is surely in if s₊ ≤ q₋ and may be in if s₋ ≤ q₊, so sorted bounds give the counts at every threshold.
    """
    calibration, test = run_bounds.calibration(name), run_bounds.test(name)
    low, high = thresholds(calibration.lower), thresholds(calibration.upper)
    true, m = test.of(run_bounds.run.labels[run_bounds.run.test]), len(run_bounds.run.test)

    def shares(upper: FloatArray, lower: FloatArray) -> tuple[FloatArray, FloatArray]:
        surely = np.searchsorted(_sorted(upper), low, side="right") / m
        perhaps = np.searchsorted(_sorted(lower), high, side="right") / m
        return np.asarray(surely, dtype=np.float64), np.asarray(perhaps, dtype=np.float64)

    return BoundedCurves(
        shares(true.upper, true.lower), shares(test.upper, test.lower), exact_shares(calibration, test)
    )


@dataclass(frozen=True, slots=True)
class BoundedOptions:
    """One question's options under one score. ``surely`` (k,) is the largest alpha (in thousandths, 0: none) at which
    each option is certainly in the set, and ``perhaps`` (k,) the largest at which it may be in it."""

    name: str
    surely: IntArray
    perhaps: IntArray


@dataclass(frozen=True, slots=True)
class BoundedAnswer:
    """The options of a question under every score that has bounds, and the least and the largest of their
    ``probabilities``, (k,)."""

    options: tuple[BoundedOptions, ...]
    probabilities: tuple[FloatArray, FloatArray]


def bounded_options(run_bounds: BoundedRun, row: int) -> tuple[BoundedOptions, ...]:
    """The options of the question in ``row`` under every score that has bounds.

    The threshold falls as alpha rises, so an option that is in the set at one alpha is in it at all smaller ones.
    """
    k = int(run_bounds.run.option_counts[row])
    return _options(
        run_bounds,
        {name: ScoreBounds(bounds.lower[row, :k], bounds.upper[row, :k]) for name, bounds in run_bounds.scores.items()},
    )


def asked_bounds(run_bounds: BoundedRun, logits: Sequence[float], bounded: Sequence[bool]) -> BoundedAnswer:
    """A question that a person typed, calibrated by the run; ``logits`` (k,) are upper bounds where ``bounded`` says so
    (empty: all are exact)."""
    values = np.array([logits], dtype=np.float64)
    marks = np.array([bounded or [False] * len(logits)], dtype=np.bool_)
    scores = {name: score_bounds(name, values, marks) for name in run_bounds.scores}
    own = {name: ScoreBounds(bounds.lower[0], bounds.upper[0]) for name, bounds in scores.items()}
    return BoundedAnswer(_options(run_bounds, own), _probabilities(values, marks))


def _options(run_bounds: BoundedRun, bounds: Mapping[str, ScoreBounds]) -> tuple[BoundedOptions, ...]:
    """``bounds`` are those of one question's options, (k,), by the score's name."""
    options = []
    for name, own in bounds.items():
        calibration = run_bounds.calibration(name)
        low, high = thresholds(calibration.lower), thresholds(calibration.upper)
        surely = (own.upper[:, None] <= low).sum(axis=1)
        perhaps = (own.lower[:, None] <= high).sum(axis=1)
        options.append(BoundedOptions(name, surely.astype(np.int64), perhaps.astype(np.int64)))
    return tuple(options)


def probability_ends(run_bounds: BoundedRun, row: int) -> tuple[FloatArray, FloatArray]:
    """The least and the largest probability of each option of the question in ``row``, both (k,)."""
    k = int(run_bounds.run.option_counts[row])
    return _probabilities(run_bounds.logits[[row], :k], run_bounds.bounded[[row], :k])


def _probabilities(logits: FloatArray, bounded: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The bounds of the probabilities of one question's options, (1, k): one minus the bounds of LAC."""
    lac = score_bounds("lac", logits, bounded)
    return np.clip(1 - lac.upper[0], 0.0, 1.0), np.clip(1 - lac.lower[0], 0.0, 1.0)


def report_frame(report: BoundedReport) -> "pd.DataFrame":
    """Both ends of each figure, one row per score."""
    import pandas as pd  # imported here: it is slow, and ``hedge run`` needs no frames

    return pd.DataFrame(
        [
            {
                "score": name,
                "exact_share": figures.exact_share,
                **_both("accuracy", report.accuracy),
                **_both("coverage", figures.coverage),
                **_both("set_size", figures.mean_set_size),
                **_both("threshold", figures.threshold),
            }
            for name, figures in report.scores.items()
        ]
    )


def _both(name: str, ends: Ends) -> dict[str, float]:
    return {f"{name}_low": ends[0], f"{name}_high": ends[1]}


def accuracy_ends(logits: FloatArray, bounded: BoolArray, labels: IntArray) -> Ends:
    """The least and the largest accuracy for logits (n, k); the ``bounded`` ones are upper bounds. A question
    is certainly right if its label's logit is known and above the value or bound of every other option. It is certainly
    wrong if a known logit is above that of the label.

    >>> accuracy_ends(np.array([[0.0, -1.0], [-2.0, -1.0]]), np.array([[False, True], [True, True]]), np.array([0, 0]))
    (0.5, 1.0)
    """
    rows = np.arange(len(labels))
    own = logits[rows, labels]
    others = logits.copy()
    others[rows, labels] = -np.inf
    right = ~bounded[rows, labels] & (own > others.max(axis=1))
    perhaps = np.where(bounded, -np.inf, others).max(axis=1) <= own
    return float(right.mean()), float(perhaps.mean())


def _score(run_bounds: BoundedRun, name: str, *, alpha: int) -> BoundedScore:
    own, test = run_bounds.calibration(name), run_bounds.test(name)
    sets = bounded_sets(own, test, alpha)
    return BoundedScore(
        threshold=sets.thresholds,
        coverage=sets.coverage(run_bounds.run.labels[run_bounds.run.test]),
        mean_set_size=sets.mean_set_size(),
        exact_share=sets.exact_share,
        exact_alphas=_stretches(exact_alphas(own, test)),
    )


def parameters_text(name: str) -> str:
    """The default parameters of a score that could be tuned, in words."""
    free = f" and {UNTUNED.free_ranks} free rank" if "free_ranks" in score_named(name).parameters else ""
    return f"λ {UNTUNED.weight:g}{free}"


def _sorted(scores: FloatArray) -> FloatArray:
    """The scores in rising order, without those of options that a question lacks."""
    return np.sort(scores[~np.isnan(scores)])


def _stretches(holds: BoolArray) -> tuple[Ends, ...]:
    """The first and last alpha of each range in which ``holds`` (999,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    return tuple(
        (float(ALPHAS[first] / THOUSAND), float(ALPHAS[last - 1] / THOUSAND))
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    )


def between(ends: Ends, digits: int = 3) -> str:
    """Both ends of a figure as text, or the figure itself."""
    low, high = ends
    return f"{low:.{digits}f}" if low == high else f"{low:.{digits}f} to {high:.{digits}f}"
