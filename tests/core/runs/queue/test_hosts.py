"""Many hosts over one Postgres: agents under different names share the work, and take over from each other."""

import gc
import json
import signal

import pytest

from core.errors import RunBusyError, RunError
from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.queue import hosts
from core.storage import database, file_lock
from core.storage.tables import finished_chunks
from tests.core.conftest import FAKE_NVML
from tests.core.runs.conftest import (
    agent_of,
    assert_each_question_once,
    begun,
    is_in,
    long_spec,
    spec,
    until,
)
from tests.parameters import rest_nightly
from tests.processes import kill_together, suspended


@pytest.fixture(autouse=True)
def no_agent_of_this_host(monkeypatch):
    """The page's own host starts no agent in these tests: the hosts are a and b."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)


def begins(run_id: str) -> list[str]:
    """The executors that began a run, in order."""
    return [line.split(" ", 2)[2].split(" begins")[0] for line in store.read_log(run_id) if " begins: " in line]


@pytest.mark.nightly
def test_short_runs_spread_over_two_hosts_and_each_is_done_once(shared_home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 1}))
    names = [engine.submit(spec(seed=seed, samples=10)) for seed in range(12)]
    with agent_of("a"), agent_of("b"):
        until(lambda: all(is_in(name, "done")() for name in names), "all runs to be done", within_s=90)
    executors = [begins(name) for name in names]
    assert all(len(each) == 1 for each in executors)
    assert {each[0] for each in executors} == {"a:cpu", "b:cpu"}
    for name in names:
        assert_each_question_once(name)


def test_a_run_of_a_killed_host_goes_on_at_another(shared_home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 1}))
    name = engine.submit(spec())
    with agent_of("a", HEDGE_FAKE_ENGINE=json.dumps({"ms": 1, "hang_at": 60})) as a:
        # The worker stops in the second chunk. Its progress file may be older: it is written ten times a second.
        until(lambda: finished_chunks(store.folder_of(name)) == [0], "the first chunk")
        with agent_of("b"):
            assert engine.status(name).worker == "a:cpu"
            with pytest.raises(RunBusyError, match="is running on a:cpu; wait for it, or cancel it first"):
                engine.check_free(name)
            kill_together(a)
            gone = "Its host a is gone; another host"
            until(lambda: engine.status(name).message.startswith(gone) or len(begins(name)) == 2, "the page")
            until(lambda: len(begins(name)) == 2, "the other host to begin")
            engine.check_free(spec(seed=99).run_id)  # nobody is at what there is not
            until(is_in(name, "done"), "the run to be done")
    assert begins(name) == ["a:cpu", "b:cpu"]
    assert_each_question_once(name)
    assert "continues after 50 questions" in "\n".join(store.read_log(name))


@pytest.mark.nightly
def test_a_host_that_was_cut_off_and_comes_back_writes_nothing_more_of_a_run_it_has_lost(shared_home, pace):
    name = engine.submit(long_spec())
    with agent_of("a") as a:
        until(begun(name, done=60), "the second chunk")
        stopped = suspended(a)
        with agent_of("b"):
            until(lambda: len(begins(name)) == 2, "the other host to begin")
            before = len(store.read_log(name))
            for process in stopped:
                process.resume()
            until(is_in(name, "done"), "the run to be done")
            log = (shared_home / "logs" / "worker-a-cpu.log").read_text
            until(lambda: "was given to another worker" in log(), "the worker of a to see that it has lost the run")
            logged = store.read_log(name)[before:]
            assert not [line for line in logged if "a:cpu" in line or "cancelled" in line or "failed" in line]
            # The host that was back takes the next run like any other.
            others = [engine.submit(spec(seed=seed, samples=60)) for seed in (1, 2)]
            until(lambda: all(is_in(other, "done")() for other in others), "the next runs")
            assert {begins(other)[0] for other in others} == {"a:cpu", "b:cpu"}
    assert begins(name) == ["a:cpu", "b:cpu"]
    assert_each_question_once(name)


@pytest.mark.nightly
def test_a_run_goes_only_where_its_memory_is(shared_home, monkeypatch):
    """Two hosts, one of whose GPUs is too small; the small run behind the large one does not wait for it."""
    small, large = ({"HEDGE_TEST_GPUS": json.dumps([gib])} for gib in (16, 80))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with agent_of("small", **fake_nvml(small)):
        until(lambda: "small" in hosts.alive(), "its heart")
        monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 1, "needs_gib": 40}))
        monkeypatch.setattr(engine, "check_fits", lambda spec, source: 40.0)
        heavy = engine.submit(spec(samples=10))
        monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 1, "needs_gib": 2}))
        monkeypatch.setattr(engine, "check_fits", lambda spec, source: 2.0)
        light = engine.submit(spec(samples=10, seed=1))
        until(is_in(light, "done"), "the small run")
        now = engine.status(heavy)
        assert now.state == "queued"
        assert "needs about 40.0 GiB, and the largest device" in now.message
        with agent_of("large", **fake_nvml(large)):
            until(is_in(heavy, "done"), "the large run")
    assert begins(heavy) == ["large:gpu0"]


def fake_nvml(variables: dict[str, str]) -> dict[str, str]:
    return variables | {"PYTHONPATH": str(FAKE_NVML)}


# Of the connections that a killed server leaves, not all are closed by the libraries that opened them.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_database_that_comes_back_has_lost_and_repeated_nothing(shared_home, postgres, pace):
    name = engine.submit(long_spec())
    with agent_of("a"):
        until(begun(name, done=20), "the first chunk")
        postgres.kill()
        with pytest.raises(RunError, match=r"the run database postgresql://.* can't be used|did not answer"):
            engine.status(name)
        postgres.start()
        pace(0)
        until(is_in(name, "done"), "the run to be done")
    assert begins(name) == ["a:cpu"]
    assert_each_question_once(name)
    database.forget()
    gc.collect()


@pytest.mark.quick
def test_a_watch_goes_by_what_it_sees_and_not_by_clocks(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(hosts.time, "monotonic", lambda: now[0])
    watch = hosts.HostWatch()

    def after(seconds, **counts):
        now[0] += seconds
        return watch.dead(counts)

    assert after(0, a=1, b=1) == set()
    assert after(2, a=2, b=1) == set()
    assert after(2, a=3, b=1) == set()
    assert after(1, a=4, b=1) == {"b"}
    assert after(1, a=5, b=2) == set()  # and is back
    assert after(60, a=5, b=2) == set()  # nobody looked, as when the database was gone
    assert after(2, a=6, b=2) == set()
    assert after(2, a=7, b=2) == set()
    assert after(1, a=8) == set()  # left in good order


@pytest.mark.quick
def test_a_watch_that_always_comes_late_finds_the_dead_at_last(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(hosts.time, "monotonic", lambda: now[0])
    watch = hosts.HostWatch()
    for count in range(10):
        now[0] += 4
        assert watch.dead({"a": count, "b": 1}) == set()
    now[0] += 4
    assert watch.dead({"a": 10, "b": 1}) == {"b"}


@pytest.mark.parametrize("kind", rest_nightly(["file", "server"], now=["file"]))
def test_many_processes_that_come_at_once_make_the_tables_once(kind, engine_home, postgres, monkeypatch):
    import subprocess
    import sys

    from core.settings import ROOT

    if kind == "server":
        monkeypatch.setenv("HEDGE_DATABASE_URL", postgres.new_database())
    code = "from core.storage import database; database.prepare(within_s=60)"
    started = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(4)]
    assert [process.wait(60) for process in started] == [0, 0, 0, 0]


def test_an_agent_that_is_stopped_says_that_it_has_left(shared_home):
    with agent_of("a") as agent:
        until(lambda: hosts.alive() == {"a"}, "its heart to beat")
        assert liveness.any_agent_alive()
        assert liveness.worker_alive("a:cpu")
        agent.send_signal(signal.SIGTERM)
        until(lambda: not file_lock.is_held(liveness.agent_lock("a")), "the agent to stop")
        assert hosts.ages() == {}
