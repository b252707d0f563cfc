"""The table of every interval and p-value on screen under every law of :mod:`tests.simulation.laws`.

Each draw makes runs and a jury of a law and calls what pages and commands call. One draw gives all figures, so that the
whole table is affordable. A run has n calibration and n test rows.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from unittest.mock import patch

import numpy as np

from core.calibration.bins import TopLabel, edges, place, top_label
from core.calibration.smooth import smooth_error
from core.conformal.probabilities import log, log_softmax
from core.conformal.scores import score, true_scores
from core.errors import InputError
from core.estimates import Estimate
from core.jury.agreement import agreement
from core.jury.experiment import Protocol
from core.jury.judgements import Judgements
from core.models.perplexity.figures import ScoredMessage
from core.records import FloatArray, IntArray
from core.reports import jury, question_identity
from core.reports.array_evaluation import of_arrays
from core.reports.calibration import recalibrated as recalibration
from core.reports.calibration.calibrated import calibrated, nominal_coverage
from core.reports.compare.paired import compare
from core.reports.compare.run_matrix import run_matrix
from core.reports.evaluation import Evaluation
from core.reports.frames import overview_row
from core.reports.perplexity import ChoiceScores, choice_sets, overall
from core.reports.report import report
from tests.simulation.case import TEST, improbable
from tests.simulation.laws import LAWS, REPEATS, Law, Rows

ALPHA = 100
SIZES = (60, 200, 1000)
LONG, SHORT = 300, 12
"""Draws of a cell by the command, and in the suite."""
POPULATION = 200_000
SHOWN = 0.0005
"""Half of the last decimal that pages show of a calibration error."""
SIZE_SHOWN = 0.005
"""The same of a set size."""
SIGNIFICANT = 0.05
FAR = 10_000_000
"""The seed of the population."""

UNLIKELY = 1e-3
"""A cell fails if its count is this improbable under every rate that is allowed; the table has about 2,000 cells."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of one draw. ``truth`` is None if the interval estimates the figure that other draws give on
    average. Ends outside of ``least`` … ``most`` are a fault."""

    value: float
    low: float
    high: float
    truth: float | None = None
    least: float = 0.0
    most: float = math.inf
    rounding: float = 1e-9
    band: bool = False
    """Whether it is the band of a figure that takes few values, which may be one of them."""

    def outcome(self, truth: float) -> str:
        if math.isnan(self.low) or math.isnan(self.high):
            return "none"
        if not self.least - 1e-9 <= self.low <= self.high <= self.most + 1e-9:
            return "out of range"
        if self.low == self.high and not self.band:
            return "point"
        return "hit" if self.low - self.rounding <= truth <= self.high + self.rounding else "miss"


Measured = dict[str, Interval | float]
"""The figures of one draw: intervals, and p-values under a null hypothesis that holds."""


def _of(estimate: Estimate, truth: float | None = None, least: float = 0.0, most: float = math.inf) -> Interval:
    return Interval(estimate.value, estimate.low, estimate.high, truth, least, most)


# ---------------------------------------------------------------- the population of a law


@dataclass(frozen=True, slots=True)
class Population:
    """Very many rows of one model."""

    rows: Rows
    true: FloatArray
    letters: tuple[FloatArray, ...]
    members: FloatArray

    def covered(self, threshold: float, letter: int | None = None) -> float:
        """The share of rows whose true option has a LAC score of at most the threshold."""
        scores = self.true if letter is None else self.letters[letter]
        return float(np.searchsorted(scores, threshold, side="right") / len(scores))

    def covered_of_size(self, threshold: float, size: int) -> float:
        """The share of the sets of one size that hold the truth."""
        inside = self.members <= threshold
        chosen = inside.sum(axis=1) == size
        return float(inside[chosen, self.rows.labels[: len(inside)][chosen]].mean()) if chosen.any() else math.nan


@cache
def population(name: str) -> Population:
    rows = LAWS[name].rows(FAR, POPULATION)
    scores = score("lac", rows.probabilities[0])
    true = true_scores(scores, rows.labels)
    letters = tuple(np.sort(true[rows.labels == j]) for j in range(scores.shape[1]))
    return Population(rows, np.sort(true), letters, scores[:50_000])


@cache
def true_errors(name: str) -> dict[str, float]:
    """The long-run calibration figures of a law's first model, with bins of equal width."""
    rows = population(name).rows
    p, shares = rows.probabilities[0], rows.shares
    ends = edges(np.zeros(1))
    top = top_label(p, rows.labels)
    right = _top_share(p, shares)
    sums, counts = _binned(place(top.confidence, ends), right - top.confidence)
    n, k = p.shape
    classes = sum(np.abs(_binned(place(p[:, j], ends), shares[:, j] - p[:, j])[0]).sum() for j in range(k))
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = -np.where(shares > 0, shares * np.log(p), 0).sum(axis=1)
    return {
        "accuracy": float(right.mean()),
        "nll": float(losses.mean()),
        "brier": float((p**2 - 2 * p * shares + shares).sum(axis=1).mean()),
        "ece": float(np.abs(sums).sum() / n),
        "over": float(np.maximum(-sums, 0).sum() / n),
        "under": float(np.maximum(sums, 0).sum() / n),
        "l2": float(np.sqrt((sums**2 / np.maximum(counts, 1)).sum() / n)),
        "classwise_ece": float(classes / n / k),
        "smooth_ece": smooth_error(TopLabel(top.confidence, right)),
    }


