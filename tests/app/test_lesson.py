"""The lesson's figures in the browser equal Python's reports, at several alphas; its guesses are judged as they say."""

import json
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from app.showcase import showcase
from core.conformal.coverage import beta_binomial_band
from core.conformal.scores import score, true_scores
from core.conformal.scores.table import score_table
from core.conformal.threshold import rank
from core.estimates import difference_shown
from core.reports import evaluation, lesson
from core.reports.alpha_lab import covariate_shift
from core.reports.alpha_lab.covariate_shift import Search, Shifted
from core.reports.evaluation import Evaluation
from core.reports.p_values import p_said
from core.reports.report import report
from tests.app.javascript import passed_tests
from tests.conftest import synthetic_run

ALPHAS = {"synthetic": (1, 100, 255, 900), "pocket-8m-humble": (137,)}
"""The alphas at which the runs of these models are compared."""
NOTHING = "no score at all"


def sides(run: Evaluation) -> tuple[Shifted, Search]:
    """The pair of subjects that falls short most, and how it was found."""
    by_subject = {name: covariate_shift.side(run, name, by="lac") for name in covariate_shift.subjects(run)}
    search = covariate_shift.search(list(by_subject.values()))
    assert search
    return covariate_shift.shifted(by_subject[search.source], by_subject[search.target]), search


