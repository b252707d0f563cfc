"""The command line as a script uses it: a process, its exit status, its two streams."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from core import __version__
from core.errors import RunCancelled
from core.reports.alpha_lab.view import SplitView, look
from core.reports.evaluation import load
from core.reports.report import report
from core.runs import store
from core.runs.spec import RunSpec
from core.settings import ROOT, settings
from hedge.cli import main
from tests.conftest import synthetic_questions, synthetic_run, without_digests

BUNDLED_RUN = "pocket-3m-ci-base-0shot-float32-e2eee38c1a"


def say(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "core", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=240,
        check=False,
    )


def test_the_version_is_the_newest_of_the_changelog(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"Hedge {__version__}\n"
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert next(name for name in headings if name != "Unreleased") == __version__


def test_a_reader_that_has_enough_is_no_error(home):
    name = synthetic_run()
    command = f"{sys.executable} -m core report {name} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_report_of_a_view_by_strata(home, capsys):
    name = synthetic_run()
    flags = ["--by", "class", "--n-calibration", "40", "--split-seed", "3", "--drop-extra", "--score", "lac", "saps"]
    assert main(["report", name, "--alpha", "0.2", *flags, "--json"]) == 0
    (values,) = json.loads(capsys.readouterr().out)
    assert values["view"] == {"drop_extra": True, "n_calibration": 40, "split_seed": 3}
    assert (values["by"], values["k"], values["n_calibration"]) == ("class", 4, 40)
    expected = report(look(load(name), SplitView(True, 40, 3)), 200, scores=["lac", "saps"], by="class").to_json()
    assert json.loads(json.dumps({**expected, "view": values["view"]})) == values
    lac = values["lac"]
    assert lac["threshold"] is None
    assert set(lac["thresholds"]) == set("ABCD")
    assert [row["stratum"] for row in lac["strata"]] == list("ABCD")
    assert sum(row["m"] for row in lac["strata"]) == sum(row["m"] for row in lac["by_size"]) == 100
    assert values["saps"]["tuned_on"] == 0

    assert main(["report", name, "--alpha", "0.2", *flags]) == 0
    printed = capsys.readouterr().out
    row = lac["strata"][1]
    assert "true option" in printed
    assert f"{row['coverage']:.3f}  ({row['low']:.3f} to {row['high']:.3f})" in printed


def test_report_by_subject_prints_a_row_each(home, capsys):
    assert main(["report", synthetic_run(), "--by", "group", "--score", "aps"]) == 0
    printed = capsys.readouterr().out
    assert "95% band" in printed
    lines = printed.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("    ")] == ["subject", "colours", "sums"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["report", "{run}", "--alpha", "1.2"], "alpha must lie in (0, 1), got 1.2"),
        (["report", "{run}", "--alpha", "x"], "invalid float value: 'x'"),
        (["report", "nonesuch"], "there is no run 'nonesuch'"),
        (["report", "{run}", "--score", "best"], "invalid choice: 'best'"),
        (["report", "{run}", "--by", "group", "--threshold", "paper"], "strata take the exact one"),
        (["run", "--model", "pocket-1m", "--task", "nonesuch"], "unknown task 'nonesuch'"),
        (["run", "--model", "./nonesuch", "--task", "qa"], "there is no folder './nonesuch'"),
        (["run", "--model", "pocket-1m", "--task", "qa", "--calibration-share", "0"], "must lie in (0, 1), got 0.0"),
        (["run", "--model", "pocket-1m", "--task", "qa", "--alpha", "7"], "alpha must lie in (0, 1), got 7"),
        (["import", "nonesuch.npz"], "there is no file or folder nonesuch.npz"),
        (["import", "bluq", "probs_m_qa_float32_base.npz"], "there is no file or folder probs_m_qa_float32_base.npz"),
        (["fly"], "invalid choice: 'fly'"),
        (["cancel", "nonesuch"], "there is no run 'nonesuch'"),
    ],
)
def test_bad_input_is_one_sentence_and_status_two(home, capsys, words, says):
    name = synthetic_run()
    before = sorted(path.name for path in settings().runs.iterdir())
    assert main([word.format(run=name, home=home) for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("hedge: ")
    assert says in err
    assert err.strip().count("\n") == 0
    assert "Traceback" not in err
    assert sorted(path.name for path in settings().runs.iterdir()) == before


def test_the_differences_of_a_comparison_are_those_of_the_figures_above_them(home, capsys):
    assert main(["compare", *(synthetic_run(model=f"m-{i}", signal=1 + i, seed=4) for i in range(3))]) == 0
    printed = capsys.readouterr().out
    figure = r"[\d.]+"
    own = re.findall(rf"accuracy ({figure}) \(.*mean set size ({figure}) .*UAcc ({figure}) \(", printed)
    pairs = re.findall(r"accuracy ([+-][\d.]+) .*set size ([+-][\d.]+) .*UAcc ([+-][\d.]+) \(", printed)
    assert len(own) == len(pairs) == 3
    for (first, second), shown in zip(((0, 1), (0, 2), (1, 2)), pairs, strict=True):
        for name, value in enumerate(shown):
            assert float(value) == pytest.approx(float(own[second][name]) - float(own[first][name]))


HOSTILE = "n\x1b[2J\x1b]0;caught\x07\r\x9b31m\u202e\nforged line"


def test_names_from_outside_move_no_cursor_and_forge_no_line(home, capsys):
    name = synthetic_run()
    questions = [replace(q, group=f"{HOSTILE} {i % 3}") for i, q in enumerate(synthetic_questions(300))]
    store.write_questions(store.folder_of(name), questions, ["calibration"] * 150 + ["test"] * 150)
    record = store.read_record(name)
    store.update_record(name, provenance=record.provenance | {"bank": {"name": HOSTILE}})
    for words in (["report", name], ["report", name, "--by", "subject"], ["compare", name, name], ["runs"]):
        main(words)
        printed = "".join(capsys.readouterr())
        assert printed.replace("\n", "").isprintable()
        assert not re.search("^forged", printed, re.M)


def test_a_mixed_import_prints_refusals_on_standard_error_and_says_so_in_its_status(home, tmp_path, capsys):
    good, notes = tmp_path / "good.csv", tmp_path / "notes.md"
    good.write_text("A,B,label\n0.7,0.3,A\n0.2,0.8,B\n0.6,0.4,A\n0.1,0.9,B\n")
    notes.write_text("Nothing to see here.\n")
    assert main(["import", str(good), str(notes)]) == 1
    out, err = capsys.readouterr()
    assert "4 questions, accuracy 1.000 on the 2 test questions" in out
    assert "notes.md" not in out
    assert err == f"hedge: {notes}: it is text without results\nhedge: read 1 of 2 files\n"
    others = [tmp_path / f"{'long' * 20} {i}.md" for i in range(40)]
    for i, path in enumerate(others):
        path.write_text(f"Nothing to see in {i}.\n")
    assert main(["import", *map(str, others)]) == 2
    err = capsys.readouterr().err
    assert all(f"{path}: it is text without results" in err for path in others)  # none is cut off


def test_a_run_here_and_now(home, capsys, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    words = ["run", "--model", "fake", "--task", "qa", "--strategy", "base", "task", "--mode", "short", "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    values = json.loads(out)
    specs = [RunSpec(model="fake", task="qa", samples=100, strategy=strategy) for strategy in ("base", "task")]
    assert values["runs"] == [spec.run_id for spec in specs]
    assert values["reports"][0]["n_calibration"] == 50
    assert "100/100" in err


def test_a_failed_run_is_status_one(home, capsys, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", '{"fault": 1}')
    assert main(["run", "--model", "fake", "--task", "qa", "--samples", "20"]) == 1
    assert "differ by 1 in log-probability" in capsys.readouterr().err
    assert main(["runs", "--json"]) == 0
    assert any(row["state"] == "failed" for row in json.loads(capsys.readouterr().out))


def test_a_run_of_a_newer_hedge_hides_no_other(home, capsys):
    mine, newer = synthetic_run(30), synthetic_run(30, seed=1)
    file = home / "runs" / newer / "run.json"
    values = without_digests(file)
    values["spec"]["from_the_future"] = 1
    file.write_text(json.dumps(values))
    assert main(["runs"]) == 0
    printed = capsys.readouterr().out
    assert f"finished   {mine}" in printed
    assert f"unreadable {newer} was written by a newer Hedge; update Hedge" in printed


def test_the_pocket_model_for_real(home):
    answer = say("run", "--model", "pocket-1m", "--task", "qa", "--mode", "short", "--json", HEDGE_HOME=str(home))
    assert answer.returncode == 0, answer.stderr
    values = json.loads(answer.stdout)["reports"][0]
    assert values["n_calibration"] == values["n_test"] == 50
    assert 0 < values["lac"]["mean_set_size"] <= 6
    record = store.read_record(values["run"])
    assert record.provenance["self_check"]["largest_difference"] < 1e-4
    assert store.read_logits(values["run"]).letter_mass.min() > 0


def test_doctor_says_what_each_finding_means(home, capsys):
    assert main(["doctor", "--json"]) == 0
    by_name = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {"versions", "torch", "memory", "disk", "database", "agent"} <= set(by_name)
    assert all(row["meaning"] for row in by_name.values())
    assert "HF_TOKEN" not in str(by_name["hub token"]["value"])


RUN_THAT_WAITS = """
import signal, sys, time
from hedge.cli import main
from core.runs.execution import execute

