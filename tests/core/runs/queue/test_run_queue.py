"""The queue as DBOS keeps it: on a database file and on Postgres, mostly without workers."""

import pytest
import sqlalchemy as sa

from core.errors import RunError, RunLostError
from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.agent.recovery import Recovery
from core.runs.queue import run_queue
from core.runs.queue.run_queue import Lease, QueueEntry
from core.runs.store import RunRecord
from core.storage import database
from core.storage.atomic import guarded
from tests.core.runs.conftest import agent_of, assert_each_question_once, spec, until


@pytest.fixture(params=["file", "server"])
def queue(request, monkeypatch):
    """A database of either kind, and a queue that nobody works off."""
    request.getfixturevalue("engine_home" if request.param == "file" else "shared_home")
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    return request.param


def begin(run_id: str, executor: str) -> Lease:
    """What an executor's DBOS does with a run that the executor has taken."""
    from core.storage.database.tables import workflows

    row = workflows.c
    own = sa.and_(row.workflow_uuid == run_id, row.queue_name == run_queue.queue_of(executor), row.status == "ENQUEUED")
    # The executor's id is a column of DBOS's that Hedge never writes.
    started = sa.text("UPDATE {} SET executor_id = :executor WHERE workflow_uuid = :run_id")
    values = {"status": "PENDING", "recovery_attempts": row.recovery_attempts + 1}

    def work(connection: sa.Connection) -> int:
        name = "dbos.workflow_status" if database.is_shared() else "workflow_status"
        connection.execute(sa.text(started.text.format(name)), {"executor": executor, "run_id": run_id})
        return connection.execute(workflows.update().where(own).values(values)).rowcount

    assert database.transact(work) == 1
    return Lease(run_id, executor, entry(run_id).tries)


def entry(run_id: str) -> QueueEntry:
    return run_queue.entries([run_id])[run_id]


def test_a_run_is_taken_once_by_a_worker_whose_device_can_hold_it(queue):
    name = spec().run_id
    run_queue.enqueue(name, needs_gib=4)
    run_queue.enqueue(name, needs_gib=4)
    assert run_queue.take("a:gpu0", memory_gib=3.9) == ""
    assert run_queue.take("a:gpu0", memory_gib=4) == name
    assert run_queue.take("a:gpu0", memory_gib=4) is None  # it has one already
    assert run_queue.take("b:gpu0", memory_gib=80) == ""
    taken = entry(name)
    assert (taken.status, taken.holder, taken.tries, taken.needs_gib) == ("ENQUEUED", "a:gpu0", 0, 4)


def test_the_small_run_behind_a_large_one_does_not_wait_for_it(queue):
    large, small = spec(seed=1).run_id, spec(seed=2).run_id
    run_queue.enqueue(large, needs_gib=40)
    run_queue.enqueue(small, needs_gib=2)
    assert run_queue.take("a:gpu0", memory_gib=16) == small
    assert run_queue.take("b:gpu0", memory_gib=80) == large


def test_a_lease_ends_when_the_run_changes_hands(queue):
    name = spec().run_id
    run_queue.enqueue(name, needs_gib=0)
    run_queue.take("a:cpu", memory_gib=1)
    first = begin(name, "a:cpu")
    assert first.is_wanted()
    first.confirm()
    seen = entry(name)
    assert (seen.holder, seen.tries) == ("a:cpu", 1)
    assert run_queue.put_back(seen, fresh=False)
    assert not run_queue.put_back(seen, fresh=False)  # a second host that saw the same
    assert not first.is_wanted()
    assert entry(name).holder == ""
    assert run_queue.take("b:cpu", memory_gib=1) == name
    second = begin(name, "b:cpu")
    assert second.tries == 2
    assert not run_queue.put_back(seen, fresh=False)  # a third, later
    assert second.is_wanted()
    assert not first.is_wanted()
    if queue == "server":
        second.confirm()
        with pytest.raises(RunLostError, match="was given to another worker"):
            first.confirm()


def test_a_cancelled_run_may_say_so_but_not_once_it_was_asked_for_again(queue):
    name = spec().run_id
    run_queue.enqueue(name, needs_gib=0)
    run_queue.take("a:cpu", memory_gib=1)
    lease = begin(name, "a:cpu")
    run_queue.cancel(name)
    assert not lease.is_wanted()
    lease.confirm()
    run_queue.enqueue(name, needs_gib=0)
    assert (entry(name).status, entry(name).tries) == ("ENQUEUED", 0)
    assert not lease.is_wanted()
    if queue == "server":
        with pytest.raises(RunLostError):
            lease.confirm()


def test_what_has_lost_its_run_writes_no_lasting_file(shared_home):
    record = RunRecord(spec=spec(), state="running", created=0.0)
    folder = store.create(record)
    run_queue.enqueue(record.run_id, needs_gib=0)
    run_queue.take("a:cpu", memory_gib=1)
    with guarded(begin(record.run_id, "a:cpu").confirm):
        store.update_record(record.run_id, message="mine")
        run_queue.put_back(entry(record.run_id), fresh=False)
        with pytest.raises(RunLostError):
            store.update_record(record.run_id, message="no longer")
        with pytest.raises(RunLostError):
            store.write_questions(folder, [], [])
    assert store.read_record(record.run_id).message == "mine"
    assert [path.name for path in folder.iterdir()] == ["run.json"]


