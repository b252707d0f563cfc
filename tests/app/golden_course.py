"""Golden values for the ``facts.js`` of the course's other lessons: core's figures for their runs and juries."""

import itertools
import math
from typing import Any

import numpy as np

from app.showcase import showcase
from core.calibration.binned import binned_gaps, expected_by_chance
from core.calibration.bins import TopLabel, top_label
from core.calibration.errors import top_errors
from core.conformal.draws import uniforms
from core.estimates import difference_shown
from core.jury.adjudication import Case, adjudicate
from core.jury.agreement import agreement
from core.jury.experiment import Protocol
from core.jury.pipeline import jury_store
from core.reports import evaluation
from core.reports.course.asking import asking_tables
from core.reports.course.calibration import calibration_tables, fitted_temperature
from core.reports.course.juries import jury_tables
from core.reports.evaluation import Evaluation
from core.reports.jury import rules
from core.reports.prompting import experiments
from core.reports.report import report
from core.runs import store
from tests.app.test_lesson import percent, rounded
from tests.reference.calibration import Tempered, at_temperature

ALPHA = 100


def cases() -> dict[str, dict[str, Any]]:
    """For each lesson what the browser gets, and the figures and true values that it has to show."""
    return {"calibration": calibration(), "juries": juries(), "asking": asking()}


