"""The figures of a run at one alpha: what ``hedge report`` prints and the pages show."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from core.calibration import metrics
from core.calibration.binned import ece_estimate
from core.calibration.bins import top_label
from core.conformal.alpha import THOUSAND, Alpha, check_thousandths
from core.conformal.clusters import within
from core.conformal.coverage import Ties, clustered_share_interval, covered_questions, strata_band, strata_p_value
from core.conformal.mondrian import StratumCoverage, coverage_by_stratum
from core.conformal.probabilities import option_shares, row_blocks, top_shares
from core.conformal.published import top_ties_of
from core.conformal.scores import SCORES, Parameters
from core.conformal.scores.ranking import costed
from core.conformal.set_sizes.by_rank import SizeCurve, size_curve, thresholds_by_rank, total_sizes, uacc
from core.conformal.set_sizes.intervals import SetEstimates, Strata, intervals, strata_intervals
from core.conformal.set_sizes.resampling import needed_ranks
from core.conformal.threshold import full_set_message
from core.conformal.tuning import TUNING_ALPHA, Tuned, redrawn_choices
from core.errors import InputError
from core.estimates import Estimate
from core.questions.prompting.cloze import NORMALISATIONS
from core.records import DONT_KNOW, NONE_OF_ABOVE, OPTION_NAMES, BoolArray, FloatArray
from core.reports.alpha_lab.saturation import (
    OFFER,
    STRATA,
    can_saturate,
    decided_by_little,
    saturated,
    saturation_note,
)
from core.reports.alpha_lab.view import SplitView, look
from core.reports.caveats import of_run, texts
from core.reports.evaluation import Evaluation, read_answers
from core.reports.prompting.option_order import OptionOrder, option_order
from core.reports.repeated import questions_of, standing_test_rows
from core.reports.scored_sets import FormedSets, form, true_letters
from core.runs.caveats import NO_ANSWER, Caveats, of_run_record

DEFAULT_SCORES = ("lac", "aps")

ONE_WITHIN_ROUNDING = 1e-9
LISTED = 4
SAME_SIZE = 1e-9
CLOZE_NOTE = (
    "Probabilities are a softmax over the summed log-likelihoods of the options' texts, not divided by their lengths; "
    "options that are no answers are not asked for."
)
NORMALISED_NOTE = "Probabilities are a softmax over scores of the options' texts: {}."


def shown_with(score: str) -> tuple[str, str]:
    """The two scores of a figure that compares scores: ``score`` and LAC, or LAC and APS if ``score`` is LAC.

    >>> shown_with("raps"), shown_with("lac")
    (('raps', 'lac'), ('lac', 'aps'))
    """
    return score, "aps" if score == "lac" else "lac"


@dataclass(frozen=True, slots=True)
class SizeCoverage:
    """The m sets of one size: the share that hold the truth, with its exact 95% interval; NaN if there are none."""

    size: int
    m: int
    coverage: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """One score's sets on the test questions.

    ``coverage_band`` is the 95% band of coverage if the guarantee holds, given the run's ties
    (:func:`core.conformal.coverage.coverage_law`), and ``p_value`` the probability of a coverage this low or lower
    if it holds without ties, which only raise coverage. ``uacc`` = accuracy · √k / mean set size (may exceed 1). The
    intervals of set size and UAcc estimate the figure that other calibration and test questions give on average
    (:mod:`core.conformal.set_sizes`). ``empty_rate`` is the share of sets that are empty, after the policy for them.
    ``sizes`` counts the sets of 0 … k options, and ``by_size`` has the coverage of each size. ``threshold`` is NaN if
    each stratum has its own. ``thresholds`` maps strata (``all``, a subject or a letter) to thresholds. ``strata`` has
    the coverage within each subject, or within each true letter if letters have thresholds of their own.
    ``n_calibration`` questions calibrate this score. ``parameters`` and ``tuned_on``, the number of calibration
    questions set aside to choose them (0: untuned), are None for a score without parameters. ``notes`` say what a
    reader of the figures needs to know.
    """

    threshold: float
    coverage: float
    coverage_band: tuple[float, float]
    p_value: float
    mean_set_size: float
    mean_set_size_interval: tuple[float, float]
    empty_rate: float
    uacc: float
    uacc_interval: tuple[float, float]
    sizes: tuple[int, ...]
    by_size: tuple[SizeCoverage, ...]
    thresholds: dict[str, float]
    strata: tuple[StratumCoverage, ...]
    n_calibration: int
    parameters: dict[str, float] | None = None
    tuned_on: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One run at one alpha. ``accuracy`` … ``letter_rates`` are figures of the test questions, whose bank is ``bank``.
    Of equally probable options the last is the top one (with a published threshold the first,
    :data:`~core.conformal.published.TOP_TIES`); ``top_ties`` says how many questions that decides and how far accuracy
    could move. ``nll`` is infinite if ``nll_infinite`` questions give the truth probability 0,
    and NaN where probabilities are frequencies of samples: its mean over samples is infinite. ``letter_rates`` are the
    shares of questions for which each letter is chosen; equally probable letters share a question. ``caveats`` say what
    a reader of these figures needs to know (:mod:`core.reports.caveats`).

    ``n_test`` counts rows, and ``test_questions`` the questions that they ask: fewer if rows repeat a question. One row
    of each question calibrates, so ``n_calibration`` of the ``calibration_rows`` do (:mod:`core.reports.repeated`).

    ``ece`` is the observed calibration error, ``ece_luck`` the mean error of a calibrated model, ``ece_excess`` the
    error beyond chance, and ``ece_interval`` its 95% interval (:func:`core.calibration.binned.ece_estimate`).
    ``option_order`` is given if the questions were also asked with their options rotated.
    """

    run: str
    model: str
    task: str
    bank: str
    strategy: str
    dtype: str
    form: str
    n_calibration: int
    calibration_rows: int
    n_test: int
    test_questions: int
    k: int
    alpha: float
    by: str
    accuracy: float
    accuracy_interval: tuple[float, float]
    top_ties: metrics.TopTies
    nll: float
    nll_infinite: int
    brier: float
    ece: float
    ece_excess: float
    ece_interval: tuple[float, float]
    ece_luck: float
    letter_rates: dict[str, float]
    scores: dict[str, ScoreReport] = field(default_factory=dict)
    option_order: OptionOrder | None = None
    caveats: Caveats = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The caveats as text."""
        return texts(self.caveats)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, with the scores next to the other keys. Infinite and undefined values are
        ``null``."""
        values = asdict(self) | {"notes": self.notes}
        for name, figures in values.pop("scores").items():
            values[name] = finite(figures)
        return {key: finite(value) for key, value in values.items()}


