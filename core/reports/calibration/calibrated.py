"""The calibration of a run as tidy frames: by bin, by figure, by question, and by alpha.

``within`` says what a diagram is of: ``all`` test questions of a run, those of each subject (``group``), or those where
the model chose each option letter (``letter``).
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.calibration.bins import ECE_BINS, edges, place, top_label
from core.calibration.consistency import CalibrationTest, calibration_test
from core.calibration.decomposition import BrierParts, brier_parts
from core.calibration.estimate import CalibrationEstimate
from core.calibration.figures import estimates
from core.calibration.reliability import ReliabilityBin, reliability
from core.conformal.alpha import THOUSAND
from core.conformal.clusters import within as clusters_within
from core.conformal.coverage import Ties, beta_binomial_band
from core.conformal.curve import alpha_curve
from core.conformal.probabilities import top_options
from core.conformal.scores import score, true_scores
from core.errors import InputError
from core.records import IntArray
from core.reports.caveats import NO_NLL
from core.reports.evaluation import Evaluation
from core.reports.p_values import p_said
from core.reports.repeated import questions_of, standing_test_rows
from core.reports.report import DEFAULT_SCORES
from core.runs import store

WITHIN = ("all", "group", "letter")
FEWEST = 20
"""The fewest test questions for a diagram of one subject or letter."""
MOST_STRATA = 12
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Stratum:
    """A subset of a run's test questions: the ``rows`` of its arrays and the value that they share, "" for all."""

    name: str
    rows: IntArray


@dataclass(frozen=True, slots=True)
class CalibrationDiagram:
    """The reliability diagram of one stratum with ``n`` rows, which ask ``questions`` questions."""

    run: str
    stratum: str
    n: int
    questions: int
    bins: int
    by: str
    reliability: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True)
class CalibrationFigures(CalibrationDiagram):
    """The diagram of one stratum and its figures: estimates by name, the Brier score's parts, and the test."""

    estimates: dict[str, CalibrationEstimate]
    brier_parts: BrierParts
    test: CalibrationTest

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON values; NaN becomes None."""
        return {
            "run": self.run,
            "stratum": self.stratum or "all",
            "n": self.n,
            "questions": self.questions,
            "bins": self.bins,
            "edges": self.by,
            "figures": {name: asdict(estimate) for name, estimate in self.estimates.items()},
            "brier_parts": asdict(self.brier_parts),
            "test": asdict(self.test),
            "reliability": [asdict(row) for row in self.reliability],
        }


def strata(run: Evaluation, within: str) -> tuple[Stratum, ...]:
    """The strata of a run's test questions with at least 20 of them, the largest first, 12 at most.

    Raises :class:`InputError` for an unknown ``within``, and if no stratum has enough questions.
    """
    if within not in WITHIN:
        raise InputError(f"unknown strata {within!r}; choose from {', '.join(WITHIN)}")
    if len(run.test) == 0:
        raise InputError(f"run {run.run_id} has no test questions; calibration needs at least one")
    if within == "all":
        return (Stratum("", run.test),)
    chosen = top_options(run.probabilities[run.test])
    names = run.groups[run.test] if within == "group" else np.array(list(run.letters))[chosen]
    all_strata = [Stratum(str(name), run.test[names == name]) for name in np.unique(names)]
    enough = [stratum for stratum in all_strata if len(stratum.rows) >= FEWEST]
    if not enough:
        raise InputError(
            f"run {run.run_id} has no {'subject' if within == 'group' else 'option'} with at least {FEWEST} test "
            "questions; choose one diagram for each run"
        )
    return tuple(sorted(enough, key=lambda stratum: (-len(stratum.rows), stratum.name))[:MOST_STRATA])


def calibrated(
    run: Evaluation, *, within: str = "all", bins: int = ECE_BINS, by: str = "width"
) -> list[CalibrationFigures]:
    """The diagram and the figures of every stratum of a run, in their order."""
    return [
        _figures(run, stratum, drawn)
        for stratum, drawn in zip(strata(run, within), diagrams(run, within=within, bins=bins, by=by), strict=True)
    ]


def diagrams(
    run: Evaluation, *, within: str = "all", bins: int = ECE_BINS, by: str = "width"
) -> list[CalibrationDiagram]:
    """The diagram of every stratum of a run, those of :func:`calibrated`, whose other figures take twenty times as
    long.
    """
    return [_diagram(run, stratum, bins, by) for stratum in strata(run, within)]


def _diagram(run: Evaluation, stratum: Stratum, bins: int, by: str) -> CalibrationDiagram:
    top = top_label(run.probabilities[stratum.rows], run.labels[stratum.rows])
    rng = np.random.default_rng([_seed(run), 6])
    return CalibrationDiagram(
        run=run.run_id,
        stratum=stratum.name,
        n=len(top),
        questions=questions_of(run, stratum.rows),
        bins=bins,
        by=by,
        reliability=reliability(top, rng=rng, bins=bins, by=by, clusters=clusters_within(run.clusters, stratum.rows)),
    )


def _figures(run: Evaluation, stratum: Stratum, drawn: CalibrationDiagram) -> CalibrationFigures:
    p, y = run.probabilities[stratum.rows], run.labels[stratum.rows]
    top = top_label(p, y)
    bins, by, seed = drawn.bins, drawn.by, _seed(run)
    logs = run.lacking(run.log_probabilities)[stratum.rows]
    clusters = clusters_within(run.clusters, stratum.rows)
    figures = estimates(p, y, log_probabilities=logs, bins=bins, by=by, seed=seed, clusters=clusters)
    if run.samples is not None:
        figures["nll"] = CalibrationEstimate(math.nan, math.nan, math.nan, len(y), reason=NO_NLL)
    return CalibrationFigures(
        run=drawn.run,
        stratum=drawn.stratum,
        n=drawn.n,
        questions=drawn.questions,
        bins=bins,
        by=by,
        reliability=drawn.reliability,
        estimates=figures,
        brier_parts=brier_parts(p, y, bins=bins, by=by),
        test=calibration_test(top, rng=np.random.default_rng([seed, 5]), bins=bins, by=by, clusters=clusters),
    )


def _seed(run: Evaluation) -> int:
    return run.spec.seed % 2**32


def bins_frame(drawn: CalibrationDiagram) -> pd.DataFrame:
    """One row per bin: ``bin`` from 1, its ends, n, and the diagram's figures; empty bins have no numbers."""
    frame = pd.DataFrame([asdict(row) for row in drawn.reliability])
    frame.insert(0, "bin", np.arange(1, len(frame) + 1))
    return frame


