"""Data: files come in, checked and shown first; runs go out."""

import io
import json
import tempfile
import zipfile
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest

from app.components.data import export_files
from core.exchange import column_mappings, table_columns, writing
from core.exchange.run_table import runs_table
from core.exchange.table_columns import Columns
from core.exchange.workbook import workbook
from core.jury.pipeline import jury_store
from core.models.perplexity import conversations
from core.questions.prompting.strategies import STRATEGIES
from core.reports import evaluation, exports
from core.reports.compare.benchmark import SetRule
from core.reports.report import report
from core.reports.titles import STRATEGY_TITLES
from core.runs import store, trash
from core.settings import settings
from core.tables.tabular import open_sheet
from tests.conftest import synthetic_run
from tests.core.exchange import test_llm_uncertainty_bench as published
from tests.pages.conftest import Open, click, page_text, picked

CSV = b"qid,A,B,C,answer\n1,0.5,0.3,0.2,A\n2,0.1,0.8,0.1,B\n3,0.3,0.3,0.4,C\n4,0.6,0.2,0.2,A\n"
ODD = b"one,two,three,says\n0.5,0.3,0.2,one\n0.1,0.8,0.1,two\n0.3,0.3,0.4,three\n0.6,0.2,0.2,one\n"
SUBJECTS = ("anatomy", "astronomy")
JURY = b"question,answer,juror,p_true,label\n" + b"".join(
    f"What is {i}?,a,{juror},{p},{i % 2}\n".encode()
    for i in range(6)
    for juror, p in (("ann", 0.9), ("bob", 0.2 + i / 10))
)


def upload(app, *files: tuple[str, bytes]):
    return app.file_uploader[0].set_value([(name, content, "text/plain") for name, content in files]).run()


def runs_shown(app) -> pd.DataFrame:
    """The preview, a row a run."""
    return next(frame.value for frame in app.dataframe if "Set size" in frame.value)


def own_runs() -> list[str]:
    return [name for name in store.run_ids() if not store.is_bundled(name)]


def test_a_dropped_table_is_shown_with_its_figures_and_written_when_a_person_says_so(open_page: Open):
    app = upload(open_page("data"), ("mine.csv", CSV))
    shown = runs_shown(app)
    assert shown[["Model", "Task", "Questions", "Options"]].to_numpy().tolist() == [["mine", "mine", 4, 3]]
    assert shown["Accuracy"].tolist() == [100.0]
    assert shown["Note"].tolist() == ["does not say its model and task"]
    assert own_runs() == []
    click(app, "Import 1 run")
    assert "1 run imported" in page_text(app)
    (name,) = own_runs()
    assert evaluation.load(name).probabilities == pytest.approx(
        np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]]), abs=1e-6
    )
    assert app.file_uploader[0].value == []


def test_the_page_says_what_is_stored_here_and_opens_the_part_that_a_link_names(open_page: Open):
    app = open_page("data")
    assert "No run of yours is stored here yet." in page_text(app)
    assert not [folded.label for folded in app.expander if folded.proto.expanded]
    run_id = synthetic_run()
    app = open_page("data", runs=run_id)
    assert "1 launched run of yours is stored here." in page_text(app)
    assert [folded.label for folded in app.expander if folded.proto.expanded] == ["Export results"]
    app = open_page("data", shelf="bluq")
    assert [folded.label for folded in app.expander if folded.proto.expanded] == [
        "The shelf: published results of large models"
    ]


def test_what_files_lack_is_asked_for_once(open_page: Open):
    app = upload(open_page("data"), ("a.csv", CSV), ("b.csv", CSV.replace(b"0.5,0.3", b"0.4,0.4")))
    (box,) = (box for box in app.text_input if box.label.startswith("Model"))
    assert box.label == "Model of the 2 runs that do not name one"
    box.set_value("my-model").run()
    assert runs_shown(app)["Model"].tolist() == ["my-model", "my-model"]
    click(app, "Import 2 runs")
    assert [store.read_record(name).spec.model for name in own_runs()] == ["my-model"] * 2


