"""The run engine against the real thing: DBOS on SQLite, an agent, workers, and a fake model."""

import json
import os
import sqlite3
import subprocess
import sys

import psutil
import pytest

from core.errors import InputError, RunError
from core.models import memory_estimate, model_sources
from core.questions import bank
from core.runs import engine, store
from core.runs.queue import run_queue
from core.runs.store import RunRecord
from core.settings import ROOT
from core.storage import database
from core.storage.database import sqlite_file
from core.storage.tables import finished_chunks
from tests.core.runs.conftest import (
    agent_process,
    assert_each_question_once,
    begun,
    is_in,
    long_spec,
    spec,
    until,
    worker_process,
)
from tests.processes import living


def test_a_run_goes_from_submit_to_done_in_processes_of_its_own(pace):
    assert not engine.agent_alive()
    name = engine.submit(long_spec())
    assert engine.agent_alive()
    until(begun(name), "the first question")
    now = engine.status(name)
    assert (now.state, now.worker_alive, now.tries) == ("running", True, 1)
    assert [each.run_id for each in engine.statuses()] == [name]
    assert engine.submit(long_spec()) == name
    pace(0)
    until(is_in(name, "done"), "the run to be done")
    assert_each_question_once(name)
    assert [each.state for each in engine.statuses()] == ["done"]

    # Nobody's child and in a session of its own: it outlives the server and the terminal that started it.
    assert agent_process().ppid() != psutil.Process().pid
    assert os.getsid(agent_process().pid) != os.getsid(0)
    assert worker_process().nice() == 19

    before = store.read_record(name)
    assert engine.submit(long_spec()) == name
    assert store.read_record(name) == before
    with pytest.raises(InputError, match="is finished; only a waiting or running run"):
        engine.cancel(name)
    with pytest.raises(InputError, match="nothing is left to do"):
        engine.resume(name)


def _counted(action, *functions):
    """How often the action calls each of these functions in this thread."""
    counts = dict.fromkeys((function.__code__ for function in functions), 0)

    def count(frame, event, argument):
        if event == "call" and frame.f_code in counts:
            counts[frame.f_code] += 1

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(counts.values())


def test_a_launch_reads_each_thing_once(home, monkeypatch):
    monkeypatch.setenv("HEDGE_START_AGENT", "0")
    functions = bank.load, model_sources.resolve, memory_estimate.memory_gib, store.read_record
    run_spec = spec(model="pocket-1m")
    assert _counted(lambda: engine.submit(run_spec), *functions) == [1, 1, 1, 0]
    engine.cancel(run_spec.run_id)
    # The record is read before and after the database, and to be changed.
    assert _counted(lambda: engine.submit(run_spec), *functions) == [0, 2, 1, 3]
    assert engine.status(run_spec.run_id).state == "queued"


def test_the_form_of_a_run_loads_no_client_of_servers():
    code = "import sys, core.runs.spec; print(*(name for name in sys.modules if name.startswith(('aiohttp', 'core.'))))"
    names = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    read = {name for name in names.split() if "server" in name or "aiohttp" in name}
    assert read == {"core.models.server_address"}  # how a model on a server is written


@pytest.mark.nightly
def test_a_killed_worker_is_replaced_and_goes_on_without_a_person(pace):
    name = engine.submit(long_spec())
    until(begun(name, done=60), "the second chunk")
    worker = worker_process()
    worker.kill()
    pace(0)
    until(lambda: engine.status(name).tries == 2, "the second try")
    until(is_in(name, "done"), "the run to be done")
    assert worker_process().pid != worker.pid
    assert_each_question_once(name)
    log = "\n".join(store.read_log(name))
    assert "killed by signal 9" in log
    assert "continues after 50 questions" in log


def test_a_cancelled_run_stops_within_two_seconds_and_a_resume_keeps_what_was_finished(pace, tmp_path):
    def scored() -> int:
        return len((tmp_path / "trace").read_text().split())

    name = engine.submit(long_spec())
    until(begun(name, done=51), "the second chunk")
    pace(100)
    engine.cancel(name)
    before = scored()
    until(is_in(name, "cancelled"), "the run to stop")
    assert scored() - before <= 20  # in two seconds
    folder = store.folder_of(name)
    kept = finished_chunks(folder)
    assert kept == list(range(len(kept)))
    assert engine.status(name).progress is None
    written = (folder / "chunks" / "000000.parquet").stat().st_mtime_ns
    engine.cancel(name)  # again is no error

    pace(10)
    assert engine.submit(long_spec()) == name  # the same spec continues it
    until(begun(name, done=50 * len(kept) + 20), "the rest")
    assert (folder / "chunks" / "000000.parquet").stat().st_mtime_ns == written
    pace(0)
    until(is_in(name, "done"), "the run to be done")
    assert_each_question_once(name)


