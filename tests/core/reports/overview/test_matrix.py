"""Models × tasks: the cells are the reports' figures, and each has its place."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from core.reports import evaluation, frames
from core.reports.overview.matrix import by_model_and_task, leads, matrix, with_smallest
from core.reports.report import report
from core.runs import store
from core.runs.spec import RunSpec
from tests.conftest import synthetic_run
from tests.core.reports.overview.test_headline import row

pytestmark = pytest.mark.quick


def specs_of(ids: list[str]) -> dict[str, RunSpec]:
    return {run: store.read_record(run).spec for run in ids}


def table_of(ids: list[str], alpha: int = 100) -> pd.DataFrame:
    return frames.overview([evaluation.load(run) for run in ids], alpha, ("lac", "aps"))


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_a_cell_has_the_figures_of_the_report(home: Path, score: str):
    ids = [synthetic_run(model=model, task=task) for model in ("m-10b", "m-9b") for task in ("rc", "qa")][:3]
    result = matrix(table_of(ids, 250), specs_of(ids), frozenset(), score)
    assert [entry.model for entry in result.rows] == ["m-9b", "m-10b"]
    assert [entry.title for entry in result.columns] == ["Question answering", "Reading comprehension"]
    assert {place: cell.run for place, cell in result.cells.items()} == {(1, 1): ids[0], (1, 0): ids[1], (0, 1): ids[2]}
    for cell in result.cells.values():
        run_report = report(evaluation.load(cell.run), 250, scores=[score])
        figures = run_report.scores[score]
        assert cell.set_size.value == figures.mean_set_size
        assert cell.set_size.ends == pytest.approx(figures.mean_set_size_interval)
        assert cell.accuracy.value == run_report.accuracy
        assert (cell.coverage, cell.coverage_band) == (figures.coverage, pytest.approx(figures.coverage_band))
        assert cell.empty_rate == figures.empty_rate
        assert (cell.options, cell.n_test) == (run_report.k, run_report.n_test)
        assert cell.shade == pytest.approx(((run_report.k - figures.mean_set_size) / (run_report.k - 1)) ** 2)


def test_the_best_runs_on_a_task_come_first_and_so_does_their_column(home: Path):
    ids = [
        synthetic_run(model=model, task=task) for model, task in (("a", "qa"), ("b", "rc"), ("b", "qa"), ("c", "rc"))
    ]
    result = matrix(table_of(ids), specs_of(ids), frozenset(), "lac", order=[ids[3], ids[1]])
    assert [column.title for column in result.columns] == ["Reading comprehension", "Question answering"]
    assert [row.run for row in result.rows] == [ids[3], ids[1], ids[0]]
    assert {place: cell.run for place, cell in result.cells.items()} == dict(
        zip([(2, 1), (1, 0), (1, 1), (0, 0)], ids, strict=True)
    )


def test_tasks_with_other_numbers_of_options_have_columns_and_shades_of_their_own(home: Path):
    ids = [synthetic_run(model="m", k=k, task="qa", n=60, seed=k) for k in (6, 4)]
    specs = {run: replace(spec, seed=0) for run, spec in specs_of(ids).items()}
    result = matrix(table_of(ids).assign(lac_set_size=1.0), specs, frozenset(ids), "lac")
    assert [(column.title, column.options) for column in result.columns] == [
        ("Question answering", 4),
        ("Question answering", 6),
    ]
    assert len(result.rows) == 1
    assert result.rows[0].own
    assert {cell.shade for cell in result.cells.values()} == {1.0}
    full = matrix(table_of(ids).assign(lac_set_size=[6.0, 4.0]), specs, frozenset(ids[:1]), "lac")
    assert {cell.shade for cell in full.cells.values()} == {0.0}
    assert not full.rows[0].own  # one of its runs ships


def test_settings_have_rows_of_their_own_the_default_first(home: Path):
    run = synthetic_run(model="m")
    spec = store.read_record(run).spec
    table = pd.concat([table_of([run]).assign(run=name) for name in ("task", "base", "few")], ignore_index=True)
    specs = {"task": replace(spec, strategy="task"), "base": spec, "few": replace(spec, strategy="task", samples=100)}
    result = matrix(table, specs, frozenset(), "lac")
    assert [matrix_row.run for matrix_row in result.rows] == ["base", "task", "few"]
    assert leads(table, specs).tolist() == [False, True, False]
    assert by_model_and_task(table, specs)["run"].tolist() == ["base", "task", "few"]


def test_the_smallest_are_those_whose_intervals_reach_the_smallest_mean():
    table = pd.DataFrame(
        [
            row("a", 1.6, width=0.1),
            row("b", 1.75, width=0.05),  # begins where the interval of a ends
            row("c", 1.9, width=0.1),
            row("lonely", 1.9, questions="others"),
            row("better elsewhere", 1.0, bank="MMLU"),
        ]
    )
    table.loc[1, "lac_set_size_low"] = table.loc[0, "lac_set_size_high"]
    table["too_few_covered"] = False
    assert with_smallest(table, "lac")["smallest"].tolist() == [True, True, False, False, False]
    table.loc[0, "too_few_covered"] = True  # a is small because too few of its sets hold the truth
    assert with_smallest(table, "lac")["smallest"].tolist() == [False, True, True, False, False]
    full = table.assign(lac_set_size=4.0, lac_set_size_low=4.0, lac_set_size_high=4.0, too_few_covered=False)
    assert not with_smallest(full, "lac")["smallest"].any()


def test_a_column_counts_its_questions_only_if_they_are_the_same(home: Path):
    same = [synthetic_run(model=model, n=60) for model in ("a", "b")]
    other = synthetic_run(model="c", n=80, seed=3)
    assert matrix(table_of(same), specs_of(same), frozenset(), "lac").columns[0].questions == 30
    assert matrix(table_of([*same, other]), specs_of([*same, other]), frozenset(), "lac").columns[0].questions == 0


def test_a_mark_for_low_coverage_counts_all_cells(home: Path):
    ids = [synthetic_run(model=model) for model in ("a", "b", "c")]
    table = table_of(ids).assign(lac_coverage_p=[0.02, 0.9, 0.9])
    alone = matrix(table.iloc[:1], specs_of(ids), frozenset(), "lac")
    assert [cell.too_few_covered for cell in alone.cells.values()] == [True]
    among = matrix(table, specs_of(ids), frozenset(), "lac")
    assert {cell.too_few_covered for cell in among.cells.values()} == {False}
    table.loc[0, "lac_coverage_p"] = 0.016
    among = matrix(table, specs_of(ids), frozenset(), "lac")
    assert {cell.run: cell.too_few_covered for cell in among.cells.values()} == dict(
        zip(ids, (True, False, False), strict=True)
    )
