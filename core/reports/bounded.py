"""The figures of a run in which only an upper bound of some letters is known: each lies between two ends.

The ends hold whatever the letters' probabilities are (:mod:`core.conformal.bounds`); they are no intervals of chance.
NLL, Brier score and calibration error are not computed: they need every probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.conformal.alpha import ALPHAS, THOUSAND, check_thousandths
from core.conformal.bounds import bounded_sets, exact_alphas, score_bounds
from core.conformal.scores import UNTUNED, score_named
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray
from core.reports.evaluation import load
from core.reports.report import DEFAULT_SCORES, finite
from core.runs import store

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BoundedScore:
    """One score's sets on the test questions, each figure between two ends.

    ``exact_share`` is the share of questions whose set is known exactly, ``exact_alphas`` the stretches of alpha, from
    and to, at which all are.
    """

    threshold: Ends
    coverage: Ends
    mean_set_size: Ends
    exact_share: float
    exact_alphas: tuple[Ends, ...]


@dataclass(frozen=True, slots=True)
class BoundedReport:
    """One run at one alpha; ``bounded_questions`` of all its questions have a letter of which only a bound is known."""

    run: str
    model: str
    task: str
    bank: str
    n_calibration: int
    n_test: int
    k: int
    alpha: float
    bounded_questions: int
    accuracy: Ends
    scores: dict[str, BoundedScore]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, the endless as ``null``."""
        values = asdict(self)
        return {key: finite(value) for key, value in (values | values.pop("scores")).items() if key != "scores"}

    def lines(self, task: str) -> list[str]:
        """The report as text."""
        asked = self.n_calibration + self.n_test
        said = [
            f"{self.run}",
            f"  {task}: {self.n_calibration} calibration and {self.n_test} test questions: accuracy "
            f"{_between(self.accuracy)}",
            f"  The server gave only an upper bound of some letters for {self.bounded_questions:,} of {asked:,} "
            "questions, so each figure lies between two ends.",
            f"  sets at alpha {self.alpha:.3f}:",
        ]
        for name, found in self.scores.items():
            known = ", ".join(f"{low:.3f} to {high:.3f}" for low, high in found.exact_alphas) or "none"
            said += [
                f"  {name:<15} coverage {_between(found.coverage)}, mean set size {_between(found.mean_set_size)}, "
                f"sets known exactly for {found.exact_share:.3f} of questions",
                f"    alphas at which all sets are known exactly: {known}",
            ]
            if score_named(name).tuned:
                said.append(f"    Not tuned: {parameters_text(name)}, because tuning needs every probability.")
        return said


def bounded_report(run_id: str, alpha: int, *, scores: Sequence[str] = DEFAULT_SCORES) -> BoundedReport:
    """The figures of a run with bounds at ``alpha`` thousandths.

    Scores with parameters have the default ones, because tuning needs every probability. Raises :class:`InputError` as
    :func:`core.reports.evaluation.load` does, for an unknown score, and without calibration or test questions.
    """
    check_thousandths(alpha)
    run = load(run_id, with_bounds=True)
    scored = store.read_logits(run_id)
    bounded = np.zeros(scored.logits.shape, dtype=np.bool_) if scored.bounded is None else scored.bounded
    if not len(run.calibration) or not len(run.test):
        raise InputError(
            f"run {run.run_id} has {len(run.calibration)} calibration and {len(run.test)} test questions; both are "
            "needed"
        )
    logits = scored.logits.astype(np.float64)
    asked = np.concatenate([run.calibration, run.test])
    return BoundedReport(
        run=run.run_id,
        model=run.spec.model_name,
        task=run.spec.task,
        bank=run.bank,
        n_calibration=len(run.calibration),
        n_test=len(run.test),
        k=run.k,
        alpha=alpha / THOUSAND,
        bounded_questions=int(bounded[asked].any(axis=1).sum()),
        accuracy=accuracy_ends(logits[run.test], bounded[run.test], run.labels[run.test]),
        scores={
            name: _score(name, logits, bounded, run.labels, run.calibration, run.test, alpha=alpha) for name in scores
        },
    )


def accuracy_ends(logits: FloatArray, bounded: BoolArray, labels: IntArray) -> Ends:
    """The least and the largest accuracy, of logits (n, k) of which the ``bounded`` ones are upper bounds.

    A question is surely right if its label is known and above every other option's value or bound, surely wrong if a
    known option is above the label's.

    >>> accuracy_ends(np.array([[0.0, -1.0], [-2.0, -1.0]]), np.array([[False, True], [True, True]]), np.array([0, 0]))
    (0.5, 1.0)
    """
    rows = np.arange(len(labels))
    own = logits[rows, labels]
    others = logits.copy()
    others[rows, labels] = -np.inf
    right = ~bounded[rows, labels] & (own > others.max(axis=1))
    wrong = np.where(bounded, -np.inf, others).max(axis=1) > own
    return float(right.mean()), float(1 - wrong.mean())


def _score(
    name: str,
    logits: FloatArray,
    bounded: BoolArray,
    labels: IntArray,
    calibration: IntArray,
    test: IntArray,
    *,
    alpha: int,
) -> BoundedScore:
    bounds = score_bounds(name, logits, bounded)
    own, asked = bounds.rows(calibration).of(labels[calibration]), bounds.rows(test)
    sets = bounded_sets(own, asked, alpha)
    return BoundedScore(
        threshold=sets.thresholds,
        coverage=sets.coverage(labels[test]),
        mean_set_size=sets.mean_set_size(),
        exact_share=sets.exact_share,
        exact_alphas=_stretches(exact_alphas(own, asked)),
    )


def parameters_text(name: str) -> str:
    """The default parameters of a score that could be tuned, in words."""
    free = f" and {UNTUNED.free_ranks} free rank" if "free_ranks" in score_named(name).parameters else ""
    return f"λ {UNTUNED.weight:g}{free}"


def _stretches(holds: BoolArray) -> tuple[Ends, ...]:
    """From and to of each run of alphas at which ``holds`` (999,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    return tuple(
        (float(ALPHAS[first] / THOUSAND), float(ALPHAS[last - 1] / THOUSAND))
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    )


def _between(ends: Ends) -> str:
    low, high = ends
    return f"{low:.3f}" if low == high else f"{low:.3f} to {high:.3f}"
