"""The figures of runs in which only an upper bound of some letters is known: each lies between two ends."""

import pandas as pd

from app.caches.by_version import by_version
from app.caches.run_cache import run_key
from core.records import Question
from core.reports import bounded, frames
from core.reports.bounded import BoundedCurves, BoundedReport, BoundedRun
from core.reports.report import DEFAULT_SCORES


@by_version(run_key, max_entries=16, show_spinner="Reading the run …")  # 1 MB per entry: 16 MB in all. A view needs one
def bounded_run(run_id: str, scores: tuple[str, ...] = DEFAULT_SCORES) -> BoundedRun:
    """A finished run with the bounds of these scores. Raises :class:`InputError` for a run that can't be shown."""
    return bounded.bounded_run(run_id, scores=scores)


@by_version(run_key, max_entries=64)  # 0.1 MB per entry: 6 MB in all
def curves(run_id: str, scores: tuple[str, ...]) -> dict[str, BoundedCurves]:
    """The figures of each of these scores at every alpha."""
    run = bounded_run(run_id, scores)
    return {name: bounded.bounded_curves(run, name) for name in run.scores}


@by_version(run_key, max_entries=1024)  # 5 kB per entry: 5 MB. One for each run and released alpha
def bounded_report(run_id: str, alpha: int, scores: tuple[str, ...] = DEFAULT_SCORES) -> BoundedReport:
    """The figures of a run at ``alpha`` thousandths."""
    return bounded.report_of(bounded_run(run_id, scores), alpha)


@by_version(run_key, max_entries=16)  # 0.2 MB per entry: 3 MB in all. A view needs one
def question_list(run_id: str) -> pd.DataFrame:
    """The test questions of a run, with the columns row, id, group and question."""
    return frames.question_list(bounded_run(run_id, DEFAULT_SCORES).run)


def question(run_id: str, row: int) -> Question:
    """The question in a row of the run."""
    return frames.question(bounded_run(run_id).run, row)