def finite(value: Any) -> Any:
    """JSON values with ``null`` for infinite values and NaN."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shown(value: float | None, digits: int = 3) -> str:
    """A figure as text: its digits, ∞ if it is infinite, a dash if it is undefined.

    >>> shown(1.23456), shown(math.inf), shown(math.nan)
    ('1.235', '∞', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.{digits}f}" if math.isfinite(value) else ("∞" if value > 0 else "−∞")


def report(
    run: Evaluation,
    alpha: Alpha,
    *,
    scores: Sequence[str] = DEFAULT_SCORES,
    method: str = "exact",
    empty: str = "allow",
    by: str = "all",
    parameters: Parameters | None = None,
) -> Report:
    """The figures of ``run`` at ``alpha`` thousandths, for each named score.

    ``by`` says which questions share a threshold (:mod:`core.conformal.mondrian`). ``parameters`` are a person's own,
    for scores that are tuned without them.

    Raises :class:`InputError` if the run has no calibration or no test questions, or a name is unknown.
    """
    check_thousandths(alpha)
    n, m = len(run.calibration), len(run.test)
    if n == 0 or m == 0:
        advice = "; each calibration question also tests, so split the rows by question" if len(run.left_out) else ""
        raise InputError(f"run {run.run_id} has {n} calibration and {m} test questions; both are needed{advice}")
    probabilities, labels = run.probabilities[run.test], run.labels[run.test]
    losses = -run.log_probabilities[run.test, labels]
    infinite = int(np.isinf(losses).sum()) if run.samples is None else 0
    ece = ece_estimate(top_label(probabilities, labels), clusters=within(run.clusters, run.test))
    return Report(
        run=run.run_id,
        model=run.spec.model_name,
        task=run.spec.task,
        bank=run.bank,
        strategy="" if run.classes else run.spec.strategy,
        dtype=run.spec.dtype,
        form="" if run.classes else run.spec.form,
        n_calibration=n,
        calibration_rows=n + len(run.left_out),
        n_test=m,
        test_questions=questions_of(run, run.test),
        k=run.k,
        alpha=float(alpha / THOUSAND),
        by=by,
        accuracy=metrics.accuracy(probabilities, labels, ties=top_ties_of(method)),
        accuracy_interval=accuracy_interval(run, method=method),
        top_ties=metrics.top_ties(probabilities, labels),
        nll=float(losses.mean()) if run.samples is None else math.nan,
        nll_infinite=infinite,
        brier=metrics.brier(probabilities, labels),
        ece=ece.value,
        ece_excess=math.nan if ece.excess is None else ece.excess,
        ece_interval=(ece.low, ece.high),
        ece_luck=ece.bias or 0.0,
        letter_rates=dict(zip(run.letters, top_shares(probabilities).mean(axis=0).tolist(), strict=True)),
        scores={
            name: score_report(
                run,
                form(run, name, alpha, method=method, empty=empty, by=by, parameters=parameters),
                alpha,
                method=method,
                empty=empty,
                by=by,
            )
            for name in scores
        },
        option_order=option_order(run, alpha, scores=tuple(scores)),
        caveats=of_run(run, method=method),
    )