def rounded(value: float, digits: int) -> str:
    """The value as JavaScript's toFixed writes it: a tie is rounded up."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def percent(value: float) -> str:
    return f"{rounded(100 * value, 1)}%"


def score_text(value: float) -> str:
    return rounded(value, 3) if math.isfinite(value) else NOTHING


def figures(run: Evaluation, shift: Shifted, search: Search, least: np.ndarray, alpha: int) -> dict[str, Any]:
    """Every figure of the lesson's texts at alpha; of a sentence only its numbers, in a list."""
    small = max(1, alpha // 2)
    now, smaller = report(run, alpha), report(run, small).scores["lac"]
    lac, aps = now.scores["lac"], now.scores["aps"]
    n, m = now.n_calibration, now.n_test
    low, high = beta_binomial_band(n, m, alpha)
    true = np.sort(true_scores(score("lac", run.option_probabilities), run.labels)[run.calibration])
    median = float(true[math.ceil(n / 2) - 1])
    worst = min(lac.strata, key=lambda stratum: stratum.coverage)
    best = max(lac.strata, key=lambda stratum: stratum.coverage)
    ties = sum(stratum.coverage == best.coverage for stratum in lac.strata)
    by_size = [group for group in lac.by_size if group.size and group.m >= 20]
    least_held = min(by_size, key=lambda group: group.coverage) if by_size else None
    single = lac.by_size[1]
    p = float(least[alpha - 1])
    return {
        "model": run.spec.model_name,
        "n": f"{n:,}",
        "m": f"{m:,}",
        "k": str(now.k),
        "accuracy": percent(now.accuracy),
        "alpha": f"{alpha / 1000:.3f}",
        "alpha_percent": f"{alpha / 10:.1f}%",
        "target": f"{(1000 - alpha) / 10:.1f}%",
        "small_alpha": f"{small / 1000:.3f}",
        "single_share": percent(lac.sizes[1] / m),
        "singles": [] if not single.m or single.coverage == 1 else [percent(single.coverage)],
        "median_score": rounded(median, 3),
        "median_probability": rounded(1 - median, 3),
        "places": f"{n + 1:,}",
        "rank": f"{int(rank(n, alpha)):,}",
        "exact_rank": f"{(n + 1) * (1000 - alpha) / 1000:,.3f}".rstrip("0").rstrip("."),
        "threshold": score_text(lac.threshold),
        "threshold_said": [score_text(lac.threshold) if math.isfinite(lac.threshold) else f"{n:,}"],
        "small_rank": f"{int(rank(n, small)):,}",
        "small_threshold_said": [f"{n:,}"]
        if not math.isfinite(smaller.threshold)
        else [score_text(threshold) for threshold in sorted({lac.threshold, smaller.threshold})],
        "size": rounded(lac.mean_set_size, 2),
        "coverage": percent(lac.coverage),
        "small_size": rounded(smaller.mean_set_size, 2),
        "small_coverage": percent(smaller.coverage),
        "kept_question": "Is the promise broken?" if lac.coverage < 1 - alpha / 1000 else "Is that just chance?",
        "band_mass": "95%",
        "band_low": percent(low),
        "band_high": percent(high),
        "band_width": rounded(band_width(low, high), 1),
        "within": "inside" if low <= lac.coverage <= high else "outside",
        "worst_subject": worst.stratum,
        "worst_coverage": percent(worst.coverage),
        "worst_m": f"{worst.m:,}",
        "best_said": [*([str(ties)] if ties > 1 else []), percent(best.coverage)],
        "worst_luck": [str(len(lac.strata)), p_said(p)],
        "by_size": [
            f"{least_held.m:,}",
            f"{least_held.size} option{'s' * (least_held.size > 1)}",
            percent(least_held.coverage),
        ]
        if least_held
        else [],
        "smaller_said": "Both make sets of the same mean size here."
        if lac.mean_set_size == aps.mean_set_size
        else f"{'LAC' if lac.mean_set_size < aps.mean_set_size else 'APS'} makes the smaller sets here.",
        "other_size": rounded(aps.mean_set_size, 2),
        "empty": percent(lac.empty_rate),
        "other_empty": percent(aps.empty_rate),
        "other_coverage": percent(aps.coverage),
        "source": search.source,
        "shifted_to": search.target,
        "shift_coverage": percent(shift.coverage[alpha - 1]),
        "shift_size": rounded(shift.mean_set_size[alpha - 1], 2),
        "shift_weighted_coverage": percent(shift.weighted_coverage[alpha - 1]),
        "shift_weighted_size": rounded(shift.weighted_mean_set_size[alpha - 1], 2),
        "pairs": f"{search.pairs:,}",
        "search_alpha": "0.100",
        "shift_p": p_said(search.p_value),
    }


def band_width(low: float, high: float) -> float:
    return difference_shown(100 * high, 100 * low, digits=1, exact=100 * (high - low))


def truths(run: Evaluation, shift: Shifted, alpha: int) -> dict[str, Any]:
    """The figures that a user guesses, in full precision."""
    now, smaller = report(run, alpha), report(run, max(1, alpha // 2)).scores["lac"]
    lac = now.scores["lac"]
    low, high = beta_binomial_band(now.n_calibration, now.n_test, alpha)
    return {
        "single_share": lac.sizes[1] / now.n_test,
        "small_threshold": smaller.threshold if math.isfinite(smaller.threshold) else None,
        "size": lac.mean_set_size,
        "band_width": band_width(low, high),
        "worst_coverage": min(stratum.coverage for stratum in lac.strata),
        "shift_coverage": float(shift.coverage[alpha - 1]),
    }


def golden(run: Evaluation) -> dict[str, Any]:
    """The data as the browser gets it, and what Python makes of it."""
    shift, search = sides(run)
    sent = lesson.lesson_tables(run, shift, search)
    tables = ("rows", "questions", "examples", "least_covered", "curves")
    least, _ = lesson.least_covered_by_alpha(run)
    alphas = ALPHAS[run.spec.model_name]
    return {
        "data": {
            **{name: sent[name].to_pydict() for name in tables},
            **{name: value for name, value in sent.items() if name not in tables},
            "scores": score_table(),
            "model": run.spec.model_name,
        },
        "expected": {alpha: figures(run, shift, search, least=least, alpha=alpha) for alpha in alphas},
        "truths": {alpha: truths(run, shift, alpha) for alpha in alphas},
    }


def names_in_lesson() -> set[str]:
    return {name for step in lesson.load().steps for text in step.texts for name in lesson.names(text)}


def test_every_figure_in_the_texts_equals_pythons(home: Path, tmp_path: Path):
    runs = [evaluation.load(synthetic_run(400, seed=2)), evaluation.load(showcase().run)]
    path = tmp_path / "golden.json"
    path.write_text(
        json.dumps(
            {
                "runs": [golden(run) for run in runs],
                "names": sorted(names_in_lesson()),
                "guessed": [step.guess.of for step in lesson.load().steps],
                "steps": [step.name for step in lesson.load().steps],
            }
        )
    )
    tests = Path(__file__).with_name("lesson.test.mjs")
    written = len(re.findall(r"^test\(", tests.read_text(), re.MULTILINE))
    assert passed_tests([tests], HEDGE_GOLDEN=str(path)) == written + sum(map(len, ALPHAS.values()))