def test_columns_that_are_not_recognised_are_mapped_once_and_remembered(open_page: Open):
    app = upload(open_page("data"), ("odd.csv", ODD), ("more.csv", ODD + b"0.5,0.2,0.3,one\n"))
    assert "Choose the columns of the options" in page_text(app)
    (options,) = (box for box in app.multiselect if box.label == "Options, in order")
    options.set_value(["one", "two", "three"])
    next(box for box in app.selectbox if box.label == "Answer").set_value("says")
    app.run()
    assert sorted(runs_shown(app)["Questions"]) == [4, 5]
    click(app, "Import 2 runs")
    assert len(own_runs()) == 2
    again = upload(open_page("data"), ("later.csv", ODD + b"0.2,0.2,0.6,three\n"))
    assert runs_shown(again)["Options"].tolist() == [3]


def test_what_is_wrong_is_said_with_the_file_and_line_and_the_rest_is_read(open_page: Open):
    app = upload(open_page("data"), ("bad.csv", CSV + b"5,0.5,x,0.2,A\n"), ("good.csv", CSV))
    assert "**bad.csv**: Line 6: expected a number in 'B', found 'x'." in page_text(app)
    assert "hedge-upload" not in page_text(app)
    assert runs_shown(app)["File"].tolist() == ["good.csv"]
    assert not settings().runs.exists()


def test_a_refused_upload_names_the_uploaded_file_and_no_temporary_path(open_page: Open, tmp_path):
    """A result whose answers lie in no uploaded file, a name that no disk takes, and files that are no results."""
    result = published.write(tmp_path)
    app = upload(open_page("data"), (result.name, result.read_bytes()), ("x.zip", b"PK\x03\x04 cut"), ("e.csv", b""))
    text = page_text(app)
    assert f"**{result.name}**: It has no answers; import halu_dialogue.json or halu_dialogue.labels.json" in text
    assert "**x.zip**: Expected a whole zip archive" in text
    assert "**e.csv**: Expected results, found an empty file." in text
    long = f"{'é' * 200}.pkl"
    upload(app, (long, result.read_bytes()))
    assert f"**{long}**: Its name does not say the data set" in page_text(app)
    for temporary in ("hedge-upload", tempfile.gettempdir()):
        assert temporary not in text + page_text(app)


def test_files_of_the_same_name_are_different_files(open_page: Open):
    app = upload(open_page("data"), ("a.csv", CSV), ("a.csv", CSV.replace(b"0.5,0.3", b"0.4,0.4")))
    assert runs_shown(app)["File"].tolist() == ["a.csv", "a.csv (2)"]


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
    app = upload(open_page("data"), ("samples_mine_2026-01-01T00-00-00.jsonl", lines.encode()))
    assert not app.error, page_text(app)
    assert runs_shown(app)["Model"].tolist() == ["unknown"]
    assert runs_shown(app)["Note"].tolist() == ["does not say its model"]


def test_runs_that_differ_only_in_their_strategy_can_be_told_apart(open_page: Open, tmp_path):
    results = [published.write(tmp_path, name=f"Tiny_halu_dialogue_{name}_icl1.pkl") for name in STRATEGIES]
    files = [*results, tmp_path / "halu_dialogue.labels.json"]
    app = upload(open_page("data"), *((path.name, path.read_bytes()) for path in files))
    assert runs_shown(app)["Strategy"].tolist() == list(STRATEGY_TITLES.values())


def test_each_of_many_imported_runs_can_be_opened_and_all_be_compared(open_page: Open, tmp_path):
    results = [published.write(tmp_path, name=f"Tiny{i}_halu_dialogue_base_icl1.pkl") for i in range(27)]
    files = [*results, tmp_path / "halu_dialogue.labels.json"]
    app = upload(open_page("data"), *((path.name, path.read_bytes()) for path in files))
    click(app, "Import 27 runs")
    links = [link.proto for link in app.get("page_link")]
    opened = [parse_qs(link.query_string) for link in links]
    assert sorted(link["run"][0] for link in opened if "run" in link) == own_runs()
    compared = [link["runs"][0].split(",") for link in opened if "runs" in link]
    assert [link.label.replace("\\", "") for link in links][:3] == [
        "Compare 1 to 24 of 27 runs of Dialogue responses · HaluEval dialogue 10k",
        "Compare 25 to 27 of 27 runs of Dialogue responses · HaluEval dialogue 10k",
        "Calibration of the first 24",
    ]
    assert [len(ids) for ids in compared] == [24, 3, 24]
    assert sorted({name for ids in compared for name in ids}) == own_runs()