def _top_share(p: FloatArray, shares: FloatArray) -> FloatArray:
    """The probability that the top option is true, (n,); the last of equally probable options is the top one."""
    top = p.shape[1] - 1 - p[:, ::-1].argmax(axis=1)
    return np.asarray(shares[np.arange(len(p)), top])


def _binned(index: IntArray, gaps: FloatArray) -> tuple[FloatArray, IntArray]:
    return np.bincount(index, weights=gaps, minlength=15), np.bincount(index, minlength=15)


# ---------------------------------------------------------------- runs


def runs(rows: Rows, n: int) -> list[Evaluation]:
    """A run of each model: the first n rows calibrate and the others test. Questions have one of two subjects."""
    total, clusters = len(rows.labels), rows.clusters
    subjects = np.where((np.arange(total) if clusters is None else clusters) % 2 == 0, "even", "odd")
    belongs = {} if clusters is None else {"clusters": clusters}
    fields = {"groups": subjects, "samples": rows.samples}
    return [
        replace(of_arrays(p, rows.labels, calibration=np.arange(total) < n, **belongs), run_id=name, **fields)
        for name, p in zip("abcd", rows.probabilities, strict=False)
    ]


def reported(law: Law, n: int, seed: int) -> Measured:
    """The figures of a run in ``report``, Overview and the Alpha lab."""
    run = runs(law.rows(seed, 2 * n), n)[0]
    true, whole = true_errors(law.name), population(law.name)
    rng = np.random.default_rng([seed, 1])
    result = report(run, ALPHA, scores=("lac", "aps"))
    row = overview_row(result, "drawn")
    out: Measured = {
        "accuracy": Interval(row["accuracy"], row["accuracy_low"], row["accuracy_high"], true["accuracy"], 0, 1),
        "ECE beyond chance": Interval(result.ece, *result.ece_interval, true["ece"], 0, 1, SHOWN),
    }
    for name, figures in result.scores.items():
        out |= _sets(name.upper(), figures)
    lac = result.scores["lac"]
    stratum = lac.strata[0]
    out["coverage of a subject"] = Interval(
        stratum.coverage, stratum.low, stratum.high, whole.covered(lac.threshold), 0, 1
    )
    size = rng.choice([by_size.size for by_size in lac.by_size if by_size.m])
    of_size = lac.by_size[size]
    truth = whole.covered_of_size(lac.threshold, size)
    if not math.isnan(truth):
        out["coverage of a set size"] = Interval(of_size.coverage, of_size.low, of_size.high, truth, 0, 1)
    for by in ("group", "class"):
        figures = report(run, ALPHA, scores=("lac",), by=by).scores["lac"]
        out |= _sets(f"LAC by {by}", figures)
        if by == "class":
            stratum = figures.strata[int(rng.integers(len(figures.strata)))]
            truth = whole.covered(figures.thresholds[stratum.stratum], run.letters.index(stratum.stratum))
            out["coverage of a letter"] = Interval(stratum.coverage, stratum.low, stratum.high, truth, 0, 1)
    for name, figures in report(run, ALPHA, scores=("raps", "saps")).scores.items():
        out |= _sets(name.upper(), figures)
    bands = nominal_coverage(run)
    at = bands[(bands["score"] == "lac") & (bands["alpha"] == 0.2)].iloc[0]
    out["band of coverage by alpha"] = _band(at["coverage"], at["low"], at["high"])
    return out