def test_a_run_that_is_cancelled_in_the_queue_never_starts(pace):
    first = engine.submit(long_spec())
    second = engine.submit(long_spec(seed=1))
    third = engine.submit(spec(seed=2, samples=10))
    until(begun(first), "the first run")
    assert [each.run_id for each in engine.statuses()] == [first, second, third]
    assert engine.status(second).state == "queued"
    engine.cancel(second)
    now = engine.status(second)
    assert (now.state, now.record.state) == ("cancelled", "cancelled")
    pace(0)
    until(is_in(third, "done"), "the run behind it")
    assert not any("begins" in line for line in store.read_log(second))
    assert not (store.folder_of(second) / "questions.parquet").exists()
    pace(10)
    engine.resume(second)
    until(begun(second), "the resumed run")


def test_a_worker_that_stands_still_is_killed_when_its_run_is_cancelled(engine_home, monkeypatch):
    trace = engine_home / "trace"
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 1, "hang_at": 20, "trace": str(trace)}))
    name = engine.submit(spec())
    until(
        lambda: trace.exists() and len(trace.read_text().split()) == 20,
        "the run to come to the question at which it stands still",
    )
    stuck = worker_process()
    engine.cancel(name)
    until(is_in(name, "cancelled"), "the run to stop")
    assert len(trace.read_text().split()) == 20  # nobody has waited for it
    until(lambda: not stuck.is_running() or stuck.status() == psutil.STATUS_ZOMBIE, "its worker to be gone")
    assert engine.status(name).progress is None
    # The next worker takes the next run, and the death that was wanted counts against nothing.
    other = engine.submit(spec(seed=1, samples=15))
    until(is_in(other, "done"), "the next run")
    assert engine.status(name).message == "Cancelled; resume it to continue with what is missing."


def test_a_worker_that_can_not_even_end_itself_is_killed_when_its_run_is_cancelled(pace):
    name = engine.submit(long_spec())
    until(begun(name), "the first question")
    stopped = worker_process()
    stopped.suspend()  # as one that waits for a device and lets no other thread of its own run
    engine.cancel(name)
    until(is_in(name, "cancelled"), "the run to stop")
    until(lambda: not stopped.is_running() or stopped.status() == psutil.STATUS_ZOMBIE, "its worker to be gone")
    assert engine.status(name).message == "Cancelled; resume it to continue with what is missing."


def test_a_run_that_kills_three_workers_is_given_up_with_the_reason(engine_home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"die_at": 10}))
    name = engine.submit(spec())
    until(is_in(name, "failed"), "the run to be given up")
    now = engine.status(name)
    assert now.message.startswith("3 workers ended while they ran it, the last one killed by signal 9 (SIGKILL)")
    assert now.message.endswith("and nothing new was finished in between; resume it to try again.")
    log = store.read_log(name)
    assert sum("begins" in line for line in log) == 3
    assert sum("killed by signal 9" in line and "worker" in line for line in log) >= 3
    # The worker that found it given up is free for others.
    other = engine.submit(spec(seed=1, samples=8))
    until(is_in(other, "done"), "the next run")


def test_a_failure_that_a_repeat_would_not_mend_is_not_repeated(engine_home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"fault": 0.5}))
    name = engine.submit(spec())
    until(is_in(name, "failed"), "the run to fail")
    assert "differ by 0.5" in engine.status(name).message
    other = engine.submit(spec(seed=1))
    until(is_in(other, "failed"), "the next run to fail")
    assert sum("begins" in line for line in store.read_log(name)) == 1
    # A person may insist, and it fails afresh.
    engine.resume(name)
    until(lambda: sum("begins" in line for line in store.read_log(name)) == 2, "the second try")
    until(is_in(name, "failed"), "the run to fail again")


@pytest.mark.parametrize("damage", ["garbage", "folder", "no file"])
def test_a_database_that_cannot_be_opened_costs_one_sentence_and_writes_nothing(home, monkeypatch, damage):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    path = home / "engine.sqlite"
    if damage == "garbage":
        home.mkdir()
        path.write_bytes(b"no database, but long enough to look like one " * 100)
    elif damage == "folder":
        path.mkdir(parents=True)
    else:
        home.write_text("a file where the home should be")
    with pytest.raises(RunError, match=r"the run database .*engine.sqlite can't be used \(.+\); check HEDGE_HOME"):
        engine.submit(spec())
    assert not (home / "runs").exists()
    until(lambda: not engine.agent_alive(), "no agent to stay")


