"""Runs for a paper: their dialog on Overview and Compare, and their figures on other pages."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.background import Computation
from app.caches import run_cache
from app.components.shared.paper import Paper, for_paper
from app.state.data import MOST_EXPORTED
from core.reports.compare.benchmark import SetRule
from core.reports.figure_names import RUN_FIGURES
from core.reports.titles import record_task_title

if TYPE_CHECKING:
    from core.reports.compare.run_matrix import RunMatrix
    from core.reports.evaluation import Evaluation
    from core.reports.paper.results import Results


def overview_paper(table: pd.DataFrame, rule: SetRule, figure_names: Sequence[str]) -> None:
    """The dialog of the runs of an overview frame."""

    def make() -> Paper:
        from core.reports.paper.runs import of_overview

        return paper_of(table["run"].tolist(), rule, figure_names, lambda runs: of_overview(table, runs, rule))

    _button("overview", table["run"].tolist(), make)


def runs_paper(
    page: str,
    run_ids: Sequence[str],
    rule: SetRule,
    figure_names: Sequence[str],
    *,
    rows: pd.DataFrame | None = None,
    matrix: "Computation[RunMatrix] | None" = None,
) -> None:
    """The dialog of runs side by side: their ``rows`` (:func:`core.reports.compare.benchmark.run_rows`, computed if not
    given), and the tests of ``matrix``."""

    def make() -> Paper:
        from core.reports import exports
        from core.reports.compare.common_options import offered_alike
        from core.reports.paper.runs import of_runs

        def results(runs: "Sequence[Evaluation]") -> "Results":
            tested = None
            if matrix:
                with st.spinner("Computing the paired tests …"):
                    matrix.run()
                tested = matrix.value()
            shown = exports.rows(runs, rule) if rows is None else rows
            return of_runs(shown, offered_alike(runs), rule, matrix=tested)

        return paper_of(run_ids, rule, figure_names, results)

    _button(page, run_ids, make)


def _button(page: str, run_ids: Sequence[str], make: Callable[[], Paper]) -> None:
    if len(run_ids) > MOST_EXPORTED:
        st.caption(f"At most {MOST_EXPORTED} runs fit into a paper's table, and {len(run_ids)} are shown.")
    else:
        for_paper(page, make)


def paper_of(
    run_ids: Sequence[str],
    rule: SetRule,
    figure_names: Sequence[str],
    results: "Callable[[Sequence[Evaluation]], Results]",
) -> Paper:
    """What a page has of runs: their numbers by ``results``, these figures, and the works to cite."""
    from app.caches import export_cache  # imports the chart libraries
    from core.reports import exports

    runs = export_cache.evaluations(run_ids)
    # A figure that shows one task would need a file for each.
    one_task = len({record_task_title(run_cache.record(run_id)) for run_id in run_ids}) == 1
    titles = {name: RUN_FIGURES[name] for name in figure_names if one_task or name != "accuracy-and-set-size"}
    return Paper(
        results(runs),
        titles,
        lambda name, style: export_cache.runs_figure(name, run_ids, rule, style),
        lambda: exports.bibtex(runs, rule),
    )