def without_answer(run_id: str) -> dict[str, Any]:
    """In place of the report of a run whose letters are no answer, as JSON values: the sentence that says so, the
    letter mass of the test questions, and all caveats. ``letter_rates`` are as in :class:`Report`, of what little
    probability the letters have; None if some of it is only known within bounds."""
    answers = read_answers(run_id, with_bounds=True)
    record, caveats = answers.record, of_run_record(answers.record)
    rates = None
    if not record.bounded:
        test = np.array(answers.questions["role"].to_pylist()) == "test"
        shares = top_shares(option_shares(answers.scored)[0][test]).mean(axis=0)
        rates = dict(zip(OPTION_NAMES, shares.tolist(), strict=False))
    return {
        "run": record.run_id,
        "no_answer": " ".join(texts(caveat for caveat in caveats if caveat.kind == NO_ANSWER)),
        "letter_mass": record.letter_mass.to_json() if record.letter_mass else None,
        "letter_rates": rates,
        "notes": texts(caveats),
    }


def accuracy_interval(run: Evaluation, *, method: str = "exact") -> tuple[float, float]:
    """The 95% interval of a run's accuracy, in which repeats of a question count once."""
    right = metrics.correct(run.probabilities[run.test], run.labels[run.test], ties=top_ties_of(method))
    return clustered_share_interval(right, within(run.clusters, run.test))


