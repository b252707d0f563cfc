"""Data: files come in, checked and shown first; runs go out."""

from __future__ import annotations

import io
import json
import zipfile
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest

from app.components.data import export_files, import_files
from core.exchange import column_mappings, table
from core.exchange.table import Columns
from core.prompting.strategies import STRATEGIES
from core.reports import evaluation, exports
from core.reports.compare.benchmark import SetRule
from core.reports.report import report
from core.reports.titles import STRATEGY_TITLES
from core.runs import store
from core.settings import settings
from tests.conftest import synthetic_run
from tests.core.exchange import test_llm_uncertainty_bench as published
from tests.pages.conftest import Open, said

CSV = b"qid,A,B,C,answer\n1,0.5,0.3,0.2,A\n2,0.1,0.8,0.1,B\n3,0.3,0.3,0.4,C\n4,0.6,0.2,0.2,A\n"
ODD = b"one,two,three,says\n0.5,0.3,0.2,one\n0.1,0.8,0.1,two\n0.3,0.3,0.4,three\n0.6,0.2,0.2,one\n"


def upload(app, *files: tuple[str, bytes]):
    return app.file_uploader[0].set_value([(name, content, "text/plain") for name, content in files]).run()


def press_import(app):
    (button,) = (button for button in app.button if button.label.startswith("Import"))
    return button.click().run()


def test_an_uploaded_table_is_shown_and_written_when_a_person_says_so(open_page: Open):
    app = upload(open_page("data"), ("mine.csv", CSV))
    assert not app.exception
    assert app.multiselect[0].value == ["A", "B", "C"]
    assert app.dataframe[1].value["Questions"].tolist() == [4]
    assert store.run_ids() == []
    press_import(app)
    assert "1 run imported" in said(app)
    (name,) = store.run_ids()
    assert evaluation.load(name).probabilities == pytest.approx(
        np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]]), abs=1e-6
    )


def test_columns_that_are_not_recognised_are_mapped_and_remembered(open_page: Open):
    app = upload(open_page("data"), ("odd.csv", ODD))
    assert "Choose the columns of the options" in said(app)
    app.multiselect[0].set_value(["one", "two", "three"])
    next(box for box in app.selectbox if box.label == "Answer").set_value("says")
    app.run()
    assert app.dataframe[1].value["Options"].tolist() == [3]
    press_import(app)
    assert len(store.run_ids()) == 1
    again = upload(open_page("data"), ("later.csv", ODD + b"0.2,0.2,0.6,three\n"))
    assert again.multiselect[0].value == ["one", "two", "three"]
    assert again.dataframe[1].value["Questions"].tolist() == [5]


def test_what_is_wrong_is_said_with_the_file_and_line_and_nothing_is_written(open_page: Open):
    app = upload(open_page("data"), ("mine.csv", CSV + b"5,0.5,x,0.2,A\n"))
    assert not app.exception
    assert [error.value for error in app.error]
    assert "mine.csv, line 6: expected a number in 'B', found 'x'" in said(app)
    assert "hedge-upload" not in said(app)
    assert not settings().runs.exists()


def test_a_refused_upload_names_the_uploaded_file_and_no_temporary_path(open_page: Open, tmp_path):
    """A result whose answers lie in no uploaded file, a name that no disk takes, and a file that is no archive."""
    result = published.write(tmp_path)
    app = open_page("data")
    app.segmented_control(key="bring_format").set_value("llm-uncertainty-bench").run()
    upload(app, (result.name, result.read_bytes()))
    assert [error.value.replace("\\", "") for error in app.error] == [
        "The upload has no answers for halu_dialogue; expected halu_dialogue.json or halu_dialogue.labels.json there"
    ]
    long = f"{'é' * 200}.pkl"
    upload(app, (long, result.read_bytes()))
    assert not app.exception
    assert f"{long} can't be saved for reading: File name too long" in said(app)
    assert "hedge-upload" not in said(app)


def test_samples_without_their_results_file_are_of_an_unknown_model(open_page: Open, tmp_path):
    """lm-evaluation-harness names the folder for the model; the folder of an upload is a temporary one."""
    row = {
        "target": "0",
        "arguments": [["Who?", " A"], ["Who?", " B"]],
        "resps": [[[-0.5, True]], [[-1.5, False]]],
    }
    lines = "".join(
        json.dumps(row | {"doc_id": i, "doc": {"question": f"Who is number {i}?", "choices": ["Ann", "Bob"]}}) + "\n"
        for i in range(4)
    )
    app = open_page("data")
    app.segmented_control(key="bring_format").set_value("lm-eval").run()
    upload(app, ("samples_mine_2026-01-01T00-00-00.jsonl", lines.encode()))
    assert not app.error, said(app)
    assert app.dataframe[0].value["Model"].tolist() == ["unknown"]


