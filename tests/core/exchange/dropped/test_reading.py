"""Which files belong together, and the messages about files without their partners."""

import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.exchange.dropped import examples, question_files
from core.exchange.dropped.found import Reading, named, refusals
from core.exchange.imported import save
from core.exchange.run_folder import FILES
from core.exchange.table_columns import Columns
from core.reports import evaluation
from core.reports.imported_figures import figures, stored_as
from core.reports.report import report
from core.runs import store
from core.settings import settings
from tests.conftest import synthetic_run
from tests.core.exchange import test_llm_uncertainty_bench as published
from tests.core.exchange.drops import Drop, refused

pytestmark = pytest.mark.quick

TABLE = "A,B,label\n0.7,0.3,A\n0.2,0.8,B\n0.6,0.4,A\n0.1,0.9,B\n"
JURY = "question,answer,accurate_judgement,logits\n" + "".join(
    f'Q{i}?,a,Correct,"[[0.{i + 2}, 0.{8 - i}]]"\n' for i in range(4)
)


@pytest.fixture
def folder(home, tmp_path) -> Path:
    path = tmp_path / "dropped"
    path.mkdir()
    return path


def read(folder: Path, **more) -> Reading:
    scratch = folder.with_name("scratch")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return Drop([folder], scratch=scratch, name=lambda path: "").read(**more)


def harness(folder: Path, name: str = "samples_mine_2026-01-01T00-00-00.jsonl") -> None:
    samples, results = examples.LM_EVAL[0].files().values()
    (folder / name).write_bytes(samples)
    (folder / "results_renamed.json").write_bytes(results.replace(b'"n-shot": {"mine": 0}', b'"n-shot": {"mine": 3}'))


def test_samples_find_results_that_were_renamed(folder):
    harness(folder)
    (found_run,) = read(folder).runs
    assert (found_run.run.spec.model, found_run.run.spec.shots, found_run.lacks) == ("org/model", 3, ())


def test_samples_are_known_by_their_content(folder):
    harness(folder, name="whatever.txt")
    (found_run,) = read(folder).runs
    assert found_run.run.spec.task == "whatever"


def test_answers_are_found_for_results_and_asked_for_where_they_lack(folder):
    published.write(folder)
    published.write(folder, name="Tiny_mmlu_10k_base_icl1.pkl")
    reading = read(folder)
    assert [found_run.run.spec.task for found_run in reading.runs] == ["drs"]
    assert refused(reading) == {
        "Tiny_mmlu_10k_base_icl1.pkl": "it has no answers; import mmlu_10k.json or mmlu_10k.labels.json of the same "
        "publication too"
    }


def test_a_renamed_result_takes_the_only_answers_and_lacks_its_model(folder):
    published.write(folder, name="whatever.pkl")
    (found_run,) = read(folder).runs
    assert (found_run.run.spec.task, found_run.lacks) == ("drs", ("model",))


def test_answers_alone_are_refused_and_whole_questions_go_to_new_run(folder):
    published.write(folder).unlink()
    assert "it holds answers alone" in refused(read(folder))["halu_dialogue.labels.json"]
    rows = [
        {"id": i, "question": f"Why {i}?", "choices": {"A": f"x{i}", "B": f"y{i}"}, "answer": "A"} for i in range(4)
    ]
    (folder / "halu_dialogue.labels.json").unlink()
    (folder / "mmlu_10k.json").write_text(json.dumps(rows))
    (found_file,) = read(folder).elsewhere
    assert found_file.kind == "questions"
    task = question_files.keep(found_file.file.path, "mmlu_10k.json")
    assert task.startswith("qa@")
    assert task == question_files.keep(found_file.file.path, "mmlu_10k.json")


def test_a_bank_that_no_task_reads_is_not_kept(folder):
    path = folder / "bank.jsonl"
    path.write_text('{"question": "Which?", "options": ["one"], "label": 0}\n')
    with pytest.raises(InputError, match=r"bank\.jsonl, question 1: expected at least two options"):
        question_files.keep(path, "bank.jsonl")
    assert not list((settings().home / "questions").rglob("*.jsonl"))


