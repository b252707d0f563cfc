"""Backup and restore, with a database file and with a real Postgres."""

import gzip
import io
import json
import os
import resource
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import AccessError, InputError
from core.runs import engine, store
from core.runs.queue import run_queue
from core.serving import backup
from hedge.cli import main
from tests.conftest import synthetic_run
from tests.core.runs.conftest import spec


@pytest.fixture(params=["file", "server"])
def filled(request, monkeypatch) -> str:
    """A home with a finished run and two that wait; returns the finished one's id."""
    request.getfixturevalue("engine_home" if request.param == "file" else "shared_home")
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    done = synthetic_run(30)
    engine.submit(spec(seed=1))
    engine.submit(spec(seed=2))
    engine.cancel(spec(seed=2).run_id)
    return done


def contents(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in backup._files(home)}


def records_apart(home: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """The home's files without the records and logs of runs, and the states of all runs."""
    files = {name: content for name, content in contents(home).items() if not name.endswith(("run.json", "log.txt"))}
    return files, {run_id: store.read_record(run_id).state for run_id in store.run_ids() if "shipped" not in run_id}


def test_everything_comes_back_and_nothing_starts(filled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Runs to the byte; what waited is cancelled until a person resumes it; what came later is moved aside and kept."""
    from core.settings import settings

    home, file = settings().home, tmp_path / "one.tar.gz"
    waited = spec(seed=1).run_id
    (before, states), assembled = records_apart(home), contents(home)
    assert list(run_queue.unfinished()) == [waited]
    assert main(["backup", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == len(assembled)
    engine.submit(spec(seed=3))
    (home / "runs" / filled / "run.json").unlink()
    assert main(["restore-backup", str(file)]) == 2
    assert "add --replace" in capsys.readouterr().err
    assert main(["restore-backup", str(file), "--replace"]) == 0
    output = capsys.readouterr().out
    assert f"1 run that was waiting or running is cancelled; `hedge resume {waited}` continues it" in output
    (aside,) = home.parent.glob(f"{home.name}.before-restore-*")
    assert f"what was there before is in {aside}" in output
    assert (aside / "runs" / spec(seed=3).run_id / "run.json").is_file()
    assert records_apart(home) == (before, states | {waited: "cancelled"})
    assert list(run_queue.unfinished()) == []
    assert {engine.status(spec(seed=seed).run_id).state for seed in (1, 2)} == {"cancelled"}
    engine.resume(waited)
    assert list(run_queue.unfinished()) == [waited]
    assert not list(home.parent.glob(f".{home.name}-restore-*"))


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, as a container has for its home; skips where none can be mounted."""
    folder = tmp_path / "volume"
    folder.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    if subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_home_that_is_a_volume_is_replaced_within_it(volume, home, tmp_path, monkeypatch, capsys):
    done = synthetic_run(30)
    backup.back_up(tmp_path / "one.tar.gz")
    monkeypatch.setenv("HEDGE_HOME", str(volume))
    assert main(["restore-backup", str(tmp_path / "one.tar.gz")]) == 0
    later = synthetic_run(40, seed=3)
    assert main(["restore-backup", str(tmp_path / "one.tar.gz")]) == 2
    assert main(["restore-backup", str(tmp_path / "one.tar.gz"), "--replace"]) == 0
    (aside,) = volume.glob("before-restore-*")
    assert f"what was there before is in {aside}" in capsys.readouterr().out
    assert {path.name for path in (aside / "runs").iterdir()} == {done, later}
    assert {path.name for path in (volume / "runs").iterdir()} == {done}
    backup.back_up(tmp_path / "two.tar.gz")
    with tarfile.open(tmp_path / "two.tar.gz") as archive:
        assert not [name for name in archive.getnames() if "before-restore" in name]
    assert not list(volume.glob(".restore-*"))


def test_a_record_that_can_not_be_read_keeps_nothing_else_from_being_cancelled(engine_home, tmp_path, capsys):
    """A record that is nested too deeply for Python, one that is a folder, and the same of a jury and of groups."""
    waits = spec(seed=1)
    store.create(store.RunRecord(spec=waits, state="queued", created=0.0))
    record = (engine_home / "runs" / waits.run_id / "run.json").read_bytes()
    nested = b"[" * 200_000
    members = {
        "backup.json": described(files=9, bytes=10**6),
        "home/runs/a/run.json": nested,
        "home/runs/b/run.json/c": b"x",
        f"home/runs/{waits.run_id}/run.json": record,
        "home/juries/a/jury.json": nested,
        "home/groups/a.json": nested,
    }
    file = written(tmp_path / "one.tar.gz", members)
    assert main(["restore-backup", str(file), "--replace"]) == 0
    assert store.read_record(waits.run_id).state == "cancelled"
    for words in (["runs"], ["jury", "list"], ["delete", "a"], ["delete", "b"], ["report", "a"], ["bin"], ["doctor"]):
        assert main(words) in (0, 1, 2), words
    assert "Traceback" not in "".join(capsys.readouterr())


def test_a_queue_in_use_on_a_server_is_left_alone(shared_home, tmp_path, monkeypatch, capsys):
    """A backup for an empty home cancels nothing of others without --replace."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    backup.back_up(tmp_path / "empty.tar.gz")
    engine.submit(spec(seed=1))
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "new"))
    assert main(["restore-backup", str(tmp_path / "empty.tar.gz")]) == 2
    assert ", 1 of the runs are waiting" in capsys.readouterr().err
    assert list(run_queue.unfinished()) == [spec(seed=1).run_id]
    assert main(["restore-backup", str(tmp_path / "empty.tar.gz"), "--replace"]) == 0
    assert list(run_queue.unfinished()) == []


def test_a_backup_is_never_written_over(filled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "one.tar.gz"
    file.write_bytes(b"mine")
    assert main(["backup", str(file)]) == 2
    assert "exists already; name a new file" in capsys.readouterr().err
    assert main(["backup", str(tmp_path / "no" / "folder.tar.gz")]) == 2
    assert "can't be written" in capsys.readouterr().err
    assert file.read_bytes() == b"mine"


def written(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return path


OURS = {"hedge": "1", "created": 0.0, "files": 1, "bytes": 1, "database": "none", "schema": 1}


def described(**values: object) -> bytes:
    return json.dumps(OURS | values).encode()


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"notes.txt": b"hello"}, "is not a backup of Hedge"),
        ({"backup.json": b"{"}, "is not a backup of Hedge"),
        ({"backup.json": b"[" * 40_000}, "is not a backup of Hedge"),
        ({"backup.json": b" " * 70_000}, "a part of 70,000 bytes"),
        ({"backup.json": described(schema=9)}, "update Hedge"),
        ({"backup.json": b'{"schema": 1}'}, "hedge of its backup.json is not as `backup` writes it"),
        ({"backup.json": described(files="many")}, "files of its backup.json is not as"),
        ({"backup.json": described(bytes=-1)}, "bytes of its backup.json is not as"),
        ({"backup.json": described(created=1e300)}, "created of its backup.json is not as"),
        ({"backup.json": described(bytes=1 << 60)}, "GB are free on the disk"),
        ({"backup.json": described(), "home/../../out": b"x"}, "is no file of a backup"),
        ({"backup.json": described(), "/out": b"x"}, "is no file of a backup"),
        ({"backup.json": described(), "home/agents/a/agent.json": b"x"}, "is no file of a backup"),
        ({"backup.json": described(), "home/cache/checks.json": b"x"}, "is no file of a backup"),
        ({"backup.json": described(), "home/a\x1b[2J": b"x"}, "is no file of a backup"),
        ({"backup.json": described(), "home/a": b"x", "home/b": b"x"}, "holds more than the 1 files"),
        ({"backup.json": described(files=3), "home/a": b"x", "home/a/b": b"x"}, "can't be unpacked"),
        ({"backup.json": described(), "home/a": b"\0" * (80 << 20)}, "holds more than the 1 files of 1 bytes"),
        ({"backup.json": described(), f"home/{'a' * 400}": b"x"}, "can't be unpacked (File name too long)"),
    ],
)
def test_what_is_no_backup_changes_nothing(engine_home, tmp_path, members, sentence, capsys):
    file = written(tmp_path / "one.tar.gz", members)
    before = sorted(tmp_path.rglob("*"))
    assert main(["restore-backup", str(file)]) == 2
    assert sentence in (errors := capsys.readouterr().err)
    assert errors.count("\n") == 1
    assert "\x1b" not in errors
    assert sorted(tmp_path.rglob("*")) == before


def test_a_header_that_would_fill_the_memory_is_not_read(engine_home, tmp_path, capsys):
    """Half a gigabyte of names of a file, in half a megabyte of gzip."""
    about = tarfile.TarInfo("././@PaxHeader")
    about.type, about.size = tarfile.XHDTYPE, 1 << 29
    file = tmp_path / "one.tar.gz"
    with gzip.open(file, "wb", compresslevel=1) as out:
        out.write(about.tobuf())
        for _ in range(1 << 9):
            out.write(b"0" * (1 << 20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert main(["restore-backup", str(file)]) == 2
    assert "a part of 536,870,912 bytes" in capsys.readouterr().err
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_link_in_a_backup_leads_nowhere(engine_home, tmp_path, capsys):
    file = tmp_path / "one.tar.gz"
    link = tarfile.TarInfo("home/runs")
    link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
    with tarfile.open(file, "w:gz") as archive:
        backup._add_text(archive, "backup.json", json.dumps(OURS))
        archive.addfile(link)
        backup._add_text(archive, "home/runs/out", "x")
    assert main(["restore-backup", str(file)]) == 2
    assert "'home/runs' is no file of a backup" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_backup_that_was_cut_changes_nothing(filled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from core.settings import settings

    file = tmp_path / "one.tar.gz"
    assert main(["backup", str(file)]) == 0
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    before = contents(settings().home)
    assert main(["restore-backup", str(file), "--replace"]) == 2
    assert "damaged" in capsys.readouterr().err or "can't be read" in capsys.readouterr().err
    assert contents(settings().home) == before


def test_a_class_at_work_is_in_the_backup(home, tmp_path):
    from core.serving.classroom import class_store, lecture, live_class, quiz

    live = lecture.open_class(quiz.draw("qa", n=4, calibration=2))
    live.join("a" * 32, "Ada")  # this is in the write-ahead log only
    assert backup.CLASSES_FILE == class_store.FILE
    file = tmp_path / "one.tar.gz"
    backup.back_up(file)
    with tarfile.open(file) as archive:
        assert [name for name in archive.getnames() if "classes" in name] == ["home/classes.sqlite"]
    live.join("b" * 32)
    backup.restore(file, replace=True)
    live_class._held.clear()
    assert live_class.find(live.code).people() == [(1, "Ada", False, False)]


def test_only_an_administrator_may(home, tmp_path):
    from core import access

    with access.acting_as(access.Actor("viewer", access.UserRole.VIEWER)):
        with pytest.raises(AccessError):
            backup.back_up(tmp_path / "one.tar.gz")
        with pytest.raises(AccessError):
            backup.restore(tmp_path / "one.tar.gz")


def test_nothing_is_restored_beside_a_running_agent(filled: str, tmp_path: Path, monkeypatch):
    from core.runs.agent import liveness

    file = tmp_path / "one.tar.gz"
    backup.back_up(file)
    monkeypatch.setattr(liveness, "any_agent_alive", lambda: True)
    with pytest.raises(InputError, match="stop every agent first"):
        backup.restore(file, replace=True)