def _sets(name: str, figures: object) -> Measured:
    k, size = len(figures.sizes) - 1, figures.mean_set_size
    return {
        f"band of coverage, {name}": _band(figures.coverage, *figures.coverage_band),
        f"p of the guarantee, {name}": figures.p_value,
        f"mean set size, {name}": Interval(size, *figures.mean_set_size_interval, None, 0, k, SIZE_SHOWN),
        f"UAcc, {name}": Interval(figures.uacc, *figures.uacc_interval),
    }


def _band(coverage: float, low: float, high: float) -> Interval:
    """A band holds the coverage of this run, rather than a truth."""
    return Interval(coverage, low, high, coverage, 0, 1, band=True)


def calibration(law: Law, n: int, seed: int) -> Measured:
    """The figures of a run on Calibration."""
    rows = law.rows(seed, 2 * n)
    run = runs(rows, n)[0]
    (calibrated_run,) = calibrated(run)
    true = true_errors(law.name)
    out: Measured = {}
    for name, estimate in calibrated_run.estimates.items():
        truth = _largest_gap(rows, n) if name == "mce" else true[name]
        if math.isinf(truth):
            continue
        most = math.inf if name == "nll" else 2.0 if name == "brier" else 1.0
        rounding = 1e-9 if name in ("accuracy", "nll", "brier") else SHOWN
        out[TITLES[name]] = Interval(estimate.value, estimate.low, estimate.high, truth, 0, most, rounding)
    if law.calibrated:
        out["p of the ECE"], out["p of Spiegelhalter's z"] = calibrated_run.test.p_value, calibrated_run.test.z_p_value
    filled = [number for number, row in enumerate(calibrated_run.reliability) if row.n]
    number = filled[int(np.random.default_rng([seed, 3]).integers(len(filled)))]
    row = calibrated_run.reliability[number]
    top = top_label(run.probabilities[run.test], run.labels[run.test])
    inside = place(top.confidence, edges(np.zeros(1))) == number  # a share of votes may be the end of a bin
    share = float(_top_share(run.probabilities[run.test], rows.shares[n:])[inside].mean())
    out["accuracy of a bin"] = Interval(row.accuracy, row.accuracy_low, row.accuracy_high, share, 0, 1)
    if law.calibrated:
        out["a calibrated model's band of a bin"] = _band(row.accuracy, row.consistent_low, row.consistent_high)
    try:
        with drawn_questions(rows.clusters):
            fitted = recalibration.recalibrated(run, ALPHA, methods=("temperature",))[1]
    except InputError:  # too few questions calibrate, as the page says
        return out
    if math.isfinite(truth := _change(law.name, [entry["temperature"] for entry in fitted.parameters])):
        out["change of NLL by temperature"] = Interval(*fitted.nll_change, truth, -math.inf)
    return out


TITLES = {
    "accuracy": "accuracy on Calibration",
    "nll": "NLL",
    "brier": "Brier score",
    "ece": "ECE",
    "over": "overconfidence",
    "under": "underconfidence",
    "mce": "MCE",
    "l2": "ℓ2 error",
    "classwise_ece": "class-wise ECE",
    "smooth_ece": "smooth ECE",
}


def _largest_gap(rows: Rows, n: int) -> float:
    """The largest gap of the bins that hold a test question, at the confidences that were drawn."""
    p, shares = rows.probabilities[0][n:], rows.shares[n:]
    confidence = p.max(axis=1)
    sums, counts = _binned(place(confidence, edges(confidence)), _top_share(p, shares) - confidence)
    return float((np.abs(sums) / np.maximum(counts, 1)).max())