def test_scores_and_labels_find_each_other(folder):
    scores = np.random.default_rng(0).dirichlet(np.ones(4), 12)
    for name in ("x", "y"):
        np.save(folder / f"{name}_scores.npy", scores)
        np.save(folder / f"{name}_targets.npy", np.arange(12) % 4)
    np.save(folder / "z_scores.npy", scores)
    np.save(folder / "image.npy", np.zeros((3, 3, 3, 3)))
    reading = read(folder)
    assert [found_run.run.spec.task for found_run in reading.runs] == ["x", "y"]
    assert refused(reading)["z_scores.npy"] == "it has no labels; import an array of labels too, such as z_labels.npy"
    assert "found the shape (3, 3, 3, 3)" in refused(reading)["image.npy"]


def test_a_jury_of_several_files_and_one_without_others(folder):
    for juror in ("ann", "bob"):
        (folder / f"jury_logits_{juror}_calib.csv").write_text(JURY)
    (found_jury,) = read(folder).juries
    assert found_jury.jury.judgements.jurors == ("ann", "bob")
    (folder / "jury_logits_bob_calib.csv").unlink()
    assert "a jury needs at least two jurors" in refused(read(folder))["jury_logits_ann_calib.csv"]


def test_text_jurors_need_a_table_of_labels(folder):
    for juror in ("ann", "bob"):
        (folder / f"{juror}.txt").write_text("Who?\t0.75\nWhat?\t0.25\n")
    assert "it does not say what is right" in refused(read(folder))["ann.txt"]
    (folder / "truth.csv").write_text("question,answer,correctness\nWho?,a,Correct\nWhat?,b,Incorrect\n")
    reading = read(folder)
    assert refused(reading) == {}
    (found_jury,) = reading.juries
    assert found_jury.jury.judgements.labels.tolist() == [True, False]


def test_a_run_of_hedge_comes_back_as_it_was(folder):
    name = synthetic_run()
    before = report(evaluation.load(name), 100).to_json()
    shutil.move(settings().runs / name, folder / name)
    (found_run,) = read(folder).runs
    (imported,) = save([found_run.run])
    assert imported != name
    assert report(evaluation.load(imported), 100).to_json() | {"run": name} == before
    assert stored_as(found_run.run) == imported
    (folder / name / FILES[0]).unlink()
    assert all("it is part of a run of Hedge" in sentence for sentence in refused(read(folder)).values())


def test_a_model_folder_is_one_thing(folder):
    (folder / "config.json").write_text('{"model_type": "llama", "architectures": ["X"]}')
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}" + b"0" * 50)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "X"}')
    (file,) = read(folder).elsewhere
    assert file.kind == "model"


def test_the_same_file_twice_counts_once_and_other_files_of_its_name_do_not(folder):
    for name, content in (("a", TABLE), ("b", TABLE), ("c", TABLE.replace("0.7,0.3", "0.8,0.2"))):
        (folder / name).mkdir()
        (folder / name / "t.csv").write_text(content)
    reading = read(folder)
    assert len(reading.runs) == 2
    assert refused(reading) == {"b/t.csv": "it is the same as /a/t.csv, which counts once"}


def test_what_a_file_lacks_is_told_and_a_name_makes_another_run(folder):
    (folder / "t.csv").write_text(TABLE)
    (found_run,) = read(folder).runs
    assert found_run.lacks == ("model", "task")
    run = named(found_run, model="m", task="sums")
    assert (run.spec.model, run.spec.task, run.questions[0].task, run.questions[0].group) == (
        "m",
        "sums",
        "sums",
        "sums",
    )
    assert named(found_run).spec == found_run.run.spec


def test_figures_before_the_import_are_those_after_it(folder):
    name = synthetic_run()
    shutil.move(settings().runs / name, folder / name)
    (found_run,) = read(folder).runs
    shown = figures(found_run.run)
    (imported,) = save([found_run.run])
    figures_read = report(evaluation.load(imported), 100)
    assert shown.accuracy == (figures_read.accuracy,) * 2
    assert shown.mean_set_size == (figures_read.scores["lac"].mean_set_size,) * 2