def test_an_import_is_not_doubled_and_can_be_taken_back(open_page: Open):
    app = upload(open_page("data"), ("mine.csv", CSV))
    click(app, "Import 1 run")
    assert {link.proto.label for link in app.get("page_link")} >= {"Open in the Alpha lab", "Calibration"}
    upload(app, ("mine.csv", CSV), ("new.csv", CSV.replace(b"0.5,0.3", b"0.4,0.4")))
    assert runs_shown(app)["Note"].tolist() == ["is here already", "does not say its model and task"]
    click(app, "Import 1 run")
    assert "1 run imported. 1 was here already." in page_text(app)
    assert len(own_runs()) == 2
    click(app, "Remove these")
    assert "1 removed" in page_text(app)
    assert len(own_runs()) == 1
    assert len(trash.binned()) == 1


def test_an_export_of_a_run_that_is_here_is_that_run(open_page: Open):
    name = synthetic_run()
    files = [("r.csv", writing.to_csv(runs_table([name]))), ("r.xlsx", workbook({"1": runs_table([name])}))]
    app = upload(open_page("data"), *files)
    assert runs_shown(app)["Note"].tolist() == ["is here already"] * 2
    assert "imported before" in page_text(app)
    assert not [button for button in app.button if button.label.startswith("Import ")]


def test_a_jury_is_imported_with_the_runs_in_one_click(open_page: Open):
    app = upload(open_page("data"), ("j.csv", JURY), ("mine.csv", CSV))
    assert "**Jury of 2 jurors** from j" in page_text(app)
    click(app, "Import 1 run and 1 jury")
    own = [name for name in jury_store.jury_ids() if jury_store.folder_of(name).is_relative_to(settings().home)]
    assert len(own) == 1
    click(app, "Remove these")
    assert own[0] not in jury_store.jury_ids()
    assert own_runs() == []


def test_files_for_other_pages_are_taken_there(open_page: Open):
    talk = b"user: I feel lost.\nassistant: Tell me more.\nuser: It is work.\nassistant: What about it?\n"
    bank = b'{"question": "Which is red?", "options": ["blood", "grass"], "label": 0}\n' * 2
    app = upload(open_page("data"), ("talk.txt", talk), ("bank.jsonl", bank), ("notes.md", b"Nothing here."))
    text = page_text(app)
    assert "**1 conversation**: talk.txt. The Perplexity page scores the words of conversations." in text
    assert "**1 question bank**: bank.jsonl." in text
    assert "**notes.md**: It is text without results." in text
    app.button(key="use-questions").click().run()
    (task,) = app.session_state["launch_tasks"]
    assert Path(task).is_relative_to(settings().home / "questions")
    assert Path(task).read_bytes() == bank


def test_a_conversation_is_opened_on_its_page(open_page: Open):
    talk = b"system: Be kind.\nclient: I feel lost.\nAnd tired.\ntherapist: Tell me more, if you like.\n"
    table = "Context,Response\n" + "".join(f'I feel lost {i}.,"Tell me more, whenever you like."\n' for i in range(60))
    app = upload(open_page("data"), ("talk.txt", talk), ("many.csv", table.encode()))
    app.button(key="use-conversation").click().run()
    assert len(app.multiselect(key="words_talks").value) == 50
    assert len(app.multiselect(key="words_talks").options) == 61 + len(conversations.bundled())
    words = " ".join(caption.value for caption in app.caption).replace("\\", "")
    assert "talk.txt: 1 conversation of 2 messages; 1 system message left out, because the prompts compared" in words
    assert "many.csv: 60 conversations of 120 messages." in words
    assert "The first 50 of 61 conversations are chosen" in words


