"""The life of a run, a class, a backup and an archive in a home whose path has every character that means something to
a URL, a shell, a pattern or a format."""

import json
from pathlib import Path

import pytest

from core.exchange.dropped import question_files
from core.questions import short_task
from core.reports.titles import record_title
from core.runs import archive, engine, store
from core.runs.queue import run_queue
from core.serving import backup, monitoring
from core.serving.classroom import class_run, class_store, lecture, quiz
from core.settings import settings
from core.storage import database
from hedge.cli import main
from tests.core.runs.conftest import assert_each_question_once, is_in, spec, until
from tests.processes import end_all

NAME = "hömé u\u0308 🦔 קיפוד #%[]*&@:;='\"(,$\\ %20?x+~ %s {home} a::b `ls`"


@pytest.fixture
def odd_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / "alone" / NAME
    monkeypatch.setenv("HEDGE_HOME", str(home))
    monkeypatch.delenv("HEDGE_DATABASE_URL", raising=False)
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 1}))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    yield home
    end_all(home)


def test_a_run_lives_there_as_anywhere(odd_home: Path, tmp_path: Path, monkeypatch):
    name = engine.submit(spec())
    assert [now.run_id for now in engine.statuses()] == [name]
    until(is_in(name, "done"), "the run to be done")
    assert_each_question_once(name)
    assert [now.state for now in engine.statuses()] == ["done"]
    assert database.file() == odd_home / "engine.sqlite"
    until(lambda: list(run_queue.ended_since(0)) == [name], "its worker to have ended it")
    assert monitoring.problems() == []
    assert b'hedge_runs{state="done"} 1.0' in monitoring.exposition(sessions=0)
    assert main(["report", name]) == 0

    bank = tmp_path / f"{NAME}.jsonl"
    rows = [{"question": f"What is {i} + 1?", "choices": [str(i), str(i + 1)], "answer": "B"} for i in range(40)]
    bank.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    own_task = question_files.keep(bank, bank.name)
    own_run = engine.submit(spec(task=own_task, samples=20))
    until(is_in(own_run, "done"), "the run of a person's own questions")
    assert record_title(store.read_record(own_run)).startswith(f"fake · {short_task(own_task)}")

    live = lecture.open_class(quiz.draw("qa", n=4, calibration=2, seed=1))
    live.join("0" * 32, "Ada")
    for position in range(4):
        lecture.ask_next(live.code)
        live.answer("0" * 32, question=position, shares=[100, 0, 0, 0], turn=1)
        lecture.show_answer(live.code)
    lecture.ask_next(live.code)
    own, _ = class_run.save_class(live.code)

    copies = tmp_path / "archives" / NAME
    monkeypatch.setenv("HEDGE_ARCHIVE_URL", str(copies))
    assert {own, name} <= set(archive.push())
    assert (copies / name / "run.json").read_bytes() == (store.folder_of(name) / "run.json").read_bytes()

    end_all(odd_home)
    file = tmp_path / f"{NAME}.tar.gz"
    backup.back_up(file)
    other = tmp_path / "other" / NAME
    monkeypatch.setenv("HEDGE_HOME", str(other))
    backup.restore(file)
    assert settings().home == other
    assert store.read_record(name).state == "done"
    assert class_store.read(live.code) is not None
    for folder in (odd_home, copies, other):
        assert [path.name for path in folder.parent.iterdir()] == [NAME]
    database.forget()
