"""Backup and restore, of a database file and of a real Postgres."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from core import backup
from core.cli import main
from core.errors import AccessError, InputError
from core.runs import engine, store
from core.runs.queue import run_queue
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


def test_everything_comes_back(filled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Runs to the byte, what waits in its order, what was cancelled; what came later is moved aside and kept."""
    from core.settings import settings

    home, file = settings().home, tmp_path / "one.tar.gz"
    before, waiting = contents(home), list(run_queue.unfinished())
    assert waiting == [spec(seed=1).run_id]
    assert main(["backup", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == len(before)
    engine.submit(spec(seed=3))
    (home / "runs" / filled / "run.json").unlink()
    assert main(["restore-backup", str(file)]) == 2
    assert "add --replace" in capsys.readouterr().err
    assert main(["restore-backup", str(file), "--replace"]) == 0
    said = capsys.readouterr().out
    assert "what was there before is in" in said
    (aside,) = home.parent.glob(f"{home.name}.before-restore-*")
    assert str(aside) in said
    assert (aside / "runs" / spec(seed=3).run_id / "run.json").is_file()
    assert contents(home) == before
    assert store.read_record(filled).state == "done"
    assert list(run_queue.unfinished()) == waiting
    assert engine.status(spec(seed=2).run_id).state == "cancelled"
    assert not list(home.parent.glob(f".{home.name}-restore-*"))


def test_a_backup_is_never_written_over(filled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "one.tar.gz"
    file.write_bytes(b"mine")
    assert main(["backup", str(file)]) == 2
    assert "exists already; name a new file" in capsys.readouterr().err
    assert main(["backup", str(tmp_path / "no" / "folder.tar.gz")]) == 2
    assert "can't be written" in capsys.readouterr().err
    assert file.read_bytes() == b"mine"


def test_passwords_stand_in_no_command_line(monkeypatch, shared_home):
    from sqlalchemy import make_url

    from core.settings import settings

    seen = []
    real = backup.subprocess.run
    monkeypatch.setattr(backup.subprocess, "run", lambda command, **more: seen.append(command) or real(command, **more))
    monkeypatch.setenv(
        "HEDGE_DATABASE_URL", make_url(settings().database).set(password="p4ss").render_as_string(hide_password=False)
    )
    backup._postgres("pg_dump", "--schema-only", "--file=/dev/null")
    assert seen
    assert "p4ss" not in " ".join(seen[0])


def written(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return path


OURS = {"hedge": "1", "created": 0.0, "files": 1, "bytes": 1, "database": "none", "schema": 1}


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"notes.txt": b"hello"}, "is not a backup of Hedge"),
        ({"backup.json": b"{"}, "can't be read as a backup"),
        ({"backup.json": json.dumps(OURS | {"schema": 9}).encode()}, "update Hedge"),
        ({"backup.json": json.dumps(OURS | {"database": "postgresql"}).encode()}, "--without-database"),
        ({"backup.json": json.dumps(OURS).encode(), "home/../../out": b"x"}, "damaged"),
    ],
)
def test_what_is_no_backup_changes_nothing(engine_home, tmp_path, members, says, capsys):
    file = written(tmp_path / "one.tar.gz", members)
    assert main(["restore-backup", str(file)]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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
    from core.classroom import class_store, lecture, live_class, quiz

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