def test_after_an_error_nothing_is_half_imported(folder, monkeypatch):
    (folder / "a.csv").write_text(TABLE)
    (folder / "b.csv").write_text(TABLE.replace("0.7,0.3", "0.8,0.2"))
    runs = [found_run.run for found_run in read(folder).runs]
    write, calls = store.write_logits, []

    def fails(path, scored):
        calls.append(path)
        if len(calls) == 2:
            raise OSError("no space left")
        write(path, scored)

    monkeypatch.setattr(store, "write_logits", fails)
    with pytest.raises(OSError, match="no space"):
        save(runs)
    assert list(settings().runs.iterdir()) == []


def test_steps_are_told_and_an_answer_reads_only_what_it_changes(folder):
    (folder / "t.csv").write_text(TABLE)
    (folder / "odd.csv").write_text(TABLE.replace("A,B,label", "one,two,says"))
    scratch = folder.with_name("scratch")
    scratch.mkdir()
    drop, steps = Drop([folder], scratch=scratch), []
    first = drop.read(progress=lambda done, total, name: steps.append(done / total))
    assert steps == sorted(steps)
    assert 0 <= steps[0] <= steps[-1] < 1
    (table,) = first.unmapped
    again = drop.read(mappings={table.header: Columns(("one", "two"), "says")})
    assert len(again.runs) == 2
    assert any(found_run.run is first.runs[0].run for found_run in again.runs)


@pytest.mark.parametrize("folder", ["", "probs/"])
def test_a_zip_of_several_runs_arrays_is_no_npz(tmp_path, folder):
    rng = np.random.default_rng(0)
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for subject in ("anatomy", "business", "chemistry"):
            for kind, array in (("scores", rng.dirichlet(np.ones(4), 40)), ("targets", rng.integers(0, 4, 40))):
                content = io.BytesIO()
                np.save(content, array)
                archive.writestr(f"{folder}{subject}_{kind}.npy", content.getvalue())
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    reading = Drop([path], scratch=scratch).read()
    assert sorted(found_run.run.spec.task for found_run in reading.runs) == ["anatomy", "business", "chemistry"]
    assert reading.refused == ()


def sided(n: int, more: str = "") -> str:
    return (
        "id,p_cat,p_dog,label\n" + "".join(f"{i},0.{i % 9 + 1},{0.9 - i % 9 / 10:.1f},cat\n" for i in range(n)) + more
    )


def test_tables_that_calibrate_and_test_are_one_run(home, tmp_path):
    path = tmp_path / "pets.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, n in (("calibration.csv", 30), ("test.csv", 20), ("train.csv", 40), ("other.csv", 8)):
            archive.writestr(name, sided(n))
    (tmp_path / "scratch").mkdir()
    reading = Drop([path], scratch=tmp_path / "scratch", name=lambda path: path.name).read()
    longer, other = sorted((found_run.run for found_run in reading.runs), key=lambda run: -len(run.questions))
    assert (longer.roles.count("calibration"), longer.roles.count("test")) == (30, 20)
    assert (longer.spec.task, other.spec.task) == ("pets", "other")
    assert "40 rows of training left out" in longer.read_as
    assert longer.provenance["file"] == "calibration.csv, test.csv, train.csv"


def test_a_damaged_row_of_one_of_two_sides_is_named_with_its_file(home, tmp_path):
    for name, content in (("cal.csv", sided(9)), ("test.csv", sided(9, "9,?,0.5,cat\n"))):
        (tmp_path / name).write_text(content)
    (tmp_path / "scratch").mkdir()
    paths = [tmp_path / "cal.csv", tmp_path / "test.csv"]
    reading = Drop(paths, scratch=tmp_path / "scratch", name=lambda path: path.name).read()
    ((sentence, _),) = refusals(reading)
    assert "test.csv, line 11: expected a number in 'p_cat'" in sentence


def test_what_stands_beside_the_results_of_a_run_is_no_refusal(home, tmp_path):
    folder = store.folder_of(synthetic_run())
    (folder / "log.txt").write_text("It began.\nIt ended.\n")
    (tmp_path / "scratch").mkdir()
    reading = Drop([folder], scratch=tmp_path / "scratch", name=lambda path: path.name).read()
    assert len(reading.runs) == 1
    assert list(refusals(reading)) == []
