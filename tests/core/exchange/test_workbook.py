"""Workbooks as openpyxl reads them: values, formats, filters, widths, and no cell that computes."""

import io
import math

import numpy as np
import openpyxl
import pyarrow as pa
import pytest

from core.errors import InputError
from core.exchange.run_table import run_table
from core.exchange.workbook import workbook
from core.reports import exports
from core.reports.answer_or_pass import DELTA, run_sides
from core.reports.compare.benchmark import SetRule
from core.reports.compare.common_options import offered_alike
from core.reports.evaluation import load
from core.reports.report import report
from tests.conftest import synthetic_run
from tests.core.exchange.test_writing import nasty_run
from tests.core.reports.compare.rotated import narrow_copy

pytestmark = pytest.mark.quick


def opened(tables: dict[str, pa.Table]) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(workbook(tables)))


def test_every_kind_of_cell_comes_back_as_it_was():
    table = pa.table(
        {
            "text": ["a <b> & 'c'", " edges ", "two\nlines", None],
            "n": pa.array([1, -2, None, 4], pa.int64()),
            "x": [0.1, math.nan, math.inf, 1e-12],
            "single": pa.array([0.1, 2.5, None, -3.25], pa.float32()),
            "flag": [True, False, None, True],
            "list": [[1, 2], None, [], [3]],
        }
    )
    rows = list(opened({"one": table})["one"].iter_rows(values_only=True))
    assert rows[0] == ("text", "n", "x", "single", "flag", "list")
    assert rows[1] == ("a <b> & 'c'", 1, 0.1, 0.1, True, "[1, 2]")
    assert rows[2] == (" edges ", -2, None, 2.5, False, None)
    assert rows[3] == ("two\nlines", None, "inf", None, None, "[]")
    assert rows[4] == (None, 4, 1e-12, -3.25, True, "[3]")


def test_rows_beyond_one_batch_keep_their_order():
    values = np.arange(10_000)
    sheet = opened({"long": pa.table({"n": values, "text": [f"row {i}" for i in values]})})["long"]
    assert list(sheet.iter_rows(min_row=2, values_only=True)) == [(i, f"row {i}") for i in range(10_000)]


def test_a_sheet_has_widths_formats_a_filter_and_a_header_that_stays():
    table = pa.table(
        {
            "run": ["a-name-of-thirty-five-characters-xx"],
            "accuracy": [0.1234],
            "mean_set_size": [2.5],
            "n_test": [12_345],
            "alpha": [0.1],
            "threshold": [1 - 7.3e-7],
            "weight": [0.25],
            "seed": [1_000],
        }
    )
    sheet = opened({"figures": table})["figures"]
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:H2"
    assert [cell.number_format for cell in sheet[2]] == [
        "General",
        "0.0%",
        "0.00",
        "#,##0",
        "0.000",
        "General",
        "0.0000",
        "General",
    ]
    assert all(cell.font.b for cell in sheet[1])
    assert not any(cell.font.b for cell in sheet[2])
    assert sheet.column_dimensions["A"].width == 36
    assert sheet.column_dimensions["C"].width == len("mean_set_size") + 3  # the filter's arrow needs room


def test_no_cell_computes(home):
    name = nasty_run()
    book = opened({"a/b": run_table(name), "second": run_table(name)})
    assert book.sheetnames == ["a b", "second"]
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    texts = [cell.value for cell in cells if isinstance(cell.value, str)]
    assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert {"'=1+1 0", "'+44", "'-5", "'@SUM(A1)"} <= set(texts)
    table = pa.table({"=cmd()": ["''=x", "'=x", "'plain"]})
    rows = list(opened({"one": table})["one"].iter_rows(values_only=True))
    assert rows == [("'=cmd()",), ("'''=x",), ("''=x",), ("'plain",)]  # an apostrophe more where it would compute


def test_signs_that_xml_has_not_are_left_out_and_long_texts_are_cut():
    table = pa.table({"a\x00b": ["c\x01d\x1fe", "x" * 40_000]})
    rows = list(opened({"one": table})["one"].iter_rows(values_only=True))
    assert rows[0] == ("ab",)
    assert rows[1] == ("cde",)
    assert len(rows[2][0]) == 32_767


def test_names_of_sheets_are_short_allowed_and_told_apart():
    cells = pa.table({"a": [1]})
    long = "x" * 40
    book = opened({"a[b]": cells, long: cells, long + "y": cells, "A b ": cells, "'": cells})
    assert book.sheetnames == ["a b", "x" * 31, "x" * 29 + " 2", "A b 2", "table"]


def test_tables_without_rows_or_columns_are_sheets_too():
    book = opened({"none": pa.table({}), "empty": pa.table({"a": pa.array([], pa.string())})})
    assert list(book["empty"].iter_rows(values_only=True)) == [("a",)]
    assert book["none"].max_row == 1


def test_what_no_workbook_can_hold_is_refused():
    with pytest.raises(InputError, match=r"1,048,576 rows and a sheet of XLSX holds 1,048,575; use CSV or Parquet"):
        workbook({"long": pa.table({"a": np.zeros(1_048_576)})})
    with pytest.raises(InputError, match="at least one table"):
        workbook({})


def test_a_workbook_of_runs_has_their_figures_their_questions_and_where_they_come_from(home):
    names = [synthetic_run(seed=i, model=f"model-{i}") for i in range(2)]
    runs = [load(name) for name in names]
    book = openpyxl.load_workbook(io.BytesIO(exports.xlsx(runs, SetRule(200))))
    assert book.sheetnames == [
        "figures",
        "answer or pass",
        "1 model-0 · Question answering",
        "2 model-1 · Question answering",
        "provenance",
    ]
    head, *rows = book["figures"].iter_rows(values_only=True)
    figures = report(runs[0], 200)
    assert [row[head.index("coverage")] for row in rows[:2]] == [score.coverage for score in figures.scores.values()]
    questions = list(book.worksheets[2].iter_rows(values_only=True))
    assert len(questions) == 201
    assert questions[1][0] == names[0]
    facts = dict(list(book["provenance"].iter_rows(values_only=True))[1:])
    assert facts["alpha"] == "0.2"
    assert facts["Made by"].startswith("Hedge ")
    assert facts["Run 1"].startswith(names[0])


def test_answer_or_pass_is_on_common_options_and_has_the_caveats_as_on_compare(home):
    wide = synthetic_run(seed=1)
    runs = [load(wide), load(narrow_copy(wide))]
    book = openpyxl.load_workbook(io.BytesIO(exports.xlsx(runs, SetRule(200))))
    head, row, _ = book["answer or pass"].iter_rows(values_only=True)
    values = dict(zip(head, row, strict=True))
    alone, alike = (run_sides(run).selected(200, DELTA) for run in (runs[0], offered_alike(runs)[0]))
    assert values["base_error"] == alike.stages[0].base_error != alone.stages[0].base_error
    assert (
        values["caveats"] == book["figures"].cell(2, 1 + [c.value for c in book["figures"][1]].index("caveats")).value
    )