def slow(self):
    self.reporter.report("waiting")
    print("waits", flush=True)
    time.sleep(120)

execute._Execution.run = slow
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it
sys.exit(main(["run", "--model", "fake", "--task", "qa", "--samples", "20"]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_end_is_cancelled(home, number):
    """SIGTERM is what Slurm sends, SIGINT is Ctrl+C: both leave a run that `resume` continues."""
    environment = {**os.environ, "HEDGE_FAKE_ENGINE": "{}"}
    with subprocess.Popen(
        [sys.executable, "-c", RUN_THAT_WAITS],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "waits\n"
        process.send_signal(number)
        _, printed = process.communicate(timeout=240)
    assert process.returncode == RunCancelled("").exit_status
    assert "was cancelled; `resume` continues" in printed
    (name,) = [name for name in store.run_ids() if name.startswith("fake-qa")]
    assert store.read_record(name).state == "cancelled"


def test_a_run_that_ships_with_hedge_has_finished_here_as_in_the_queue(home, capsys):
    words = ["run", "--model", "pocket-3m", "--task", "ci"]
    notice = f"hedge: run {BUNDLED_RUN} has finished before; another --seed makes another run\n"
    assert main([*words, "--json"]) == 0
    here = capsys.readouterr()
    assert json.loads(here.out)["runs"] == [BUNDLED_RUN]
    assert here.err == notice
    assert main([*words, "--queue"]) == 0
    assert capsys.readouterr() == (f"{BUNDLED_RUN} has finished already\n", notice)
    assert main(["resume", BUNDLED_RUN]) == 2
    assert "has finished; nothing is left to do" in capsys.readouterr().err
    assert not (home / "runs").exists()