def _change(name: str, temperatures: list[float]) -> float:
    """How much these temperatures change a law's NLL on average."""
    rows = population(name).rows
    logs, shares = log(rows.probabilities[0][:20_000]), rows.shares[:20_000]
    mapped = sum(log_softmax(logs / temperature) for temperature in temperatures) / len(temperatures)
    with np.errstate(invalid="ignore"):
        return float(np.where(shares > 0, shares * (logs - mapped), 0).sum(axis=1).mean())


@contextmanager
def drawn_questions(clusters: IntArray | None) -> Iterator[None]:
    """Lets functions that read the questions of stored runs read drawn ones, which have no texts."""

    class Identities:
        """Of rows named by their number, from 1."""

        def __getitem__(self, name: str) -> str:
            return name if clusters is None else str(clusters[int(name) - 1])

    def clustered(run: Evaluation) -> tuple[IntArray, IntArray]:
        rows = np.arange(len(run.labels))
        return rows, rows if clusters is None else clusters

    with (
        patch.object(question_identity, "identities", lambda run_id: Identities()),
        patch.object(question_identity, "questions_key", lambda run_id: ("drawn",)),
        patch.object(recalibration, "clustered", clustered),
    ):
        yield


# ---------------------------------------------------------------- several runs

SKILLS = (1.0, 1.0, 1.0, 1.5)
"""Three equal models and a better one, which is no better under the law of chance."""


def compared(law: Law, n: int, seed: int) -> Measured:
    """The figures in ``compare`` and Compare of two equal models, of a better one, and of three equal models."""
    rows = law.rows(seed, 2 * n, skills=SKILLS)
    models = runs(rows, n)
    out: Measured = {}
    with drawn_questions(rows.clusters):
        equal, unequal = compare([(models[0], models[1]), (models[0], models[3])], ALPHA)
        matrix = run_matrix(models[:3], ALPHA)
    k = rows.probabilities.shape[2]
    most = {"accuracy": 1.0, "set_size": float(k), "uacc": math.inf}
    for figure, limit in most.items():
        title = figure.replace("_", " ").replace("uacc", "UAcc")
        for words, pair, truth in (("equal models", equal, 0.0), ("a better model", unequal, None)):
            difference = getattr(pair, figure)
            out[f"{words}, difference in {title}"] = Interval(
                difference.mean, difference.low, difference.high, truth, -limit, limit
            )
        out[f"p of a difference in {title}"] = equal.p_values[figure]
        pairs = matrix.pairs[figure]
        out[f"matrix: smallest corrected p, {title}"] = min(pair.corrected for pair in pairs)
        out[f"matrix: all differences in {title}"] = _together([pair.difference for pair in pairs], limit)
    return out


def _together(estimates: list[Estimate], limit: float) -> Interval:
    """The worst of intervals that hold 0 together."""
    each = [_of(estimate, 0.0, -limit, limit) for estimate in estimates]
    order = ("out of range", "point", "miss", "hit", "none")
    return min(each, key=lambda interval: order.index(interval.outcome(0.0)))


# ---------------------------------------------------------------- words


def words(law: Law, n: int, seed: int) -> Measured:
    """The figures on Perplexity of two prompts on the same messages, and of choices between endings.

    The losses of true options serve as those of messages; five make a conversation.
    """
    rows = law.rows(seed, n, skills=SKILLS[:2])
    losses = -log(rows.probabilities[:, np.arange(n), rows.labels])
    if not np.isfinite(losses).all():  # the loss of a word is finite
        return {}
    conversations = np.arange(n) // REPEATS
    first, second = (
        {str(i): tuple(_message(loss) for loss in own[conversations == i]) for i in range(int(conversations.max()) + 1)}
        for own in losses
    )
    pair = overall(first, second)
    out: Measured = {"A − B": Interval(pair.mean, pair.low, pair.high, 0.0, -math.inf), "p of A − B": pair.p_value}
    if rows.clusters is None:  # no choice is made twice
        choices, share = ChoiceScores(log(rows.probabilities[0]), rows.labels), true_errors(law.name)["accuracy"]
        sets, whole = choice_sets(choices, ALPHA, seed=seed), population(law.name)
        out |= {
            "choices made right": Interval(choices.accuracy, *choices.interval, share, 0, 1),
            "coverage of endings": Interval(sets.coverage, *sets.interval, whole.covered(sets.threshold), 0, 1),
            "mean set size of endings": Interval(sets.mean_size, *sets.size_interval, None, 0, 4),
        }
    return out