def score_report(
    run: Evaluation, formed: FormedSets, alpha: Alpha, *, method: str = "exact", empty: str = "allow", by: str = "all"
) -> ScoreReport:
    """The figures of the sets ``formed`` at alpha."""
    name, own = formed.name, formed.tuned.calibration
    labels = run.labels[run.test]
    n, m, k = len(own), len(labels), run.k
    covered = formed.members[np.arange(m), labels]
    sizes = formed.members.sum(axis=1)
    share, size = float(covered.mean()), float(sizes.mean())
    strata = coverage_strata(run, formed, by, method)
    worth = sum(strata.tested.values())
    low, high = strata_band(strata.calibrated, strata.tested, alpha, ties=strata.ties)
    counts = np.bincount(sizes, minlength=k + 1)
    likely = set_estimates(run, formed, alpha, method=method, empty=empty, by=by)
    if abs(likely.mean_set_size.value - size) > SAME_SIZE:  # a published threshold that parts equal scores
        likely = without_intervals(
            size, metrics.accuracy(run.probabilities[run.test], labels, ties=top_ties_of(method)), k
        )
    return ScoreReport(
        threshold=formed.threshold,
        coverage=share,
        coverage_band=(low, high),
        p_value=strata_p_value(covered_questions(share, worth), strata.calibrated, strata.tested, alpha),
        mean_set_size=size,
        mean_set_size_interval=likely.mean_set_size.ends,
        empty_rate=float((sizes == 0).mean()),
        uacc=likely.uacc.value,
        uacc_interval=likely.uacc.ends,
        sizes=tuple(counts.tolist()),
        by_size=tuple(_size_coverage(run, j, sizes == j, covered) for j in range(k + 1)),
        thresholds=formed.thresholds,
        strata=tuple(_strata(run, formed, by)),
        n_calibration=n,
        parameters=asdict(formed.tuned.parameters) if SCORES[name].tuned else None,
        tuned_on=len(formed.tuned.rows) if SCORES[name].tuned else None,
        notes=(
            *_notes(name, formed.threshold, n, alpha, method, by),
            *(_saturation_notes(run, name, formed, alpha, by) if method != "bluq" else []),
            *_strata_notes(run, formed, strata.calibrated, by),
            *([tuning_note(name, formed.tuned, by=by)] if SCORES[name].tuned else []),
            *([cloze_note(run)] if run.spec.asks_texts else []),
        ),
    )


def set_estimates(
    run: Evaluation, formed: FormedSets, alpha: Alpha, *, method: str = "exact", empty: str = "allow", by: str = "all"
) -> SetEstimates:
    """Mean set size and UAcc of the sets ``formed``, with 95% intervals that include the variation of calibration and
    test questions."""
    own = formed.tuned.calibration
    if by == "all":
        ranks = needed_ranks(len(own), alpha)
        return intervals(sizes_by_rank(run, formed, alpha, ranks=ranks, method=method, empty=empty), alpha)
    right = metrics.correct(run.probabilities[run.test], run.labels[run.test], ties=top_ties_of(method))
    clusters = within(run.clusters, run.test)
    if by == "class" and run.samples is not None and len(np.unique(run.samples)) > 1:
        # In simulations, intervals held the size of such sets in 90% of draws only (rare letters, 5 to 30 samples).
        size = float(formed.members.sum(axis=1).mean())
        return without_intervals(size, float(right.mean()), run.k)
    if by == "class":
        strata = Strata(run.labels[own], np.tile(np.arange(run.k), (len(run.test), 1)))
    else:
        _, codes = np.unique(run.groups, return_inverse=True)
        strata = Strata(codes[own], np.tile(codes[run.test][:, None], (1, run.k)))
    return strata_intervals(
        formed.calibration_scores,
        formed.test_scores,
        right,
        strata,
        alpha,
        options=run.k,
        empty=empty,
        clusters=clusters,
        redraw_counts=by == "class",
        coarse=run.samples is not None,
    )


def without_intervals(size: float, accuracy: float, options: int) -> SetEstimates:
    """Mean set size and UAcc of sets that no redrawn threshold would give: published tools compute in single precision,
    and part scores that are equal."""
    nothing = math.nan, math.nan
    return SetEstimates(Estimate(size, *nothing), Estimate(float(uacc(accuracy, size, options)), *nothing))


def sizes_by_rank(
    run: Evaluation,
    formed: FormedSets,
    alpha: Alpha,
    *,
    ranks: tuple[int, int] | None = None,
    method: str = "exact",
    empty: str = "allow",
) -> SizeCurve:
    """The sizes of sets with one threshold for all, at each of its ranks, and with each of the parameters that may be
    chosen. An exact threshold gives the same sizes for every ``alpha``.

    The sizes with other parameters are NaN outside of ``ranks``, the first and last that an interval needs."""
    right = metrics.correct(run.probabilities[run.test], run.labels[run.test], ties=top_ties_of(method))
    limits = thresholds_by_rank(formed.calibration_scores, alpha, method=method)
    clusters = within(run.clusters, run.test)
    curve = size_curve(limits, formed.test_scores, right, options=run.k, empty=empty, clusters=clusters)
    return replace(curve, choices=tuple(_size_choices(run, formed, ranks or (1, len(limits)), empty)))