def test_subjects_of_a_benchmark_are_one_run_if_a_person_says_so(open_page: Open):
    contents = [
        (subject, CSV.replace(b"qid", b"question").replace(b"\n", f"\n{subject} ".encode(), 4)) for subject in SUBJECTS
    ]
    files = [(f"mmlu_{subject}.csv", content) for subject, content in contents]
    app = upload(open_page("data"), *files, ("mine.csv", CSV))
    assert len(runs_shown(app)) == 3
    assert not app.get("toggle")[1:]  # which model is not known
    next(box for box in app.text_input if box.label.startswith("Model")).set_value("m").run()
    (join,) = (toggle for toggle in app.toggle if toggle.label.startswith("Make one run of a model's subjects"))
    join.set_value(True).run()
    shown = runs_shown(app).set_index("Task")
    assert shown["Questions"].to_dict() == {"mmlu": 8, "mine": 4}
    assert "8 questions of 2 subjects" in page_text(app)
    click(app, "Import 2 runs")
    assert sorted(store.read_record(name).spec.task for name in own_runs()) == ["mine", "mmlu"]


def test_a_table_that_can_be_read_in_two_ways_is_asked_about(open_page: Open):
    start = b"question,p_A,p_B,p_C,label\n" + b"".join(b"Q%d,0.5,0.3,0.2,%d\n" % (i, 1 + i % 2) for i in range(8))
    counts = b"id,A,B,answer\n" + b"".join(b"R%d,%d,%d,A\n" % (i, 7 - i, 2 * i) for i in range(7))
    for name, content, words, shape in (
        ("start.csv", start, {"0": None, "1": "numbers from 1"}, (8, 3)),
        ("votes.csv", counts, {"Counts of picks": "counts of picks", "Logits": "logits"}, (7, 2)),
    ):
        app = upload(open_page("data"), (name, content))
        (box,) = (radio for radio in app.radio if radio.key.startswith("doubt-"))
        assert list(box.options) == list(words)
        assert "--" not in page_text(app)
        assert "not imported" not in " ".join(expander.label for expander in app.expander)
        box.set_value(list(words)[1]).run()
        assert list(words.values())[1] in page_text(app)
        click(app, "Import 1 run")
        (run,) = (run for run in own_runs() if store.read_record(run).spec.task == name.removesuffix(".csv"))
        assert evaluation.load(run).probabilities.shape == shape
        again = upload(open_page("data"), (name, content))
        assert [radio.key for radio in again.radio if radio.key.startswith("doubt-")] == [box.key]


def test_a_form_of_columns_suggests_what_all_rows_say(open_page: Open):
    splits = [b"cal"] * 1100 + [b"test"] * 100
    rows = b"".join(b"%d,0.%d,0.%d,red,%s\n" % (i, i % 8 + 1, 9 - i % 8, split) for i, split in enumerate(splits))
    app = upload(open_page("data"), ("long.csv", b"id,first,second,says,split\n" + rows))
    assert "Choose the columns of the options" in page_text(app)
    assert next(box for box in app.selectbox if box.label == "Split").value == "split"


def test_a_remembered_mapping_that_is_damaged_is_forgotten(home):
    column_mappings.remember(["a", "b"], Columns(("a", "b"), "c"))
    assert column_mappings.recall(["a", "b"]) == Columns(("a", "b"), "c")
    assert column_mappings.recall(["b", "a"]) is None
    (settings().home / "table-mappings.json").write_text('{"[\\"a\\", \\"b\\"]": {"options": 3}}')
    assert column_mappings.recall(["a", "b"]) is None


def test_what_goes_out_is_what_the_reports_say(open_page: Open, tmp_path):
    name = synthetic_run()
    app = open_page("data")
    assert picked(app) == [name]
    labels = [button.proto.label for button in app.get("download_button")]
    assert " | ".join(labels) == (
        "CSV | Parquet | JSON lines | Results, summary, configuration | Workbook (XLSX) | Report (works offline)"
    )
    rule = SetRule()
    with zipfile.ZipFile(io.BytesIO(export_files._benchmark([name], rule))) as archive:
        results = json.loads(archive.read("results.json"))
    figures = report(evaluation.load(name), 100)
    assert [row["conformal_method"] for row in results] == ["lac", "aps"]
    assert results[0]["avg_set_size"] == figures.scores["lac"].mean_set_size
    book = pd.read_excel(io.BytesIO(exports.xlsx([evaluation.load(name)], rule)), sheet_name=None)
    assert book["figures"]["coverage"].tolist() == [f.coverage for f in figures.scores.values()]
    path = tmp_path / "t.csv"
    path.write_bytes(export_files.writing.to_csv(export_files.runs_table([name])))
    assert table_columns.recognise(open_sheet(path)).values == "logits"
