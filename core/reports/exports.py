"""Runs as documents: a workbook, tables for a paper, and works to cite. Pages and the command line write the same."""

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from core.exchange.run_table import run_table
from core.exchange.workbook import workbook
from core.reports import references
from core.reports.answer_or_pass import pass_rows
from core.reports.compare import benchmark
from core.reports.compare.benchmark import SetRule
from core.reports.compare.common_options import offered_alike
from core.reports.evaluation import Evaluation
from core.reports.file_names import of_runs
from core.reports.paper import runs as paper_runs
from core.reports.paper import writers
from core.reports.paper.results import PaperResults
from core.reports.provenance import of_runs as provenance_of_runs
from core.reports.titles import distinct_titles


def rows(runs: Sequence[Evaluation], rule: SetRule) -> pd.DataFrame:
    """Every run's figures by every score (:func:`core.reports.compare.benchmark.run_rows`), on common options."""
    runs = offered_alike(runs)
    return benchmark.run_rows(runs, benchmark.reports(runs, rule))


def xlsx(runs: Sequence[Evaluation], rule: SetRule) -> bytes:
    """A workbook: a sheet with every run's figures, a sheet for each run with its questions and logits, and the
    provenance."""
    titles = distinct_titles({run.run_id: (run.spec, run.bank) for run in runs})
    tables = {"figures": pa.Table.from_pandas(rows(runs, rule), preserve_index=False)}
    tables |= {"answer or pass": pa.Table.from_pandas(pass_rows(offered_alike(runs), rule.alpha), preserve_index=False)}
    tables |= {f"{i} {titles[run.run_id]}": run_table(run.run_id) for i, run in enumerate(runs, start=1)}
    return workbook(tables | {"provenance": provenance_of_runs(runs, rule).table()})


def latex(runs: Sequence[Evaluation], rule: SetRule) -> str:
    """The runs' figures as a table of LaTeX (:func:`core.reports.paper.writers.latex`)."""
    return writers.latex(_results(runs, rule))


def markdown(runs: Sequence[Evaluation], rule: SetRule) -> str:
    """The runs' figures as a table of Markdown."""
    return writers.markdown(_results(runs, rule))


def _results(runs: Sequence[Evaluation], rule: SetRule) -> PaperResults:
    return paper_runs.of_runs(rows(runs, rule), offered_alike(runs), rule)


def bibtex(runs: Sequence[Evaluation], rule: SetRule) -> str:
    """Hedge and the works that these runs and figures build on (:func:`core.reports.references.works`)."""
    return references.bibtex(references.works(runs, rule))


def file_name(what: str, ending: str, runs: Sequence[Evaluation], *, alpha: int | None = None) -> str:
    """The name of a file about these runs (:func:`core.reports.file_names.of_runs`)."""
    return of_runs(what, ending, [(run.spec, run.bank) for run in runs], alpha=alpha)