def test_a_run_asked_for_again_waits_at_the_end_and_one_put_back_in_its_place(queue):
    first, second, third = (engine.submit(spec(seed=seed)) for seed in range(3))
    engine.cancel(first)
    engine.resume(first)
    assert list(run_queue.unfinished()) == [second, third, first]
    assert run_queue.take("a:cpu", memory_gib=1) == second
    assert run_queue.put_back(entry(second), fresh=True)
    assert list(run_queue.unfinished()) == [second, third, first]
    run_queue.reorder([first])
    assert list(run_queue.unfinished()) == [first, second, third]
    assert [now.run_id for now in engine.statuses()] == [first, second, third]


@pytest.mark.parametrize("state", ["done", "failed", "paused"])
def test_a_run_that_has_ended_does_not_wait_again_when_its_agent_is_stopped(queue, state):
    """Its worker was ended after it had written how the run ended and before DBOS knew of it."""
    name = engine.submit(spec())
    executor = f"{liveness.host()}:cpu"
    run_queue.take(executor, memory_gib=1)
    begin(name, executor)
    store.end(name, state, "as it was")
    Recovery({executor}).put_back_own()
    assert list(run_queue.unfinished()) == []
    assert (store.read_record(name).state, engine.status(name).state) == (state, state)
    assert store.read_record(name).message == "as it was"
    if state != "done":
        engine.resume(name)
        assert list(run_queue.unfinished()) == [name]


def test_the_run_of_a_dead_host_waits_again_before_and_after_it_began(shared_home, monkeypatch):
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    name = engine.submit(spec())
    watcher = Recovery(frozenset())
    monkeypatch.setattr(watcher.watch, "dead", lambda counts: {"gone"})
    run_queue.take("gone:cpu", memory_gib=1)
    assert watcher.take_from_dead_hosts() == [name]
    assert watcher.take_from_dead_hosts() == []
    assert entry(name).tries == 0  # it had not begun
    run_queue.take("gone:cpu", memory_gib=1)
    begin(name, "gone:cpu")
    assert watcher.take_from_dead_hosts() == [name]
    now = entry(name)
    assert (now.status, now.holder, now.tries) == ("ENQUEUED", "", 1)
    assert now.death == "lost with its host gone, which is gone"
    assert "worker gone:cpu was lost with its host gone" in store.read_log(name)[-1]


def test_a_run_that_loses_its_hosts_is_continued_by_the_next(shared_home, monkeypatch):
    """Four hosts, one after another, begin it and are gone, which is no fault of the run."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    name = engine.submit(spec())
    watcher = Recovery(frozenset())
    monkeypatch.setattr(watcher.watch, "dead", lambda counts: {"gone"})
    for _ in range(4):
        assert run_queue.take("gone:cpu", memory_gib=1) == name
        begin(name, "gone:cpu")
        assert watcher.take_from_dead_hosts() == [name]
    with agent_of("a"):
        until(lambda: engine.status(name).ended, "the run to end")
    assert engine.status(name).state == "done"
    assert_each_question_once(name)


def test_a_database_of_a_newer_hedge_is_refused_in_one_sentence(shared_home):
    from core.storage.database import tables

    database.prepare()
    database.transact(lambda connection: connection.execute(sa.update(tables.schema).values(version=99)))
    database.forget()
    with pytest.raises(RunError, match=r"made by a newer Hedge \(its schema is 99, this one knows 2\); update Hedge"):
        engine.submit(spec())
    assert not (shared_home / "runs").exists()


OLD = (
    "CREATE TABLE hedge_queue (run_id TEXT PRIMARY KEY, place FLOAT, needs_gib FLOAT NOT NULL, executor TEXT NOT NULL, "
    "epoch INTEGER NOT NULL, losses INTEGER NOT NULL)",
    "UPDATE hedge_schema SET version = 1",
)
"""A database of schema 1: every run waits in DBOS's queue too, but knows neither its place nor its memory there."""


def test_runs_that_waited_in_a_database_of_schema_1_keep_their_order_and_memory(queue):
    names = [engine.submit(spec(seed=seed)) for seed in range(4)]
    places = {names[0]: 3.0, names[1]: -1.0, names[2]: 2.5}  # the last has none: it ended
    needs = {names[1]: 40.0}
    engine.cancel(names[3])

    def make_old(connection: sa.Connection) -> None:
        prefix = "dbos." if database.is_shared() else ""
        for statement in (*OLD, f"UPDATE {prefix}workflow_status SET priority = 0, attributes = NULL"):
            connection.execute(sa.text(statement))
        row = sa.text("INSERT INTO hedge_queue VALUES (:run, :place, :needs, '', 1, 0)")
        for name in names:
            connection.execute(row, {"run": name, "place": places.get(name), "needs": needs.get(name, 2.0)})

    database.transact(make_old)
    database.forget()
    assert list(run_queue.unfinished()) == [names[1], names[2], names[0]]
    assert run_queue.take("a:gpu0", memory_gib=16) == names[2]
    assert run_queue.take("b:gpu0", memory_gib=80) == names[1]
    database.forget()  # and it is brought up to date once
    assert entry(names[0]).priority == 3
    later = engine.submit(spec(seed=9))
    assert list(run_queue.unfinished())[-1] == later
