"""Lessons: steps of text with figures. All figures are computed from the run with which the lesson is shown.

A lesson is a TOML file in ``assets/lessons``: ``title`` and steps of ``name``, ``title``, ``text``, ``question``,
``answer``, ``show`` (the lab's panels), and perhaps ``start`` (what the lab starts from) and ``shift`` (whether the
figure of a shift is shown). A figure in a text is a ``{name}`` of :func:`facts`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from core.conformal.alpha import THOUSAND
from core.conformal.coverage import BAND_MASS, beta_binomial_band
from core.conformal.mondrian import least_covered_p_value
from core.conformal.scores import score, true_scores
from core.conformal.threshold import rank
from core.errors import InputError
from core.reports.alpha_lab.covariate_shift import SEARCHED_AT, Search, Shifted
from core.reports.evaluation import Evaluation
from core.reports.report import Report, report
from core.settings import ASSETS

LESSON = ASSETS / "lessons" / "prediction-sets.toml"
ALPHA = 100
"""The alpha that a lesson starts from, in thousandths."""
NO_SHIFT = "no other kind of questions"
NEEDED = ("name", "title", "text", "question", "answer", "show")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a text that contains names of figures, and the panels of the alpha lab that show them."""

    name: str
    title: str
    text: str
    question: str
    answer: str
    show: tuple[str, ...]
    start: dict[str, Any] = field(default_factory=dict)
    shift: bool = False


@dataclass(frozen=True, slots=True)
class Lesson:
    """A title, which asks a question, and the steps that answer it."""

    title: str
    steps: tuple[Step, ...]


def load(path: Path = LESSON) -> Lesson:
    """Read a lesson. An :class:`InputError` names the file and the step that is incomplete."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the lesson {path} can't be read: {error}") from error
    steps = []
    for place, step in enumerate(told.get("step", []), start=1):
        lacks = [name for name in NEEDED if name not in step]
        if lacks:
            raise InputError(f"step {place} of the lesson {path} lacks {', '.join(lacks)}")
        steps.append(Step(**{**step, "show": tuple(step["show"])}))
    if not steps or "title" not in told:
        raise InputError(f"the lesson {path} needs a title and at least one step")
    return Lesson(told["title"], tuple(steps))


def names(text: str) -> tuple[str, ...]:
    """The names of figures in a text."""
    return tuple(name for _, name, _, _ in Formatter().parse(text) if name)


def fill(text: str, figures: dict[str, str]) -> str:
    """The text with its figures filled in. Raises :class:`InputError` for a name without a figure."""
    unknown = [name for name in names(text) if name not in figures]
    if unknown:
        raise InputError(f"a lesson speaks of {', '.join(unknown)}; there are figures for {', '.join(figures)}")
    return text.format_map(figures)


def facts(run: Evaluation, shift: Shifted | None, search: Search | None, *, alpha: int = ALPHA) -> dict[str, str]:
    """Every figure that a lesson may speak of, in words, by LAC and (``other_``) APS at alpha thousandths.

    ``small_`` figures are at half that alpha, in whole thousandths from 1. ``shift`` is between the two subjects that
    ``search`` found, at its own alpha (``search_alpha``); both are None for a run with fewer than two.
    """
    small = max(1, alpha // 2)
    now, smaller = (report(run, at, scores=("lac", "aps")) for at in (alpha, small))
    lac, aps = now.scores["lac"], now.scores["aps"]
    median = _median_score(run)
    low, high = beta_binomial_band(now.n_calibration, now.n_test, alpha)
    return {
        "n": f"{now.n_calibration:,}",
        "m": f"{now.n_test:,}",
        "k": str(now.k),
        "accuracy": _percent(now.accuracy),
        "alpha": f"{alpha / THOUSAND:g}",
        "alpha_percent": f"{100 * alpha / THOUSAND:g}%",
        "small_alpha": f"{small / THOUSAND:g}",
        "target": f"{100 * (THOUSAND - alpha) / THOUSAND:g}%",
        "rank": _rank(now.n_calibration, alpha),
        "threshold": f"{lac.threshold:.3f}" if np.isfinite(lac.threshold) else "no score at all",
        "median_score": f"{median:.3f}",
        "median_probability": f"{1 - median:.3f}",
        "single_share": _percent(lac.sizes[1] / now.n_test),
        "coverage": _percent(lac.coverage),
        "size": f"{lac.mean_set_size:.2f}",
        "empty": _percent(lac.empty_rate),
        "small_coverage": _percent(smaller.scores["lac"].coverage),
        "small_size": f"{smaller.scores['lac'].mean_set_size:.2f}",
        "other_coverage": _percent(aps.coverage),
        "other_size": f"{aps.mean_set_size:.2f}",
        "other_empty": _percent(aps.empty_rate),
        "band_mass": _percent(BAND_MASS, digits=0),
        "band_low": _percent(low),
        "band_high": _percent(high),
        "within": "inside" if low <= lac.coverage <= high else "outside",
        **_subjects(now, seed=run.spec.seed),
        **_shift(shift, search, alpha=alpha),
    }


def _rank(n: int, alpha: int) -> str:
    place = int(rank(n, alpha))
    return f"{place:,}" + (" (there are not so many, so every option stays)" if place > n else "")


def _percent(share: float, *, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}%"


def _frequency(p_value: float) -> str:
    return "0.1% or less" if p_value <= 0.001 else _percent(p_value)


def _median_score(run: Evaluation) -> float:
    scores = score("lac", run.option_probabilities)[run.calibration]
    return float(np.quantile(true_scores(scores, run.labels[run.calibration]), 0.5, method="inverted_cdf"))


def _subjects(now: Report, *, seed: int) -> dict[str, str]:
    tested = [stratum for stratum in now.scores["lac"].strata if stratum.m > 0]
    sizes = np.array([stratum.m for stratum in tested], dtype=np.int64)
    hits = np.rint([stratum.coverage * stratum.m for stratum in tested]).astype(np.int64)
    p_value = least_covered_p_value(hits, sizes, rng=np.random.default_rng([seed, 0x1EA]))
    found = {"subjects": f"{len(tested):,}", "worst_p": _frequency(p_value)}
    for which, stratum in (("worst", min(tested, key=_coverage)), ("best", max(tested, key=_coverage))):
        found[f"{which}_subject"] = stratum.stratum or "no subject"
        found[f"{which}_coverage"] = _percent(stratum.coverage)
        found[f"{which}_m"] = f"{stratum.m:,}"
    return found


def _coverage(stratum: Any) -> float:
    return float(stratum.coverage)


def _shift(shift: Shifted | None, search: Search | None, *, alpha: int) -> dict[str, str]:
    at = alpha - 1
    return {
        "source": shift.source if shift else NO_SHIFT,
        "shifted_to": shift.target if shift else NO_SHIFT,
        "shift_coverage": _percent(shift.coverage[at]) if shift else "not known",
        "pairs": f"{search.pairs:,}" if search else "no",
        "search_alpha": f"{SEARCHED_AT / THOUSAND:g}",
        "shift_p": _frequency(search.p_value) if search else "not known",
        "shift_weighted_coverage": _percent(shift.weighted_coverage[at]) if shift else "not known",
    }
