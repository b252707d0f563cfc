"""Groups, the order of the queue, duplicates, repeats, the bin: on the real database, mostly without an agent."""

import json
import os
import shutil
import time

import pytest

from core.errors import InputError, UnreadableRunError
from core.runs import actions, engine, groups, store, trash
from core.runs.queue import run_queue
from core.runs.store import RunRecord
from core.settings import settings
from core.storage import disk
from core.storage.kept_files import kept_of
from hedge import cli
from tests.conftest import synthetic_run
from tests.core.runs.conftest import begun, is_in, long_spec, spec, until


@pytest.fixture
def no_agent(engine_home, monkeypatch):
    """A queue that nobody works off."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)


def order() -> list[str]:
    return [now.run_id for now in engine.statuses() if now.state == "queued"]


def test_the_queue_has_an_order_that_can_be_changed(no_agent):
    names = [engine.submit(spec(seed=seed)) for seed in range(4)]
    assert order() == names
    engine.put_first([names[2]])
    assert order() == [names[2], names[0], names[1], names[3]]
    engine.put_first([names[3], names[0]])
    assert order() == [names[3], names[0], names[2], names[1]]
    engine.reorder([names[1], names[0], names[3], names[2]])
    assert order() == [names[1], names[0], names[3], names[2]]
    assert run_queue.take("a:cpu", memory_gib=1) == names[1]
    engine.cancel(names[0])
    with pytest.raises(InputError, match="is cancelled; only a waiting run can be put first"):
        engine.put_first([names[0]])
    engine.reorder(names)  # the order as a page had it before the cancel
    assert run_queue.take("b:cpu", memory_gib=1) == names[2]
    assert cli.main(["first", names[3]]) == 0


def test_a_group_is_launched_cancelled_resumed_and_repeated_as_one(pace):
    specs = [long_spec(seed=seed) for seed in range(3)]
    group, outcome = actions.launch([*specs, specs[0], spec(task="nothing")], name="three seeds")
    assert group.run_ids == outcome.done == tuple(s.run_id for s in specs)
    assert next(iter(outcome.refused.values())).startswith("unknown task 'nothing'")
    assert groups.known() == [groups.read(group.id)] == [group]
    until(begun(group.run_ids[0]), "the first run")
    cancelled = actions.cancel(group.run_ids)
    assert set(cancelled.done) == set(group.run_ids)
    until(lambda: all(is_in(name, "cancelled")() for name in group.run_ids), "all to stop")
    assert not any("begins" in line for name in group.run_ids[1:] for line in store.read_log(name))
    pace(0)
    assert actions.resume(group.run_ids).done == group.run_ids
    until(lambda: all(is_in(name, "done")() for name in group.run_ids), "all to be done")
    assert list(actions.resume(group.run_ids).refused) == list(group.run_ids)
    first = {name: store.read_record(name).created for name in group.run_ids}
    assert actions.repeat(group.run_ids).done == group.run_ids
    until(lambda: all(is_in(name, "done")() for name in group.run_ids), "all to be done again")
    assert all(store.read_record(name).created > first[name] for name in group.run_ids)
    assert {each.run_id for each in trash.binned()} == set(group.run_ids)


def test_launching_what_is_done_or_waits_makes_no_group(no_agent):
    specs = [spec(seed=seed) for seed in range(2)]
    group, _ = actions.launch(specs, name="two seeds")
    again, outcome = actions.launch(specs, name="two seeds")
    assert again is None
    assert outcome.done == group.run_ids
    store.update_record(specs[0].run_id, state="done", ended=time.time())
    assert actions.launch(specs)[0] is None
    wider, _ = actions.launch([*specs, spec(seed=2)])
    assert len(wider.run_ids) == 3
    engine.cancel(specs[1].run_id)
    resumed, _ = actions.launch(specs)
    assert resumed.run_ids == group.run_ids  # a cancelled run begins again
    assert groups.known() == [resumed, wider, group]


def test_the_command_line_says_what_comes_of_a_run_that_is_asked_for_again(no_agent, capsys):
    def printed(*words: str) -> str:
        assert cli.main(["run", "--model", "fake", "--task", "qa", "--samples", "130", "--queue", *words]) == 0
        return capsys.readouterr().out

    name = spec().run_id
    assert f"{name} waits for a worker" in printed()
    store.update_record(name, state="done", ended=time.time())
    assert f"{name} has finished already" in printed()
    two_runs = printed("--seed", "0", "--strategy", "base", "task")
    assert f"{name} has finished already" in two_runs
    assert two_runs.count("waits for a worker") == 1


@pytest.mark.quick
def test_a_group_of_nothing_and_one_that_is_damaged(home):
    with pytest.raises(InputError, match="at least one run"):
        groups.create([])
    for unknown in ("", "../x", "none"):
        with pytest.raises(InputError, match="there is no group"):
            groups.read(unknown)
    group = groups.create(["a", "b"])
    path = settings().home / "groups" / f"{group.id}.json"
    path.write_text("{")
    with pytest.raises(InputError, match="its runs are not affected"):
        groups.read(group.id)
    assert groups.known() == []


def test_delete_and_have_back(no_agent, capsys):
    name = synthetic_run(seed=5)
    content = {path.name: path.read_bytes() for path in store.folder_of(name).iterdir()}
    size = sum(len(data) for data in content.values())
    assert disk.disk_use(store.folder_of(name)) == size
    assert cli.main(["delete", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"runs": [name]}
    assert name not in store.run_ids()
    with pytest.raises(InputError, match="there is no run"):
        engine.status(name)
    assert cli.main(["bin", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["run"], row["bytes"]) == (name, size)
    assert cli.main(["restore", name[:-3]]) == 0
    assert {path.name: path.read_bytes() for path in store.folder_of(name).iterdir()} == content
    actions.delete(name)
    synthetic_run(seed=5)
    with pytest.raises(InputError, match="was made again since"):
        trash.restore(name)
    actions.delete(name)
    assert len(trash.binned()) == 2
    trash.restore(name)
    assert len(trash.binned()) == 1
    capsys.readouterr()
    assert cli.main(["bin", "--empty"]) == 0
    assert "1 deleted runs were removed for good" in capsys.readouterr().out
    with pytest.raises(InputError, match="there is no deleted run"):
        trash.restore(name)


def test_what_can_not_be_deleted(no_agent, monkeypatch):
    waiting = engine.submit(spec())
    actions.delete(waiting)  # which is taken out of the queue first
    assert run_queue.entries([waiting])[waiting].status == run_queue.CANCELLED
    assert run_queue.unfinished() == {}
    assert engine.submit(spec()) == waiting  # a second time
    assert order() == [waiting]
    name = engine.submit(spec(seed=1))
    run_queue.take("elsewhere:cpu", memory_gib=1)
    store.create(RunRecord(spec=spec(seed=1), state="running", created=0.0))
    monkeypatch.setattr(engine.states, "is_executed", lambda record, entry: True)
    monkeypatch.setattr(engine.states, "judge", lambda record, entry, *, held: ("running", ""))
    with pytest.raises(InputError, match="is running; cancel it first"):
        actions.delete(name)


@pytest.mark.quick
def test_a_bundled_run_stays(home):
    bundled = [name for name in store.run_ids() if store.is_bundled(name)]
    with pytest.raises(InputError, match="ships with Hedge"):
        actions.delete(bundled[0])


@pytest.mark.quick
def test_a_damaged_copy_of_a_bundled_run_can_be_deleted(no_agent):
    bundled = next(name for name in store.run_ids() if store.is_bundled(name))
    copied = shutil.copytree(store.folder_of(bundled), settings().runs / bundled)
    (copied / "run.json").unlink()
    with pytest.raises(UnreadableRunError, match=f"run {bundled} is damaged, because its run.json is missing; delete"):
        store.read_record(bundled)
    assert not store.is_bundled(bundled)
    actions.delete(bundled)
    assert store.is_bundled(bundled)
    assert store.read_record(bundled).state == "done"


def test_the_bin_is_emptied_of_what_is_a_week_old(home):
    old, new = synthetic_run(seed=1), synthetic_run(seed=2)
    for name in (old, new):
        kept_of(name)[0].parent.mkdir(parents=True, exist_ok=True)
        kept_of(name)[0].write_text("figures of the run")
        trash.put_in_bin(store.folder_of(name))
    folder = next(each.folder for each in trash.binned() if each.run_id == old)
    week_ago = time.time() - trash.KEEP_S - 60
    os.rename(folder, folder.with_name(f"{old}@{int(week_ago * 1000)}"))
    trash.empty_bin(older_than_s=trash.KEEP_S)
    assert [each.run_id for each in trash.binned()] == [new]
    assert [kept_of(name)[0].exists() for name in (old, new)] == [False, True]