def _message(loss: float) -> ScoredMessage:
    return ScoredMessage(1, ("word",), np.array([loss], dtype=np.float32))


# ---------------------------------------------------------------- juries

RULES = ("majority", "mean_probability", "weighted_log_odds", "best_juror")
FITTED_RULES = ("weighted_log_odds", "best_juror")
PROTOCOL = Protocol(seeds=(0, 1), disagreement=False, rules=RULES)
JURORS = (0.8, 1.0, 1.3)


def judged(rows: Rows) -> Judgements:
    """A jury of the models; the first option is True."""
    p = rows.probabilities[..., 0].T
    names = tuple(map(str, range(len(p))))
    questions = names if rows.clusters is None else tuple(map(str, rows.clusters))
    return Judgements(tuple("abc"), names, questions, names, rows.labels == 0, p, 1 - p, ("",) * len(p))


def agreed(judgements: Judgements) -> dict[str, Estimate]:
    """The agreement of one pair in a jury."""
    result = agreement(judgements)
    first = result.pairs[0]
    return {
        "same verdict": first.agreement,
        "Cohen's kappa": first.kappa,
        "correlation of errors": first.error_correlation,
        "Fleiss' kappa": result.fleiss,
        "Krippendorff's alpha": result.krippendorff,
        "effective votes": result.effective_votes,
        "unanimous": result.unanimous,
        "unanimous and wrong": result.unanimous_wrong,
    }