def test_runs_that_differ_only_in_their_strategy_can_be_told_apart(open_page: Open, tmp_path):
    results = [published.write(tmp_path, name=f"Tiny_halu_dialogue_{name}_icl1.pkl") for name in STRATEGIES]
    files = [*results, tmp_path / "halu_dialogue.labels.json"]
    app = open_page("data")
    app.segmented_control(key="bring_format").set_value("llm-uncertainty-bench").run()
    upload(app, *((path.name, path.read_bytes()) for path in files))
    shown = app.dataframe[0].value
    assert shown["Strategy"].tolist() == list(STRATEGY_TITLES.values())
    assert shown["Shots"].tolist() == [3, 3, 3]
    assert shown["Precision"].tolist() == ["32-bit"] * 3


def test_each_of_many_imported_runs_can_be_opened_and_all_be_compared(open_page: Open, tmp_path):
    results = [published.write(tmp_path, name=f"Tiny{i}_halu_dialogue_base_icl1.pkl") for i in range(27)]
    files = [*results, tmp_path / "halu_dialogue.labels.json"]
    app = open_page("data")
    app.segmented_control(key="bring_format").set_value("llm-uncertainty-bench").run()
    upload(app, *((path.name, path.read_bytes()) for path in files))
    press_import(app)
    assert not app.exception
    links = [link.proto for link in app.get("page_link")]
    opened = [parse_qs(link.query_string) for link in links]
    assert sorted(one["run"][0] for one in opened if "run" in one) == store.run_ids()
    compared = [one["runs"][0].split(",") for one in opened if "runs" in one]
    assert [link.label for link in links][:2] == ["Compare runs 1 to 24 of 27", "Compare runs 25 to 27 of 27"]
    assert [len(some) for some in compared] == [24, 3]
    assert sorted(name for some in compared for name in some) == store.run_ids()
    assert "1\\. Tiny0 · " in links[2].label


@pytest.mark.parametrize("kind", list(import_files.FORMATS))
def test_every_format_refuses_nonsense_in_a_sentence(open_page: Open, kind: str):
    app = open_page("data")
    app.segmented_control(key="bring_format").set_value(kind).run()
    ending = import_files.FORMATS[kind].endings[0]
    upload(app, (f"nonsense{ending}", b"\x00\xff nonsense"))
    assert not app.exception
    assert len(app.error) == 1
    assert f"nonsense{ending}" in said(app)
    assert not settings().runs.exists()


def test_a_remembered_mapping_that_is_damaged_is_forgotten(home):
    column_mappings.remember(["a", "b"], Columns(("a", "b"), "c"))
    assert column_mappings.recall(["a", "b"]) == Columns(("a", "b"), "c")
    assert column_mappings.recall(["b", "a"]) is None
    (settings().home / "table-mappings.json").write_text('{"[\\"a\\", \\"b\\"]": {"options": 3}}')
    assert column_mappings.recall(["a", "b"]) is None


def test_what_goes_out_is_what_the_reports_say(open_page: Open, tmp_path):
    name = synthetic_run()
    app = open_page("data")
    assert not app.exception
    assert app.multiselect(key="take_runs").value == [name]
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == [
        "CSV",
        "Parquet",
        "JSON lines",
        "Results, summary, configuration",
        "SVG",
        "PDF",
        "PNG",
        "HTML",
        "Caption",
        "All figures",
        "LaTeX",
        "Markdown",
        "BibTeX",
        "XLSX",
        "Report (works offline)",
    ]
    asked = SetRule()
    with zipfile.ZipFile(io.BytesIO(export_files._benchmark([name], asked))) as archive:
        results = json.loads(archive.read("results.json"))
    made = report(evaluation.load(name), 100)
    assert [row["conformal_method"] for row in results] == ["lac", "aps"]
    assert results[0]["avg_set_size"] == made.scores["lac"].mean_set_size
    book = pd.read_excel(io.BytesIO(exports.xlsx([evaluation.load(name)], asked)), sheet_name=None)
    assert book["figures"]["coverage"].tolist() == [f.coverage for f in made.scores.values()]
    path = tmp_path / "t.csv"
    path.write_bytes(export_files.writing.to_csv(export_files.runs_table([name])))
    assert table.recognise(table.open_sheet(path)).values == "logits"
