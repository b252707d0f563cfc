"""Names longer than a file's name can be: cut where they become a file's name, or refused in one sentence."""

import errno
import json
import os
import zipfile
from pathlib import Path

import pytest

from core.errors import InputError
from core.exchange.dropped import question_files
from core.exchange.dropped.files import gather
from core.runs import store
from core.runs.spec import RunSpec
from core.storage import names
from core.storage.atomic import write_atomically
from core.storage.names import cut_name, named
from hedge.cli import main
from tests.conftest import synthetic_run

ODD = {
    "256 letters": "n" * 256,
    "400 letters": "n" * 400,
    "4,000 letters": "n" * 4000,
    "100 letters of four bytes": "𝔸" * 100,
    "a folder of 400 letters": f"/tmp/{'d' * 400}/x",
    "a path of 5,000": "/".join("d" * 100 for _ in range(50)),
    "an unknown home": "~nobody-of-this-name/x",
    "a null byte": "a\0b",
    "broken characters": "\udcff" * 300,
}
COMMANDS = {
    "run --model": ["run", "--task", "qa", "--model"],
    "run --task": ["run", "--model", "pocket-1m", "--task"],
    "run --task NAME@FILE": ["run", "--model", "pocket-1m", "--task", "arc@{}"],
    "import": ["import"],
    "import --labels": ["import", "here.csv", "--labels"],
    "report": ["report"],
    "compare": ["compare"],
    "delete": ["delete"],
    "restore": ["restore"],
    "first": ["first"],
    "export --out": ["export", "{run}", "--out"],
    "figure --out": ["figure", "coverage", "{run}", "--out"],
    "prompting --out": ["prompting", "{run}", "--out"],
    "shelf": ["shelf", "bring"],
    "jury report": ["jury", "report", "--judgements"],
    "jury answer --out": ["jury", "answer", "--model", "pocket-1m", "--out"],
    "jury tune": ["jury", "tune", "--model"],
    "perplexity run --prompt": ["perplexity", "run", "--model", "pocket-1m", "--prompt"],
    "perplexity run --model": ["perplexity", "run", "--model"],
    "perplexity endings --out": ["perplexity", "endings", "--model", "pocket-1m", "--out"],
    "train-adapter --out": ["train-adapter", "--model", "pocket-1m", "--texts", "trivia", "--out"],
    "tokens evaluate": ["tokens", "evaluate", "--model"],
    "tokens view --text": ["tokens", "view", "--model", "nobody/nothing-here", "--text"],
    "backup": ["backup"],
    "restore-backup": ["restore-backup"],
    "verify": ["verify", "--only"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_refuses_a_name_in_one_sentence(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "here.csv").write_text("id,A,B,label\n1,0.7,0.3,A\n")
    run_id = synthetic_run(20)
    for kind, name in ODD.items():
        line = [word.replace("{run}", run_id) for word in COMMANDS[command]]
        line = [word.replace("{}", name) for word in line] if any("{}" in word for word in line) else [*line, name]
        try:
            status = main(line)
        except SystemExit as refused:  # argparse
            status = refused.code
        errors = capsys.readouterr().err
        assert status in (1, 2), (kind, errors)
        assert "Traceback" not in errors, kind
        assert errors.strip(), kind
    assert [path.name for path in tmp_path.iterdir() if len(path.name) > 200] == []


@pytest.mark.quick
def test_an_output_is_refused_before_anything_is_computed(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    line = ["perplexity", "endings", "--model", "/no/such/model", "--out", "n" * 400]
    assert main(line) == 2
    assert capsys.readouterr().err == (
        f"hedge: '{'n' * 39}…' has 400 bytes, and a file's name may have 255; choose a shorter one\n"
    )


@pytest.mark.parametrize("name", ["n" * 400, "𝔸" * 400, "Ä/ö ü" * 200])
def test_a_model_and_a_task_with_long_names_are_imported_kept_and_binned(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
):
    path = tmp_path / "mine.csv"
    path.write_text("id,A,B,label\n1,0.7,0.3,A\n2,0.2,0.8,B\n3,0.6,0.4,A\n4,0.5,0.5,B\n")
    assert main(["import", "table", str(path), "--model", name, "--task", name, "--json"]) == 0
    (run_id,) = json.loads(capsys.readouterr().out)["runs"]
    assert store.read_record(run_id).spec.model == name
    assert len(run_id) < 240
    assert main(["report", run_id]) == 0
    assert main(["export", run_id, "--format", "csv", "--out", str(tmp_path / "out")]) == 0
    assert main(["delete", run_id]) == 0
    assert main(["restore", run_id]) == 0


@pytest.mark.quick
def test_runs_that_differ_only_where_their_names_are_cut_stay_two():
    first, other = (RunSpec("m" * 400 + end, "qa") for end in "ab")
    assert first.run_id != other.run_id
    assert first.run_id[:200] == other.run_id[:200]


@pytest.mark.quick
def test_a_bank_an_archive_s_member_and_a_file_with_the_longest_name_are_kept(home: Path, tmp_path: Path):
    bank = tmp_path / "bank.csv"
    bank.write_text("question,A,B,answer\nWhich?,one,two,A\n")
    for name in ("n" * 400 + ".csv", "𝔸" * 400 + ".csv", "é" * 4000):
        task = question_files.keep(bank, name)
        assert Path(task).is_file()
        assert len(os.fsencode(Path(task).name)) < 100
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("𝔸" * 400 + ".csv", bank.read_text())
    gathered = gather([archive], scratch=tmp_path / "scratch")
    assert (len(gathered.files), gathered.refused) == (1, ())
    longest = tmp_path / ("n" * 255)
    write_atomically(longest, b"kept")
    assert longest.read_bytes() == b"kept"


@pytest.mark.quick
def test_a_name_is_cut_at_a_whole_character_and_keeps_its_ending():
    assert cut_name("short.csv") == "short.csv"
    assert cut_name("𝔸" * 100 + ".csv") == "𝔸" * 62 + ".csv"
    assert cut_name("." + "n" * 400) == "." + "n" * 254
    assert cut_name("a." + "n" * 400, most=10) == "a.nnnnnnnn"
    assert named("~/x") == Path.home() / "x"
    for odd in ODD.values():
        with pytest.raises(InputError, match=r"; choose (a shorter|another) (one|name)$"):
            named(odd)
        assert len(os.fsencode(cut_name(odd.replace("/", "-")))) <= 255


@pytest.mark.quick
def test_only_errors_of_names_are_explained():
    assert names.problem(OSError(errno.ENOSPC, "No space left", "n" * 400)) == ""
    assert names.problem(ValueError("embedded null byte")) != ""
    with pytest.raises(OSError, match="too long") as error:
        Path("n" * 400).read_bytes()
    assert names.problem(error.value).endswith("has 400 bytes, and a file's name may have 255; choose a shorter one")
