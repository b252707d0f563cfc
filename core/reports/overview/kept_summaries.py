"""The summaries of runs for the Overview, kept on disk (:mod:`core.reports.kept`): 25 kB for a run of 400 questions."""

import math
import time
from contextlib import suppress
from typing import Any

import numpy as np

from core.conformal.coverage import Ties
from core.conformal.set_sizes.by_rank import SizeCurve
from core.errors import HedgeError
from core.reports import evaluation, frames, kept
from core.reports.frames import RunSummary, ScoreSummary
from core.reports.report import CoverageStrata
from core.runs import store

KIND = "run_summaries"

Arrays = dict[str, np.ndarray[Any, Any]]


def summary(run_id: str) -> RunSummary:
    """The figures of a finished run at every alpha (:func:`core.reports.frames.summarise`).

    Raises :class:`~core.errors.InputError` for any other run.
    """
    state = kept.state_of(run_id)
    stored = kept.read(KIND, run_id, state)
    if stored:
        return _unpacked(*stored)
    computed = frames.summarise(evaluation.load(run_id))
    if kept.state_of(run_id) == state and all(_can_be_kept(score) for score in computed.scores.values()):
        kept.write(KIND, run_id, state, *_packed(computed))
    return computed


def keep_new(looked_at: dict[str, int], *, within_s: float = math.inf) -> bool:
    """Keep the summaries of runs that have none yet, so that the next look at the Overview finds them.

    ``looked_at`` has the stamps of the runs that were looked at, and is added to. It stops after ``within_s`` seconds;
    the next call continues. Returns whether all runs have been looked at.
    """
    end = time.monotonic() + within_s
    for run_id, stamp in store.run_stamps().items():
        if looked_at.get(run_id) == stamp:
            continue
        if time.monotonic() > end:
            return False
        looked_at[run_id] = stamp
        with suppress(HedgeError):  # it has not finished, has no figures, or can't be read
            summary(run_id)
    return True


def _can_be_kept(summary: ScoreSummary) -> bool:
    """Whether the score has no parameters that are tuned, whose choices have curves of their own."""
    return not summary.sizes.choices


def _packed(summary: RunSummary) -> tuple[dict[str, Any], Arrays]:
    scores: dict[str, Any] = {}
    arrays: Arrays = {}
    for name, score in summary.scores.items():
        sizes, strata = score.sizes, score.strata
        scores[name] = {
            "sizes": [sizes.n, sizes.m, sizes.options, sizes.accuracy, sizes.worth],
            "calibrated": strata.calibrated,
            "tested": strata.tested,
            "tenth": _plain(score.tenth),
        }
        arrays |= {f"{name} {of}": getattr(score, of) for of in ("ranks", "thresholds", "coverage", "empty_rate")}
        arrays |= {f"{name} {of}": getattr(sizes, of) for of in ("size", "square", "size_if_right")}
        if sizes.covariances is not None:
            arrays[f"{name} covariances"] = sizes.covariances
        arrays |= {f"{name} ties {stratum}": ties.runs for stratum, ties in strata.ties.items() if ties}
    return {"row": _plain(summary.row), "scores": scores}, arrays


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}


def _unpacked(values: dict[str, Any], arrays: Arrays) -> RunSummary:
    return RunSummary(values["row"], {name: _score(name, of, arrays) for name, of in values["scores"].items()})


def _score(name: str, values: dict[str, Any], arrays: Arrays) -> ScoreSummary:
    n, m, options, accuracy, worth = values["sizes"]
    runs = {stratum: arrays.get(f"{name} ties {stratum}") for stratum in values["tested"]}
    return ScoreSummary(
        ranks=arrays[f"{name} ranks"],
        thresholds=arrays[f"{name} thresholds"],
        coverage=arrays[f"{name} coverage"],
        empty_rate=arrays[f"{name} empty_rate"],
        sizes=SizeCurve(
            n=n,
            m=m,
            options=options,
            accuracy=accuracy,
            size=arrays[f"{name} size"],
            square=arrays[f"{name} square"],
            size_if_right=arrays[f"{name} size_if_right"],
            covariances=arrays.get(f"{name} covariances"),
            worth=worth,
        ),
        strata=CoverageStrata(
            values["calibrated"],
            values["tested"],
            {stratum: None if ties is None else Ties(ties, ties.tobytes()) for stratum, ties in runs.items()},
        ),
        tenth=values["tenth"],
    )
