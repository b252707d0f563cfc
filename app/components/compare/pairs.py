"""The compared runs side by side, all pairs of them, and the inspector of one pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
import streamlit as st

from app.background import arrived
from app.caches import compare_cache, run_cache
from app.components.compare.comparison import comparison
from app.components.compare.inspector import inspector
from app.components.shared import figures
from app.components.shared.runs import titles
from app.formatting import counted, plain, sentence
from app.state.compare import CompareView
from charts.run_names import unique
from core.errors import InputError
from core.reports.compare import run_matrix
from core.reports.compare.run_matrix import MOST_RUNS
from core.reports.titles import record_task_title

ONE_RUN = (
    "The matrix and the questions below compare two runs, and only one is chosen. Choose a second run at the top of "
    "the page."
)
TOGETHER = "all of them hold the true differences in at least 95% of draws"


def pairs(run_ids: Sequence[str], rows: pd.DataFrame, view: CompareView) -> None:
    """Show the dot plots of all runs, the matrix of those that share questions, and the questions of one pair."""
    found = titles([run_cache.record(name) for name in run_ids])
    groups = run_matrix.groups(run_ids)
    group = _group(groups, view)
    matrix, problem = None, ""
    if len(group) < 2:
        problem = ONE_RUN if len(run_ids) == 1 else "No two of the chosen runs were tested on the same questions."
    else:
        try:
            matrix = arrived(compare_cache.matrix(group, view.alpha, view.score, view.empty))
        except InputError as error:
            problem = sentence(str(error))
    comparison(
        rows,
        found,
        group=group,
        groups=_named(names for names in groups if len(names) > 1),
        matrix=matrix,
        problem=problem,
        view=view,
    )
    with st.container(horizontal=True, gap="medium"):
        st.caption(_said(group, matrix), width="stretch")
        figures.download("Figures as CSV", rows, "compared-runs", figures.about(run_ids, view.alpha))
        if matrix is not None:
            figures.download("Pairs as CSV", run_matrix.pairs_frame(matrix), "pairs", figures.about(group, view.alpha))
    if problem:
        return
    st.subheader("Two runs, question by question", anchor=False)
    numbers = compare_cache.inspector_numbers(group, view.alpha, view.score, view.empty)
    stamps = ",".join(run_cache.version(name) for name in group)
    inspector(
        group,
        [found[name] for name in group],
        numbers,
        compare_cache.inspector_texts(group),
        others=[(name, found[name]) for name in run_ids if name not in group],
        version=f"{stamps}|{view.alpha}|{view.score}|{view.empty}",
        view=view,
    )


def _group(groups: Sequence[tuple[str, ...]], view: CompareView) -> tuple[str, ...]:
    """The runs of the matrix: those that share questions with the inspector's two runs, or these two alone."""
    asked = [name for name in (view.first, view.second) if any(name in group for group in groups)]
    for group in groups:
        if asked and all(name in group for name in asked) and len(group) > 1:
            first = [name for name in group if name not in asked][: MOST_RUNS - len(asked)]
            return tuple(name for name in group if name in first or name in asked)
    if len(set(asked)) == 2:
        return asked[0], asked[1]
    largest = max(groups, key=len)
    return largest[:MOST_RUNS]


def _named(groups: Iterable[tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    """Each group with the title of its questions; no two titles are alike."""
    found = list(groups)
    return list(zip(unique(record_task_title(run_cache.record(names[0])) for names in found), found, strict=True))


def _said(group: Sequence[str], matrix: run_matrix.RunMatrix | None) -> str:
    """How the tests and intervals of the matrix are to be read."""
    if matrix is None:
        return ""
    many = len(matrix.pairs["accuracy"])
    said = (
        f"On {counted(matrix.n_test, 'test question')} that all of these runs share. Accuracy has the exact McNemar "
        "test. Mean set size and UAcc have a paired permutation test, which swaps the two runs' answers to calibration "
        "and test questions and computes both thresholds again, because all sets of a run share the luck of its "
        "calibration questions. "
    )
    if many > 1:
        said += (
            f"P-values are corrected for all {many} pairs of a figure (Holm): the chance of any false difference is at "
            f"most 5%. The intervals of a figure belong together: {TOGETHER} (Bonferroni). "
        )
    else:
        said += "The intervals are 95% intervals that count the luck of the calibration questions. "
    if matrix.smallest_p > 0.001:
        said += f"The smallest p-value that so many swaps and pairs can give is {matrix.smallest_p:.2g}. "
    if any(matrix.alone):
        said += (
            f"{counted(matrix.n_calibration, 'calibration question')} of all runs are swapped. Up to "
            f"{max(matrix.alone):,} that calibrate only some runs are not."
        )
    return plain(said)