def _size_choices(
    run: Evaluation, formed: FormedSets, ranks: tuple[int, int], empty: str
) -> Iterator[tuple[float, FloatArray]]:
    """The share of draws in which parameters are chosen, and the mean set sizes with them at each rank, (n + 1,)."""
    shares = redrawn_choices(formed.name, run.option_probabilities, run.labels, formed.tuned, seed=run.spec.seed)
    if not shares or formed.parts is None:
        return
    true, (base, places) = formed.parts
    first, last = ranks
    for parameters, share in shares.items():
        limits = thresholds_by_rank(costed(*true, parameters), TUNING_ALPHA)
        ends = limits[first - 1], limits[last - 1]
        blocks = (costed(base[rows], places[rows], parameters, between=ends) for rows in row_blocks(len(base), run.k))
        sizes = np.full(len(limits), np.nan)
        sizes[first - 1 : last] = total_sizes(limits[first - 1 : last], blocks, empty=empty) / len(run.test)
        yield share, sizes


def _size_coverage(run: Evaluation, size: int, of_size: BoolArray, covered: BoolArray) -> SizeCoverage:
    hits = covered[of_size].astype(np.float64)
    low, high = clustered_share_interval(hits, within(run.clusters, run.test[of_size]))
    return SizeCoverage(size, len(hits), float(hits.sum()) / len(hits) if len(hits) else math.nan, low, high)


def _strata(run: Evaluation, formed: FormedSets, by: str) -> list[StratumCoverage]:
    """Strata by true letter if each letter has a threshold of its own, otherwise by subject."""
    own, test = formed.tuned.calibration, run.test
    if by == "class":
        strata, calibrated = true_letters(run, test), true_letters(run, own)
    else:
        strata, calibrated = run.groups[test], run.groups[own]
    thresholds = dict.fromkeys(strata.tolist(), formed.threshold) if by == "all" else formed.thresholds
    clusters = within(run.clusters, test)
    return coverage_by_stratum(formed.members, run.labels[test], strata, calibrated, thresholds, clusters=clusters)


@dataclass(frozen=True, slots=True)
class CoverageStrata:
    """How many questions calibrate and test each threshold, by stratum, and the ties among their scores."""

    calibrated: dict[str, int]
    tested: dict[str, int]
    ties: dict[str, Ties | None]


def coverage_strata(run: Evaluation, formed: FormedSets, by: str, method: str = "exact") -> CoverageStrata:
    """The numbers that the law of coverage depends on (:func:`core.conformal.coverage.strata_law`).

    Rows that repeat questions count as the questions that they are worth. A published threshold is no order statistic,
    so its ties are not counted.
    """
    own, m = formed.tuned.calibration, len(run.test)
    true = formed.test_scores[np.arange(m), run.labels[run.test]]
    if by == "all":
        names, calibrated, tested = ["all"], np.zeros(len(own), dtype=np.int64), np.zeros(m, dtype=np.int64)
    else:
        row_strata = run.groups if by == "group" else true_letters(run, np.arange(len(run.labels)))
        all_strata = np.concatenate([row_strata[own], row_strata[run.test]])
        present, codes = np.unique(all_strata, return_inverse=True)
        names = list(run.letters) if by == "class" else present.tolist()
        codes = np.array([names.index(name) for name in present.tolist()], dtype=np.int64)[codes]
        calibrated, tested = codes[: len(own)], codes[len(own) :]
    strata = CoverageStrata({}, {}, {})
    for code, name in enumerate(names):
        ours, rows = calibrated == code, np.flatnonzero(tested == code)
        stands = (
            rows if run.clusters is None else rows[np.isin(run.test[rows], standing_test_rows(run, run.test[rows]))]
        )
        strata.calibrated[name], strata.tested[name] = int(ours.sum()), len(stands)
        strata.ties[name] = Ties.of(formed.calibration_scores[ours], true[stands]) if method == "exact" else None
    return strata


