"""The Overview's rows: a summary of every run that it shows, and one question of the run on its cards."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

import pandas as pd
import streamlit as st

from app.caches.all_runs_cache import AllRunsCache
from app.caches.by_version import by_version
from app.caches.per_run import PerRun, RunKey
from app.caches.run_cache import evaluation, run_key, set_aside
from app.state.overview import OverviewView
from core.conformal.scores import SCORES
from core.errors import HedgeError, UnreadableRunError
from core.reports import evaluation as evaluations
from core.reports import frames
from core.reports.frames import RunSummary
from core.reports.overview import kept_summaries
from core.reports.overview.example_question import ExampleQuestion, example_question
from core.reports.report import DEFAULT_SCORES
from core.runs import store
from core.runs.store import RunRecord

LAST_FRAMES = 16
EXAMPLE_ALPHA = 100
"""The alpha, in thousandths, at which the question on a card is chosen. The question stays the same when alpha
changes."""


def overview(records: Sequence[RunRecord], alpha: int, score: str = "lac") -> tuple[pd.DataFrame, tuple[str, ...]]:
    """One row per finished run at ``alpha`` thousandths, and one sentence for each run that has no figures.

    A row has the figures of LAC, APS and ``score``. If files of runs turn out to be damaged, the page runs again
    without these runs.
    """
    stamps = store.run_stamps()
    summaries: dict[RunKey, RunSummary] = {}
    problems = []
    damaged = False
    with st.spinner("Reading the runs …") if _news(records, stamps, score) else nullcontext():
        for record in records:
            try:
                key = (
                    RunKey(record.run_id, stamps[record.run_id]) if record.run_id in stamps else run_key(record.run_id)
                )
                summaries[key] = _with_score(key, score)
            except UnreadableRunError as error:
                damaged |= set_aside(error)
            except HedgeError as error:
                problems.append(str(error))
    if damaged:
        st.rerun()
    return _frame(summaries, alpha, score), tuple(problems)


def _news(records: Sequence[RunRecord], stamps: Mapping[str, int], score: str) -> bool:
    """Whether a run has to be read."""
    keys = [RunKey(record.run_id, stamps.get(record.run_id, 0)) for record in records]
    beside = _score_summaries.get(score)
    return not all(_summary.held(key) and (beside is None or beside.held(key)) for key in keys)


def _frame(summaries: Mapping[RunKey, RunSummary], alpha: int, score: str) -> pd.DataFrame:
    """The overview frame, from the cache if it was shown recently. It must not be changed."""
    recent, wanted = _frames(), (tuple(summaries), alpha, score)
    table = recent.pop(wanted, None)
    if table is None:
        table = frames.overview_at(summaries.values(), alpha)
    recent[wanted] = table
    while len(recent) > LAST_FRAMES:
        recent.popitem(last=False)
    return table


def summary(run_id: str, score: str = "lac") -> RunSummary:
    """A finished run's figures at every alpha, those of LAC, APS and ``score``.

    Raises :class:`HedgeError` if its files can't be read.
    """
    return _with_score(run_key(run_id), score)


def _with_score(key: RunKey, score: str) -> RunSummary:
    summary = _summary(key)
    if score in summary.scores:
        return summary
    return replace(summary, scores={**summary.scores, score: _score_summaries[score](key)})


@by_version(run_key, max_entries=32)  # 2 kB per entry: one question and its options
def example(run_id: str, score: str) -> ExampleQuestion:
    """A test question of a finished run that shows what a set by ``score`` is."""
    threshold = summary(run_id, score).scores[score].threshold(EXAMPLE_ALPHA)
    return example_question(evaluation(run_id), score, threshold)


def shared_view(view: OverviewView) -> OverviewView:
    """The view without what a person has chosen on other pages, and without the form of its figure. So all persons with
    the same filters, alpha and score share what is :data:`kept`."""
    return replace(view, run="", runs="", figure="")


def _of_score(name: str) -> PerRun[frames.ScoreSummary]:
    return PerRun(lambda key: frames.summarise_score(evaluations.load(key.run_id), name), most=1024)


# Not through load_evaluation: an overview of many runs would evict the run that a person is looking at.
# 25 kB per entry for a run of 400 questions, at most 60 kB for one of 1,000: 60 MB with 1,000 such runs.
_summary = PerRun(lambda key: kept_summaries.summary(key.run_id), most=4096)
# 0.1 MB per entry. Only scores beside LAC and APS have such entries, and a person looks at one at a time.
_score_summaries = {name: _of_score(name) for name in SCORES if name not in DEFAULT_SCORES}

cached_view = AllRunsCache(most=64)
"""What the page shows of all finished runs in a view: the section's figures, the matrix, the panels, the cards. A view
needs three entries, of 3 to 250 kB with 134 runs: at most 16 MB in all. They grow with the runs."""


@st.cache_resource(show_spinner=False)
def _frames() -> OrderedDict[tuple[tuple[RunKey, ...], int, str], pd.DataFrame]:
    """The frames that were shown last: 1 MB for each 1,000 runs."""
    return OrderedDict()
