"""Import, export and compare on the command line: one JSON document, the right exit status, nothing half-done."""

import json
import zipfile
from pathlib import Path

import pytest

from core.reports.compare.paired import CHOSEN
from core.reports.evaluation import load
from core.reports.figure_names import RUN_FIGURES
from core.reports.report import report
from core.runs import actions, store
from hedge.cli import main
from tests.conftest import synthetic_run

CSV = "id,A,B,label\n1,0.7,0.3,A\n2,0.2,0.8,B\n3,0.6,0.4,A\n4,0.5,0.5,B\n"


def test_a_table_comes_in_by_name(home, tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text(CSV)
    assert main(["import", "table", str(path), "--model", "m", "--task", "t", "--json"]) == 0
    (name,) = json.loads(capsys.readouterr().out)["runs"]
    assert (load(name).spec.model, load(name).spec.task) == ("m", "t")


def test_columns_are_named_on_the_command_line(home, tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text(CSV.replace("A,B,label", "yes,no,says").replace(",A\n", ",yes\n").replace(",B\n", ",no\n"))
    assert main(["import", "table", str(path), "--options", "yes", "no"]) == 2
    assert "--options needs --label" in capsys.readouterr().err
    arguments = ["--options", "yes", "no", "--label", "says", "--values", "probabilities"]
    assert main(["import", "table", str(path), *arguments]) == 0
    assert len(store.run_ids()) >= 1


def test_many_paths_come_in_at_once_and_each_is_told_apart(home, tmp_path, capsys):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "one.csv").write_text(CSV)
    (folder / "talk.txt").write_text("user: I am lost.\nassistant: Tell me.\nuser: Work.\nassistant: Go on.\n")
    (folder / "notes.md").write_text("Nothing to see")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("deep/two.csv", CSV.replace("0.7,0.3", "0.8,0.2"))
    paths = [str(folder), str(tmp_path / "two.zip")]
    assert main(["import", *paths, "--model", "m", "--json"]) == 1  # one file is refused
    values = json.loads(capsys.readouterr().out)
    assert [load(name).spec.task for name in values["runs"]] == ["one", "two"]
    assert [entry["place"] for entry in values["elsewhere"]] == ["perplexity"]
    assert [entry["reason"] for entry in values["refused"]] == ["it is text without results"]
    assert main(["import", *paths, "--model", "m"]) == 1
    assert capsys.readouterr().out.count("(was here already)") == 2


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "xlsx"])
def test_out_and_in_again_is_the_same_report(home, tmp_path, capsys, kind):
    name = synthetic_run()
    assert main(["export", name, "--format", kind, "--out", str(tmp_path / "out"), "--json"]) == 0
    (path,) = json.loads(capsys.readouterr().out)["files"]
    first = report(load(name), 100).to_json()
    assert main(["import", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["existed"] == [name]
    actions.delete(name)
    assert main(["import", path, "--json"]) == 0
    (again,) = json.loads(capsys.readouterr().out)["runs"]
    assert again != name
    reports = [first, report(load(again), 100).to_json()]
    for values in reports:
        del values["run"]
    assert reports[0] == reports[1]


def test_a_benchmark_goes_out_as_three_files(home, tmp_path, capsys):
    names = [synthetic_run(seed=i, model=f"model-{i}") for i in range(2)]
    assert main(["export", *names, "--format", "json", "--out", str(tmp_path), "--json"]) == 0
    paths = json.loads(capsys.readouterr().out)["files"]
    kinds = {path.split("/")[-1].split("_")[0]: json.loads(Path(path).read_text()) for path in paths}
    assert set(kinds) == {"results", "summary", "config"}
    assert len(kinds["results"]) == 4
    figures = report(load(names[0]), 100)
    first = kinds["results"][0]
    assert (first["model"], first["conformal_method"], first["num_samples"]) == ("model-0", "lac", 100)
    assert first["coverage_rate"] == figures.scores["lac"].coverage
    mean = sum(row["avg_set_size"] for row in kinds["results"]) / 4
    assert kinds["summary"]["overall"]["avg_set_size"] == pytest.approx(mean)
    assert kinds["config"]["alpha"] == 0.1
    assert [run["run"] for run in kinds["config"]["runs"]] == names


def test_a_benchmark_without_an_interval_goes_out_too(home, tmp_path, capsys):
    """One question calibrates and one tests, as where a server did not answer the others."""
    assert main(["export", synthetic_run(2), "--format", "json", "--out", str(tmp_path), "--json"]) == 0
    capsys.readouterr()
    (path,) = tmp_path.glob("results_*.json")
    assert json.loads(path.read_text())[0]["avg_set_size_interval"] == [None, None]


@pytest.mark.parametrize(
    ("kind", "what"), [("xlsx", "sets.xlsx"), ("md", "table.md"), ("latex", "table.tex"), ("bibtex", "references.bib")]
)
def test_documents_are_written(home, tmp_path, capsys, kind, what):
    run = synthetic_run()
    name = f"hedge_synthetic_question-answering_alpha-0.10_{what}"
    assert main(["export", run, "--format", kind, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 500


@pytest.mark.nightly
def test_every_figure_is_drawn_with_its_caption(home, tmp_path, capsys):
    run = synthetic_run(n=60)
    assert main(["export", run, "--format", "figures", "--out", str(tmp_path)]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(path.name for path in paths) == sorted(path.name for path in (tmp_path / "figures").iterdir())
    begins = "hedge_synthetic_question-answering_alpha-0.10_"
    names = {f"{begins}{name}.{ending}" for name in RUN_FIGURES for ending in ("svg", "pdf", "png", "html", "txt")}
    assert {path.name for path in paths} == names
    assert all(path.stat().st_size > (300 if path.suffix == ".txt" else 2_000) for path in paths)


def test_one_figure_is_drawn_as_it_is_asked_for(home, tmp_path, capsys):
    run = synthetic_run(n=60)
    look = ["--width", "4in", "--font", "serif", "--theme", "dark", "--alpha", "0.2"]
    assert main(["figure", "set-size-by-alpha", run, *look, "--format", "svg", "--out", str(tmp_path), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    svg, text = (Path(path) for path in values["files"])
    assert svg.name == "hedge_synthetic_question-answering_alpha-0.20_set-size-by-alpha.svg"
    assert 'width="4in"' in svg.read_text()
    assert text.read_text().startswith(values["captions"][0])
    assert main(["figure", "forest", run, "--width", "wide", "--out", str(tmp_path)]) == 2
    assert "unknown width 'wide'; choose single, double, slide, or give inches" in capsys.readouterr().err


def test_the_report_is_drawn(home, tmp_path, capsys):
    run = synthetic_run(n=60)
    assert main(["export", run, "--format", "html", "--out", str(tmp_path / "out")]) == 0
    name = "hedge_synthetic_question-answering_alpha-0.10_report.html"
    assert (tmp_path / "out" / name).stat().st_size > 50_000
    (tmp_path / "file").write_text("x")
    assert main(["export", run, "--format", "html", "--out", str(tmp_path / "file")]) == 2
    assert "can't be written" in capsys.readouterr().err


def test_each_run_is_embedded_in_a_file_of_its_own(home, tmp_path, capsys):
    runs = [synthetic_run(n=60, seed=seed) for seed in (0, 1)]
    assert main(["export", *runs, "--format", "embed", "--alpha", "0.2", "--score", "aps", "--out", str(tmp_path)]) == 0
    begins = "hedge_synthetic_question-answering_alpha-0.20_alpha-lab"
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.name for path in paths] == [f"{begins}.html", f"{begins} (2).html"]
    for path in paths:
        page = path.read_text(encoding="utf-8")
        assert '"alpha": 200, "left": "aps", "right": "lac"' in page
        assert not any(run in page for run in runs)


def test_a_run_that_has_not_ended_goes_nowhere(home, tmp_path, capsys):
    run = synthetic_run()
    store.update_record(run, state="failed")
    assert main(["export", run, "--format", "csv", "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_compare_says_figures_pairs_and_verdicts(home, capsys):
    names = [synthetic_run(seed=5, model=f"m-{i}B", signal=1.0 + i) for i in range(1, 4)]
    assert main(["compare", *names, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert [row["score"] for row in values["runs"]] == ["lac", "aps"] * 3
    assert len(values["pairs"]) == 3
    assert all(0 < pair["detectable"]["accuracy"] < 1 and pair["tests"] == 9 for pair in values["pairs"])
    assert all(list(pair["p_values"]) == ["accuracy", "set_size", "uacc"] for pair in values["pairs"])
    assert all(row["uacc_low"] <= row["uacc"] <= row["uacc_high"] for row in values["runs"])
    assert [claim["verdict"] for claim in values["claims"]] == [
        "can't tell with 3 models",
        "can't tell with 3 models",
        "can't be tested without a pair",
    ]
    assert main(["compare", *names]) == 0
    output = capsys.readouterr().out
    assert CHOSEN not in output
    assert "p after Holm: accuracy" in output
    assert "in 80% of draws, after the correction for 9 tests." in output
    assert "at alpha 0.100 coverage" in output
    assert main(["compare", *names, "--score", "saps"]) == 0
    assert CHOSEN in capsys.readouterr().out