def test_a_run_for_which_the_database_names_another_is_not_executed(engine_home, monkeypatch):
    """As a damaged database of another Hedge or on a server may do, where no copies of rows tell."""
    with monkeypatch.context() as patch:
        patch.setattr(engine, "ensure_agent", lambda: None)
        name, other = engine.submit(spec(samples=20)), engine.submit(spec(samples=20, seed=1))
    with sqlite_file.opened(engine_home / "engine.sqlite") as connection:
        sent = connection.execute("UPDATE workflow_input SET inputs = replace(inputs, ?, ?)", [name, other])
        assert sent.rowcount == 2
    engine.ensure_agent()
    until(is_in(name, "failed"), "the run to be refused")
    assert f"engine.sqlite is damaged: it names '{other}' for '{name}'; check HEDGE_HOME" in engine.status(name).message
    until(is_in(other, "done"), "the other run to be done")
    assert not (store.folder_of(name) / "questions.parquet").exists()


def test_a_locked_database_and_a_server_that_is_gone_are_said_in_time(home, monkeypatch):
    database.prepare()
    other = sqlite3.connect(home / "engine.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(RunError, match=r"did not answer within 0.2 s"):
        run_queue.unfinished(within_s=0.2)
    with database.answers_within(0.3), pytest.raises(RunError, match=r"did not answer within 0.3 s"):
        database.prepare()
    other.close()
    monkeypatch.setenv("HEDGE_DATABASE_URL", "postgresql://hedge:secret@127.0.0.1:1/hedge")
    with pytest.raises(RunError, match="Connection refused") as caught:
        run_queue.unfinished()
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        (
            "HEDGE_HOME",
            "s3://bucket/hedge",
            "must be a folder that this machine has mounted, got s3://bucket/hedge; set",
        ),
        ("HEDGE_HANG_MINUTES", "0", "HEDGE_HANG_MINUTES can't be '0': .*greater than 0; correct or unset it"),
        ("HEDGE_HANG_MINUTES", "soon", "HEDGE_HANG_MINUTES can't be 'soon'"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence(home, monkeypatch, name, value, says):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=says):
        engine.statuses()


def test_a_home_that_cannot_be_written_costs_one_sentence(home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    home.mkdir()
    for name in ("agents", "runs"):  # an agent can't be started, then a run can't be created
        (home / name).write_text("a file where a folder should be")
        with pytest.raises(RunError, match=rf"home/{name}.* can't be written \(.+\); .* HEDGE_HOME"):
            engine.submit(spec(seed=1)) if name == "runs" else engine.ensure_agent()


def test_an_unknown_task_or_model_leaves_nothing_behind(home):
    for unknown in (spec(task="nothing"), spec(model="/no/such/folder")):
        with pytest.raises(InputError):
            engine.submit(unknown)
    with pytest.raises(InputError, match="there is no run"):
        engine.status("nothing")
    assert engine.statuses() == []
    assert not home.exists()


def test_a_run_that_nobody_is_at_says_so(home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    store.create(RunRecord(spec=spec(), state="running", created=1.0))
    now = engine.status(spec().run_id)
    assert (now.state, now.worker_alive) == ("failed", False)
    assert "ended before the run did" in now.message
    # Its workflow is queued, but there is no agent.
    run_queue.enqueue(spec().run_id, needs_gib=0)
    now = engine.status(spec().run_id)
    assert now.state == "queued"
    assert "no agent is running on this host" in now.message


def test_a_run_that_ends_between_two_looks_is_done(home, monkeypatch):
    """Its worker writes run.json, then DBOS learns of it; a page that looked in between must not say it had failed."""
    name = store.create(RunRecord(spec=spec(), state="running", created=1.0)).name
    database.prepare()

    def ended_meanwhile(names):
        store.update_record(name, state="done", ended=2.0)
        return {name: run_queue.QueueEntry(name, "SUCCESS", "host:cpu")}

    monkeypatch.setattr(run_queue, "entries", ended_meanwhile)
    assert engine.status(name).state == "done"


def test_a_page_that_uses_the_engine_loads_neither_torch_nor_a_running_dbos(engine_home):
    code = (
        "import sys; from core.runs import engine; assert 'dbos' not in sys.modules, 'dbos';"
        "engine.statuses(); assert not {'torch', 'transformers', 'streamlit'} & set(sys.modules), 'torch'"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    assert living(engine_home) == []
