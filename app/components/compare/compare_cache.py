"""The Compare page's cached data: runs side by side, all pairs of them, and their questions."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import streamlit as st

from app.background import Computation
from app.caches.by_version import by_version
from app.caches.run_cache import compared_evaluation, run_key
from core.reports.compare import claims as tested
from core.reports.compare import inspector, kept_rows, run_matrix, shared_questions
from core.reports.compare.benchmark import SetRule
from core.reports.compare.claims import PublishedClaim
from core.reports.compare.common_options import offered_alike
from core.reports.compare.run_matrix import RunMatrix
from core.reports.evaluation import Evaluation
from core.reports.overview import published


@dataclass(frozen=True, slots=True)
class InspectorTables:
    """What the inspector shows of the questions that runs share, a row for each question."""

    numbers: pa.Table
    """The sets, picks and probabilities (:func:`core.reports.compare.inspector.inspector_numbers`)."""
    texts: pa.Table
    """The texts of the questions, in the same order."""
    letters: tuple[str, ...]
    """The letters of the options, or the names of ``classes``, whose texts are left out above."""
    classes: bool


# 23 kB per entry of 24 runs: 3 MB in all. There is one entry for each alpha at which a person releases the slider.
@by_version(run_key, max_entries=128, show_spinner="Comparing the runs …")
def compared(run_ids: tuple[str, ...], rule: SetRule) -> pd.DataFrame:
    """One row per run and score (:func:`core.reports.compare.kept_rows.compared_rows`)."""
    return kept_rows.compared_rows(list(run_ids), rule, compared_evaluation)


@by_version(run_key, max_entries=64)  # 40 kB per entry of 12 runs: 3 MB in all
def matrix(run_ids: tuple[str, ...], alpha: int, score: str, empty: str) -> Computation[RunMatrix]:
    """All pairs of the runs, with their intervals and tests."""
    # The runs are read in the background too: the dot plots, whose figures are kept on disk, do not wait for them.
    return Computation(
        lambda: run_matrix.run_matrix(
            [compared_evaluation(run_id) for run_id in run_ids], alpha, score=score, empty=empty
        )
    )


def evaluations(run_ids: Sequence[str]) -> list[Evaluation]:
    """The compared runs' arrays, on the options that runs with the same questions have in common."""
    return offered_alike([compared_evaluation(run_id) for run_id in run_ids])


@by_version(run_key, max_entries=128)  # 2 kB per entry
def groups(run_ids: Sequence[str]) -> list[tuple[str, ...]]:
    """The runs that are compared with each other (:func:`core.reports.compare.shared_questions.groups`)."""
    return shared_questions.groups(list(run_ids))


@by_version(run_key, max_entries=128)  # 10 kB per entry: 1 MB in all
def claims(run_ids: tuple[str, ...], rule: SetRule, score: str) -> Computation[list[PublishedClaim]]:
    """The published claims, tested on the runs with sets by ``score``."""
    rows = compared(run_ids, rule)
    of_score = rows[rows["score"] == score]
    return Computation(lambda: tested.claims(tested.with_shared_questions(of_score)))


@st.cache_resource(max_entries=8, show_spinner=False)  # 10 kB per entry, and there are few tables
def published_claims(table: str) -> Computation[list[PublishedClaim]]:
    """The published claims, tested on a published table."""
    return Computation(lambda: tested.claims(published.published(table)))


# 0.1 MB per entry of 6 shipped runs, 1 MB for 12 runs with 5,000 test questions: 16 MB at most.
@by_version(run_key, max_entries=16)
def inspector_tables(run_ids: tuple[str, ...], alpha: int, score: str, empty: str) -> Computation[InspectorTables]:
    """The questions that the runs share. It ends with :class:`InputError` if these are fewer than 10."""
    texts = _texts(run_ids)

    def compute() -> InspectorTables:
        runs = [compared_evaluation(run_id) for run_id in run_ids]
        shared = run_matrix.shared_questions(runs, alpha, score=score, empty=empty)
        texts.run()
        first = shared.runs[0]
        return InspectorTables(inspector.inspector_numbers(shared), texts.value(), tuple(first.letters), first.classes)

    return Computation(compute)


@by_version(run_key, max_entries=8)  # 0.1 MB per entry, 1 MB for 5,000 questions: 8 MB at most
def _texts(run_ids: Sequence[str]) -> Computation[pa.Table]:
    return Computation(lambda: inspector.inspector_texts([compared_evaluation(run_id) for run_id in run_ids]))