def written(value: Any) -> Any:
    """JSON values: what JSON lacks becomes a word."""
    if isinstance(value, dict):
        return {name: written(child) for name, child in value.items()}
    if isinstance(value, list):
        return [written(child) for child in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def points(error: float) -> str:
    return rounded(100 * error, 1)


def perfect(top: TopLabel, n: int, draws: int = 200) -> np.ndarray:
    """The ECE of a calibrated model with n confidences at equal steps of the order of the run's, draw by draw."""
    places = np.arange(n)
    confidence = np.sort(top.confidence)[(2 * places + 1) * len(top) // (2 * n)]
    return np.array(
        [
            top_errors(TopLabel(confidence, (uniforms(places, seed=draw) < confidence).astype(float))).ece
            for draw in range(draws)
        ]
    )


def calibration() -> dict[str, Any]:
    run = evaluation.load(showcase().calibration)
    top = top_label(run.probabilities[run.test], run.labels[run.test])
    m, errors, fitted = len(run.test), top_errors(top), fitted_temperature(run)
    assert fitted
    plain, warm, hot = (at_temperature(run, hundredths, ALPHA) for hundredths in (100, fitted, 200))
    drawn = perfect(top, m)
    floor, quarter = float(drawn.mean()), m // 4
    chance = expected_by_chance(binned_gaps(top))
    assert abs(floor - chance) < 4 * drawn.std() / len(drawn) ** 0.5  # the formula that reports use says the same
    return {
        "data": calibration_tables(run) | {"model": run.spec.model_name, "name": "a run"},
        "alpha": ALPHA,
        "expected": calibration_figures(run, top, plain, warm, hot)
        | {
            "draws": "200",
            "floor_points": points(floor),
            "quarter_n": str(quarter),
            "floor_quarter": points(float(perfect(top, quarter).mean())),
            "fourfold_n": f"{4 * m:,}",
            "floor_fourfold": points(float(perfect(top, 4 * m).mean())),
            "above_floor_said": [points(errors.ece), str(int((drawn >= errors.ece).sum())), "200"],
        },
        "truths": {
            "right_share": plain.accuracy,
            "lean": "overconfident" if errors.over > errors.under else "underconfident",
            "ece_points": 100 * errors.ece,
            "floor_points": 100 * floor,
            "fitted": fitted / 100,
            "hot_right": hot.accuracy,
        },
    }


def calibration_figures(
    run: Evaluation, top: TopLabel, plain: Tempered, warm: Tempered, hot: Tempered
) -> dict[str, Any]:
    """The figures of the run at its three temperatures; of a sentence only its numbers, in a list."""
    claim, right = float(top.confidence.mean()), float(top.correct.mean())
    few, many = (top_errors(top, bins=bins).ece for bins in (5, 50))
    large = np.flatnonzero(plain.counts >= 20)
    worst = large[np.abs(plain.confidence[large] - plain.accuracies[large]).argmax()]
    hot_claim = float(np.nansum(hot.counts * np.nan_to_num(hot.confidence)) / len(top))
    return {
        "model": run.spec.model_name,
        "m": f"{len(top):,}",
        "alpha": f"{ALPHA / 1000:.3f}",
        "mean_confidence": percent(claim),
        "example_confidence": "80%",
        "interval_mass": "95%",
        "right_share": percent(right),
        "mean_said": [points_between(claim, right, claim - right).removeprefix("-")],
        "bins": "15",
        "lean_said": [f"{points(plain.over)}", f"{points(plain.under)}"],
        "worst_bin_said": [
            "20",
            str(plain.counts[worst]),
            percent(plain.confidence[worst]),
            percent(plain.accuracies[worst]),
        ],
        "ece_points": points(plain.ece),
        "few_bins": "5",
        "many_bins": "50",
        "ece_few": points(few),
        "ece_many": points(many),
        "bins_said": [],
        "plain_temperature": "1.00",
        "fitted": rounded(warm.temperature, 2),
        "fitted_ece": points(warm.ece),
        "nll": rounded(plain.nll, 3),
        "fitted_nll": rounded(warm.nll, 3),
        "fitted_said": [],
        "hot": "2.00",
        "hot_confidence": percent(hot_claim),
        "hot_right": percent(hot.accuracy),
        "cold_coverage": percent(plain.sets["lac"].coverage),
        "cold_size": rounded(plain.sets["lac"].mean_set_size, 2),
        "hot_coverage": percent(hot.sets["lac"].coverage),
        "hot_size": rounded(hot.sets["lac"].mean_set_size, 2),
    }


def juries() -> dict[str, Any]:
    judged = jury_store.read(showcase().jury)
    agreements, k = agreement(judged), len(judged.jurors)
    tables = jury_tables(judged)
    page = rules(judged, Protocol(share=None)).experiment  # as the Jury page computes them
    shown = {outcome.rule: outcome for outcome in page.outcomes}
    majority, weighted = shown["majority"], shown["weighted_log_odds"]
    right = judged.right.mean(axis=0)
    outcomes = np.array(list(itertools.product((0, 1), repeat=k)))  # every pattern of right verdicts
    chances = np.where(outcomes == 1, right, 1 - right).prod(axis=1)
    independent = float(chances[2 * outcomes.sum(axis=1) > k].sum())
    everyone = Case(judged, np.full(judged.p_true.shape, 0.5), judged)
    together = float((adjudicate("majority", everyone) == judged.labels).mean())
    all_wrong, all_right = (float(chances[outcomes.sum(axis=1) == count].sum()) for count in (0, k))
    correlations = [pair.error_correlation.value for pair in agreements.pairs]
    gain = weighted.to_majority
    gained = points_between(weighted.accuracy.value, majority.accuracy.value, gain.value)
    return {
        "data": tables | {"model": "", "name": "a jury"},
        "alpha": ALPHA,
        "expected": {
            "judges": str(k),
            "answers": f"{len(judged):,}",
            "jurors_said": [percent(share) for share in right],
            "independent": percent(independent),
            "majority": percent(together),
            "against_best_said": [percent(right.max())],
            "all_wrong": percent(float((judged.right == 0).all(axis=1).mean())),
            "all_wrong_independent": percent(all_wrong),
            "unanimous": percent(agreements.unanimous.value),
            "unanimous_wrong": percent(agreements.unanimous_wrong.value),
            "unanimous_wrong_independent": percent(all_wrong / (all_wrong + all_right)),
            "pairs_said": [rounded(min(correlations), 2), rounded(max(correlations), 2)],
            "correlation": rounded(float(np.mean(correlations)), 2),
            "votes": rounded(agreements.effective_votes.value, 2),
            "limit": rounded(1 / float(np.mean(correlations)), 2),
            "disputed": f"{int(judged.disagreed.sum()):,}",
            "splits": "10",
            "majority_disputed": percent(majority.accuracy.value),
            "weighted_disputed": percent(weighted.accuracy.value),
            "gain_said": minus([gained, "95%", points(gain.low), points(gain.high)]),
        },
        "truths": {
            "independent": independent,
            "majority": together,
            "unanimous_wrong": agreements.unanimous_wrong.value,
            "votes": agreements.effective_votes.value,
            "better_rule": "weighted log-odds" if gain.value > 0 else "majority",
        },
    }


def asking() -> dict[str, Any]:
    first = experiments.PromptingExperiment.of(store.read_record(showcase().prompting).spec)
    records = experiments.experiments(map(store.read_record, store.run_stamps()))[first]
    runs = {
        reading: experiments.evaluate(reading)
        for reading in experiments.readings(records)
        if reading.method in ("letters", "raw") and reading.strategy == first.strategy
    }
    named = {(reading.method, reading.shots): run for reading, run in runs.items()}
    letters, texts, habit, many = (named[name] for name in (("letters", 0), ("raw", 0), ("letters", 1), ("raw", 5)))
    by_letter, by_text, after, long = (report(run, ALPHA) for run in (letters, texts, habit, many))
    picks = habit.probabilities[habit.test].argmax(axis=1)
    ways, shots = (
        experiments.against(first, [other], runs, ALPHA, score="lac").iloc[0]  # as the Prompting page computes them
        for first, other in (
            [next(first for first in runs if runs[first] is run) for run in pair]
            for pair in ((letters, texts), (texts, many))
        )
    )
    size = [rounded(float(ways[f"set_size{end}"]), 2) for end in ("_low", "_high")]
    picked, first_true = float((picks == 0).mean()), float((habit.labels[habit.test] == 0).mean())
    sets = [run.scores["lac"] for run in (by_letter, by_text)]
    sizes = [run.mean_set_size for run in reversed(sets)]
    smaller = difference_shown(*sizes, digits=2, exact=float(ways["set_size"]))
    return {
        "data": asking_tables(runs) | {"model": letters.spec.model_name, "name": "an experiment"},
        "alpha": ALPHA,
        "expected": {
            "model": letters.spec.model_name,
            "m": f"{len(letters.test):,}",
            "k": str(letters.k),
            "alpha": f"{ALPHA / 1000:.3f}",
            "target": percent(1 - ALPHA / 1000),
            "ask_letter_right": percent(by_letter.accuracy),
            "ask_text_right": percent(by_text.accuracy),
            "ask_guessing": percent(1 / letters.k),
            "ask_pairs_said": [
                str(ways["only_other"]),
                str(ways["only_first"]),
                *span(ways, by_text.accuracy, by_letter.accuracy),
            ],
            "ask_first_true": percent(first_true),
            "ask_first_picked": percent(picked),
            "ask_habit_said": [str(int((picks == 0).sum())), f"{len(picks):,}"],
            "ask_habit_right": percent(after.accuracy),
            "ask_most_shots": "5",
            "ask_many_right": percent(long.accuracy),
            "ask_shots_said": span(shots, long.accuracy, by_text.accuracy),
            "ask_letter_size": rounded(sets[0].mean_set_size, 2),
            "ask_text_size": rounded(sets[1].mean_set_size, 2),
            "ask_letter_coverage": percent(sets[0].coverage),
            "ask_text_coverage": percent(sets[1].coverage),
            "ask_size_said": ["0.100", *minus([rounded(smaller, 2), "95%", *size])],
        },
        "truths": {
            "ask_text_right": by_text.accuracy,
            "ask_first_picked": picked,
            "ask_many_right": long.accuracy,
            "ask_text_size": sets[1].mean_set_size,
        },
    }


def points_between(value: float, other: float, exact: float) -> str:
    return rounded(difference_shown(100 * value, 100 * other, digits=1, exact=100 * exact), 1)


def span(row: Any, value: float, other: float) -> list[str]:
    """The difference of two accuracies and its interval as the lesson writes them."""
    low, high = (points(float(row[f"accuracy{end}"])) for end in ("_low", "_high"))
    return minus([points_between(value, other, float(row["accuracy"])), "95%", low, high])


def minus(texts: list[str]) -> list[str]:
    return [text.replace("-", "−") for text in texts]