@cache
def true_agreement(name: str) -> dict[str, float]:
    """The agreement of a law's jury in the long run."""
    judgements = judged(LAWS[name].rows(FAR, POPULATION // 2, skills=JURORS, k=2))
    return {figure: estimate.value for figure, estimate in agreed(judgements).items()}


def jurors(law: Law, n: int, seed: int) -> Measured:
    """The figures of three jurors in ``jury agree``, ``jury evaluate`` and on Jury."""
    judgements = judged(law.rows(seed, n, skills=JURORS, k=2))
    true = true_agreement(law.name)
    least = {"same verdict": 0, "unanimous": 0, "unanimous and wrong": 0, "effective votes": 0}
    most = {"effective votes": 2 * len(JURORS)}
    out: Measured = {
        name: _of(estimate, true[name], least.get(name, -1), most.get(name, 1))
        for name, estimate in agreed(judgements).items()
    }
    try:
        return out | _tried(judgements, law.name)
    except InputError:  # all answers have one label: the page says so and shows no figure
        return out


def _tried(judgements: Judgements, name: str) -> Measured:
    """The experiment's figures."""
    rules = jury.rules(judgements, PROTOCOL)
    out: Measured = {}
    for outcome in rules.experiment.outcomes:
        out[f"accuracy of {outcome.rule}"] = _of(outcome.accuracy, None, 0, 1)
        if outcome.rule == "majority":
            for measure in ("precision", "recall", "f1"):
                out[f"{measure} of majority"] = _of(getattr(outcome, measure), None, 0, 1)
        else:
            out[f"{outcome.rule} less majority"] = _of(outcome.to_majority, None, -1, 1)
    out["a juror's accuracy"] = _of(rules.experiment.jurors[0].accuracy, None, 0, 1)
    at = rules.risk[(rules.risk["rule"] == "mean_probability") & (rules.risk["at"] == 0.8)].iloc[0]
    out["wrong among the answered"] = Interval(at["wrong"], at["low"], at["high"], None, 0, 1)
    with patch.object(jury, "RULES", {"mean_probability": jury.RULES["mean_probability"]}):  # each rule by itself
        added = jury.left_out(judgements, PROTOCOL).iloc[0]
    out["what a juror adds"] = Interval(added["gain"], added["gain_low"], added["gain_high"], None, -1, 1)
    bins = jury.reliability(judgements, PROTOCOL)
    last = bins[(bins["juror"] == "b") & (bins["scale"] == "raw")].iloc[-1]
    if last["low"] == 0.9:
        out["right in a bin of confidence"] = Interval(last["right"], last["right_low"], last["right_high"], None, 0, 1)
    errors = jury.calibration_errors(judgements, PROTOCOL)
    raw = errors[(errors["juror"] == "b") & (errors["scale"] == "raw")].iloc[0]
    out["a juror's ECE"] = Interval(raw["ece"], raw["low"], raw["high"], true_juror_error(name), 0, 1, SHOWN)
    return out


@cache
def true_juror_error(name: str) -> float:
    """The ECE of the second juror's raw probabilities in the long run."""
    judgements = judged(LAWS[name].rows(FAR, POPULATION // 2, skills=JURORS, k=2))
    sums, _ = _binned(place(judgements.top[:, 1], edges(np.zeros(1))), judgements.right[:, 1] - judgements.top[:, 1])
    return float(np.abs(sums).sum() / len(judgements))


# ---------------------------------------------------------------- the table

PAGES: dict[str, Callable[[Law, int, int], Measured]] = {
    "report": reported,
    "calibration": calibration,
    "compare": compared,
    "perplexity": words,
    "jury": jurors,
}
OF_SEVERAL = ("compare", "perplexity", "jury")
"""The pages that need models which are equal."""


@dataclass(frozen=True, slots=True)
class Figure:
    """How often an interval may hold, or a test may be significant, and what pages say where that is not 93 to 99%."""

    allowed: tuple[float, float] = (0.93, 0.99)
    says: str = ""


HOLDS, QUIET = Figure(), Figure(TEST)
EXACT = Figure((0.93, 1.0), "the Clopper–Pearson interval (at least 95%)")
ERROR = Figure((0.93, 1.0), "hold it in at least 95 of 100 samples")
SMOOTH = Figure((0.92, 1.0), "the smooth error in at least 92")
BIN = Figure((0.93, 1.0), "calibrated model lies in the gold area in at least 95 of 100 samples")
PAIR = Figure((0.93, 1.0), "Where few questions differ, they hold the true difference in 95% of draws or more.")
TOGETHER = Figure((0.93, 1.0), "all of them hold the true differences in at least 95% of draws")
JURY = Figure(
    (0.93, 1.0),
    "With few errors or repeated questions, intervals are wider than necessary, and hold the true value in 93 "
    "to 100 of 100 cases.",
)
FITTED = Figure((0.88, 1.0), "Intervals of fitted rules are approximate")

SETS = {"band of coverage": HOLDS, "p of the guarantee": QUIET, "mean set size": HOLDS, "UAcc": HOLDS}
FIGURES: dict[str, dict[str, Figure]] = {
    "report": {
        "accuracy": EXACT,
        "ECE beyond chance": ERROR,
        **{
            f"{title}, {name}": figure
            for name in ("LAC", "APS", "LAC by group", "LAC by class", "RAPS", "SAPS")
            for title, figure in SETS.items()
        },
        "coverage of a subject": EXACT,
        "coverage of a set size": EXACT,
        "coverage of a letter": EXACT,
        "band of coverage by alpha": HOLDS,
    },
    "calibration": {
        "accuracy on Calibration": EXACT,
        "NLL": HOLDS,
        "Brier score": HOLDS,
        **{title: ERROR for name, title in TITLES.items() if name not in ("accuracy", "nll", "brier")},
        "smooth ECE": SMOOTH,
        "p of the ECE": QUIET,
        "p of Spiegelhalter's z": QUIET,
        "accuracy of a bin": EXACT,
        "a calibrated model's band of a bin": BIN,
        "change of NLL by temperature": HOLDS,
    },
    "compare": {
        f"{title} {measure}": figure
        for measure in ("accuracy", "set size", "UAcc")
        for title, figure in (
            ("equal models, difference in", PAIR),
            ("a better model, difference in", PAIR),
            ("p of a difference in", QUIET),
            ("matrix: smallest corrected p,", QUIET),
            ("matrix: all differences in", TOGETHER),
        )
    },
    "perplexity": {
        "A − B": HOLDS,
        "p of A − B": QUIET,
        "choices made right": EXACT,
        "coverage of endings": EXACT,
        "mean set size of endings": HOLDS,
    },
    "jury": {
        **dict.fromkeys(("same verdict", "unanimous", "unanimous and wrong"), EXACT),
        **dict.fromkeys(("Cohen's kappa", "Fleiss' kappa", "Krippendorff's alpha"), JURY),
        **dict.fromkeys(("correlation of errors", "effective votes"), JURY),
        **{f"accuracy of {rule}": FITTED if rule in FITTED_RULES else JURY for rule in RULES},
        **{f"{measure} of majority": JURY for measure in ("precision", "recall", "f1")},
        **{f"{rule} less majority": FITTED if rule in FITTED_RULES else JURY for rule in RULES[1:]},
        "a juror's accuracy": JURY,
        "what a juror adds": JURY,
        "right in a bin of confidence": EXACT,
        "wrong among the answered": EXACT,
        "a juror's ECE": ERROR,
    },
}
"""Every figure of each page, in the order of the table."""
NAMES = tuple(f"laws: {page}, {figure}" for page, figures in FIGURES.items() for figure in figures)


@dataclass(slots=True)
class Cell:
    """The outcomes of ``draws`` draws of one figure: how often its interval held, or its test was significant, how
    often there was no interval, and faults, which are points and ends out of range."""

    draws: int
    hits: int = 0
    none: int = 0
    points: int = 0
    outside: int = 0

    def text(self) -> str:
        """The percentage of hits among the draws with an interval, and what else there was."""
        counted = self.draws - self.none
        notes = {"no interval": self.none, "a point": self.points, "out of range": self.outside}
        share = f"{100 * self.hits / counted:.1f}" if counted else "–"
        return share + "".join(f", {count / self.draws:.0%} {word}" for word, count in notes.items() if count)

    def fails(self, allowed: tuple[float, float], *, tail: float) -> bool:
        return bool(self.points or self.outside) or improbable(self.hits, self.draws - self.none, allowed, tail=tail)


def cells(page: str, law: Law, n: int, draws: int) -> dict[str, Cell]:
    """The cells of all figures of a page, from the seeds 0 … draws − 1."""
    drawn: dict[str, list[Interval | float]] = {name: [] for name in FIGURES[page]}
    for seed in range(draws):
        for name, figure in PAGES[page](law, n, seed).items():
            drawn[name].append(figure)
    return {name: _cell(figures, draws) for name, figures in drawn.items() if figures}


def _cell(figures: list[Interval | float], draws: int) -> Cell:
    cell = Cell(draws, none=draws - len(figures))
    intervals = [interval for interval in figures if isinstance(interval, Interval)]
    values = [interval.value for interval in intervals if not math.isnan(interval.value)]
    total = math.fsum(values)
    for interval in intervals:
        truth = interval.truth if interval.truth is not None else (total - interval.value) / max(len(values) - 1, 1)
        outcome = interval.outcome(truth)
        cell.hits += outcome == "hit"
        cell.none += outcome == "none"
        cell.points += outcome == "point"
        cell.outside += outcome == "out of range"
    for p in figures:
        if isinstance(p, float):
            cell.hits += p <= SIGNIFICANT
            cell.none += math.isnan(p)
    return cell


def table(pages: Iterable[str], laws: Iterable[str], draws: int) -> Iterator[tuple[str, bool]]:
    """The table's rows, and whether each is as allowed."""
    for page in pages:
        for law in laws:
            if not LAWS[law].exchangeable and page in OF_SEVERAL:
                continue
            by_size = {n: cells(page, LAWS[law], n, draws) for n in SIZES}
            for name, figure in FIGURES[page].items():
                of_sizes = [by_size[n][name] for n in SIZES if name in by_size[n]]
                if not of_sizes:  # the null hypothesis is false under this law
                    continue
                texts = [
                    f"{cell.text()}{' **outside**' * cell.fails(figure.allowed, tail=UNLIKELY)}" for cell in of_sizes
                ]
                low, high = (f"{100 * share:g}" for share in figure.allowed)
                row = f"| {page}: {name} | {law} | {' | '.join(texts)} | {low} to {high} |"
                yield row, "outside" not in row