def figures_frame(figures: Sequence[CalibrationFigures], names: Sequence[str]) -> pd.DataFrame:
    """One row per run and stratum; ``names`` are the runs' in words."""
    rows = []
    for entry, name in zip(figures, names, strict=True):
        row: dict[str, Any] = {
            "run": name,
            "stratum": entry.stratum or "all",
            "n": entry.n,
            "questions": entry.questions,
        }
        for figure, estimate in entry.estimates.items():
            row |= {figure: estimate.value, f"{figure}_low": estimate.low, f"{figure}_high": estimate.high}
            if estimate.bias is not None:
                row[f"{figure}_luck"] = estimate.bias
            if figure == "nll":
                row["nll_infinite"] = estimate.infinite
            if estimate.excess is not None:
                row[f"{figure}_excess"] = estimate.excess
            if estimate.reason:
                row[f"{figure}_no_interval"] = estimate.reason
        row |= {f"brier_{part}": value for part, value in asdict(entry.brier_parts).items()}
        rows.append(row | {"p_value": entry.test.p_value, "z": entry.test.z, "z_p_value": entry.test.z_p_value})
    return pd.DataFrame(rows)


def bin_questions(run: Evaluation, within: str, stratum: str, number: int, *, bins: int, by: str) -> pd.DataFrame:
    """The test questions in bin ``number`` (from 1) of a stratum, the most confident first.

    Columns ``id, subject, question, confidence, chosen, truth, right``. Raises :class:`InputError` if there is no such
    stratum or bin.
    """
    rows = next((candidate.rows for candidate in strata(run, within) if candidate.name == stratum), None)
    if rows is None:
        raise InputError(f"run {run.run_id} has no diagram of {stratum!r}; choose another")
    if not 1 <= number <= bins:
        raise InputError(f"there is no bin {number} of {bins}; bins count from 1")
    top = top_label(run.probabilities[rows], run.labels[rows])
    inside = place(top.confidence, edges(top.confidence, bins=bins, by=by)) == number - 1
    texts = store.read_questions(run.run_id)
    question_texts = dict(zip(texts["id"].to_pylist(), texts["question"].to_pylist(), strict=True))
    held, letters = rows[inside], np.array(list(run.letters))
    frame = pd.DataFrame(
        {
            "id": run.ids[held],
            "subject": run.groups[held],
            "question": [question_texts[name] for name in run.ids[held].tolist()],
            "confidence": top.confidence[inside],
            "chosen": letters[top_options(run.probabilities[held])],
            "truth": letters[run.labels[held]],
            "right": top.correct[inside] == 1,
        }
    )
    return frame.sort_values("confidence", ascending=False, kind="stable", ignore_index=True)