def tuning_note(name: str, tuned: Tuned, *, by: str = "all") -> str:
    """How a score's parameters were chosen, as a note for the reader. The intervals of size redraw the choice only if
    all questions share a threshold (:func:`set_estimates`)."""
    free = tuned.parameters.free_ranks
    values = f"λ {tuned.parameters.weight:g}"
    if "free_ranks" in SCORES[name].parameters:
        values += f" after {free} free rank{'s' if free != 1 else ''}"
    if tuned.given:
        return f"Not tuned: {values} were given."
    if len(tuned.rows) == 0:
        return (
            f"Not tuned: {values} are default values, because there are too few calibration questions to set some "
            "aside."
        )
    return (
        f"Tuned: {values}, for the smallest sets at alpha {TUNING_ALPHA / THOUSAND:.3f} on {len(tuned.rows):,} of the "
        f"calibration questions. The other {len(tuned.calibration):,} calibrate."
        + ("" if by == "all" else " The intervals of set size and UAcc hold for these values and do not redraw them.")
    )


def cloze_note(run: Evaluation) -> str:
    """Notes on probabilities over option texts."""
    return CLOZE_NOTE if run.normalisation == "raw" else NORMALISED_NOTE.format(NORMALISATIONS[run.normalisation])


def _notes(name: str, q: float, n: int, alpha: Alpha, method: str, by: str) -> tuple[str, ...]:
    notes = []
    if by == "all" and method == "exact" and (message := full_set_message(n, alpha)):
        notes.append(message)
    if method != "exact":
        notes.append(
            f"The {method} threshold reproduces published figures. The guarantee is proved only for the exact "
            "threshold."
        )
    if name == "aps" and method == "bluq" and abs(q - 1) < ONE_WITHIN_ROUNDING:
        notes.append(
            "The APS threshold is 1 within rounding, so every option should stay in every set; a published set size "
            "below k at this threshold is the rounding noise of a running sum."
        )
    return tuple(notes)


def _saturation_notes(run: Evaluation, name: str, formed: FormedSets, alpha: Alpha, by: str) -> list[str]:
    """Notes on thresholds at 1 or just below it, with the remedy if leaving out options E and F is one."""
    limits = tuple(formed.thresholds.values())
    if not (can_saturate(name, formed.tuned.parameters) and saturated(limits)):
        return []
    note = saturation_note(limits, STRATA[by], title=SCORES[name].title)
    try:
        fewer = look(run, SplitView(drop_extra=True))
    except InputError:  # no E and F, or no option texts, as for probabilities that are no stored run
        return [note]
    given = formed.tuned.parameters if formed.tuned.given else None
    without = form(fewer, name, alpha, by=by, parameters=given).thresholds.values()
    return [note, *([OFFER] if decided_by_little(limits) and not decided_by_little(without) else [])]


def _strata_notes(run: Evaluation, formed: FormedSets, calibrated: dict[str, int], by: str) -> tuple[str, ...]:
    """Notes on strata with no or too few calibration questions; none if all questions share a threshold."""
    if by == "all":
        return ()
    gaps = by == "class" and SCORES[formed.name].ordered
    what, what_follows = ("subject", "their sets are full") if by == "group" else ("option", "they stay in every set")
    never = [name for name, n in calibrated.items() if n == 0]
    few = [name for name, n in calibrated.items() if n > 0 and formed.thresholds[name] == math.inf]
    notes = ["With a threshold for each level, a set may have gaps."] if gaps else []
    if never and by == "class":
        remedy = f" Where these are “{DONT_KNOW}” and “{NONE_OF_ABOVE}”, drop them (--drop-extra)."
        notes.append(
            f"Never the truth of a calibration question: {_listed(never, what)}. Nothing says how unlikely they may "
            f"be, so {what_follows}.{'' if run.classes else remedy}"
        )
    elif never:
        notes.append(f"Without calibration questions: {_listed(never, what)}; {what_follows}.")
    if few:
        notes.append(f"With too few calibration questions for this alpha: {_listed(few, what)}; {what_follows}.")
    return tuple(notes)


def _listed(names: list[str], what: str) -> str:
    """The names, or their number if there are more than four."""
    return ", ".join(names) if len(names) <= LISTED else f"{len(names)} {what}s"