def nominal_coverage(run: Evaluation) -> pd.DataFrame:
    """Coverage and target coverage at every alpha, one row per score and alpha, with the band of the guarantee.

    Columns ``score, alpha, nominal, coverage, low, high``. Raises :class:`InputError` if a side has no questions.
    """
    n, m = len(run.calibration), len(run.test)
    if n == 0 or m == 0:
        raise InputError(f"run {run.run_id} has {n} calibration and {m} test questions; both are needed")
    alphas = np.arange(10, THOUSAND, 10)
    stand = standing_test_rows(run, run.test)
    frames = []
    for name in DEFAULT_SCORES:
        values = score(name, run.option_probabilities, seed=run.spec.seed)
        own = true_scores(values[run.calibration], run.labels[run.calibration])
        curve = alpha_curve(own, values[run.test], run.labels[run.test], alphas=alphas)
        ties = Ties.of(own, true_scores(values[stand], run.labels[stand]))
        bands = np.array([beta_binomial_band(n, len(stand), int(alpha), ties=ties) for alpha in alphas])
        frames.append(
            pd.DataFrame(
                {
                    "score": name,
                    "alpha": alphas / THOUSAND,
                    "nominal": 1 - alphas / THOUSAND,
                    "coverage": curve.coverage,
                    "low": bands[:, 0],
                    "high": bands[:, 1],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def tests_in_words(figures: CalibrationFigures) -> str:
    """The results of the tests in one or two sentences."""
    ece, over, under = (figures.estimates[name].value for name in ("ece", "over", "under"))
    p = figures.test.p_value
    if figures.test.reason:
        return f"The ECE is {ece:.3f}. It has no interval and is not tested: {figures.test.reason}."
    if p > SIGNIFICANT:
        sentence = (
            f"An ECE of {ece:.3f} can be chance alone: a calibrated model shows {figures.test.expected:.3f} on "
            f"average with this many questions ({p_said(p)})."
        )
    else:
        way = "overconfident" if over > under else "underconfident"
        error = figures.estimates["ece"]
        sentence = (
            f"Confidence is off by {error.excess:.3f} beyond chance (95% interval {error.low:.3f} to {error.high:.3f}; "
            f"{p_said(p)}). The model is mostly {way}: this makes up {max(over, under):.3f} of the observed ECE of "
            f"{ece:.3f}."
        )
    return f"{sentence} {other}" if (other := disagreement(figures)) else sentence


def disagreement(figures: CalibrationFigures) -> str:
    """Why the p-value of the ECE and Spiegelhalter's z disagree at 5%; "" if they agree or z is undefined. z sums
    ``(correct − c)(1 − 2c)``. Above a confidence of ½, overconfidence raises it and underconfidence lowers it. Below ½
    it is the other way round, and near ½ a gap hardly counts.
    """
    test = figures.test
    if math.isnan(test.z) or (test.p_value <= SIGNIFICANT) == (test.z_p_value <= SIGNIFICANT):
        return ""
    value = f"{test.z:+.2f}".replace("-", "−")
    z = f"Spiegelhalter's z ({value}, {p_said(test.z_p_value)})"
    if test.z_p_value <= SIGNIFICANT:
        return (
            f"{z} does detect miscalibration: it adds up small gaps over all confidences, while each gap alone "
            "can be chance."
        )
    parts = [row.n * (row.accuracy - row.confidence) * (1 - 2 * row.confidence) for row in figures.reliability if row.n]
    up, down = sum(part for part in parts if part > 0), -sum(part for part in parts if part < 0)
    if min(up, down) >= max(up, down) / 2:
        return (
            f"{z} does not detect this. Overconfidence raises z at confidences above 50% and lowers it below, "
            "underconfidence does the opposite, and here these parts cancel out."
        )
    return f"{z} does not detect this, because gaps at confidences near 50% hardly count in it."
