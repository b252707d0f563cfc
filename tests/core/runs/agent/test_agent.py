"""The host agent: alone on its host, hard to kill, and gone without a trace when told to."""

import signal
import subprocess
import sys
from collections.abc import Callable

import psutil
import pytest

from core.models.devices.slots import Slot, slots
from core.processes.child import Child
from core.runs import actions, engine, store, trash
from core.runs.agent import liveness, recovery
from core.runs.agent.worker_process import AGENTS_DEVICES, environment
from core.runs.queue import run_queue
from core.runs.store import RunRecord
from core.settings import ROOT
from hedge.cli import main
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
from tests.parameters import rest_nightly
from tests.processes import kill_together, living, oom_score


def run_agent(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "core.runs.agent.host_agent", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)


def ended(process: psutil.Process) -> Callable[[], bool]:
    return lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


SIGNAL_AFTER_LOCK = """
import os, signal
from core.storage import file_lock
from core.runs.agent import host_agent, liveness

def take(path):
    lock = file_lock.take(path)
    os.kill(os.getpid(), signal.SIGINT)
    return lock

host_agent.take = take
host_agent.main()
assert not file_lock.is_held(liveness.agent_lock())
"""


def run_code(code: str, *, shell: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python code as the program of a shell that has first done what ``shell`` says."""
    command = ["sh", "-c", f'{shell}exec "$0" -c "$1"', sys.executable, code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize("shell", ["", "trap '' INT; "], ids=["plain", "ignored"])
def test_a_signal_right_after_the_agent_has_its_lock_stops_it(engine_home, shell):
    """A script's shell starts what runs behind ``&`` with SIGINT ignored."""
    stopped = run_code(SIGNAL_AFTER_LOCK, shell=shell)
    assert (stopped.returncode, stopped.stderr.endswith("stopped\n")) == (0, True), stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert living(engine_home) == []


def test_a_second_agent_is_refused_in_one_sentence(engine_home):
    engine.ensure_agent()
    first = agent_process().pid
    second = run_agent()
    assert second.returncode == 2
    assert second.stderr.strip() == (
        f"an agent already lives on this host (process {first}); end it with `kill {first}` first"
    )
    engine.ensure_agent()
    assert agent_process().pid == first
    agent_process().send_signal(signal.SIGINT)
    until(lambda: not engine.agent_alive(), "the agent to stop")
    assert (engine_home / "logs" / f"agent-{liveness.host()}.log").read_text().endswith("stopped\n")


def test_an_agent_that_is_killed_is_replaced_by_its_worker_and_nobody_need_look(engine_home, pace):
    name = engine.submit(long_spec())
    until(begun(name, done=60), "the second chunk")
    worker, agent = worker_process(), agent_process()
    nice, score = agent.nice(), oom_score(agent)
    agent.kill()
    pace(0)
    until(ended(worker), "the worker to follow")
    until(lambda: store.read_record(name).state == "done", "the run to be done")  # this starts no agent
    assert_each_question_once(name)
    successor = agent_process()
    assert successor.pid != agent.pid
    assert successor.nice() == nice < worker_process().nice()
    assert oom_score(successor) == score < oom_score(worker_process())
    assert AGENTS_DEVICES not in successor.environ()
    assert successor.environ().get("CUDA_VISIBLE_DEVICES", "") == ""


def test_a_worker_whose_agent_is_killed_starts_no_other_if_no_run_waits(engine_home):
    name = engine.submit(spec(samples=10))
    until(lambda: is_in(name, "done")() and not run_queue.unfinished(), "the run to be done")
    worker = worker_process()
    agent_process().kill()
    until(ended(worker), "the worker to follow")
    assert living(engine_home) == []


def test_when_agent_and_worker_are_killed_together_the_next_to_ask_starts_another_agent(engine_home, pace, capsys):
    name = engine.submit(long_spec())
    until(begun(name, done=60), "the second chunk")
    kill_together(agent_process())
    until(lambda: not engine.agent_alive() and not engine.status(name).worker_alive, "all to be gone")
    now = engine.status(name)
    assert now.state == "running"
    assert "no agent is running on this host" in now.message
    actions.delete(name)  # nobody executes it, so that it need not be cancelled first
    assert name not in store.run_ids()
    trash.restore(name)
    engine.resume(name)
    kill_together(agent_process())
    until(lambda: not engine.agent_alive(), "the second agent to be gone")
    assert main(["runs"]) == 0
    assert "one has been started and continues these runs" in capsys.readouterr().err
    assert engine.ensure_agent_if_needed() is False
    pace(0)
    until(is_in(name, "done"), "the run to be done")
    assert_each_question_once(name)
    assert engine.status(name).record.state == "done"


def test_an_agent_that_is_stopped_puts_its_run_back(engine_home, pace):
    name = engine.submit(long_spec())
    until(begun(name, done=60), "the second chunk")
    agent_process().terminate()
    until(lambda: not engine.agent_alive() and not living(engine_home), "all to be gone")
    now = engine.status(name)
    assert (now.state, now.tries, now.progress) == ("queued", 0, None)
    pace(0)
    engine.resume(name)
    until(is_in(name, "done"), "the run to be done")
    assert_each_question_once(name)


@pytest.mark.parametrize("database", ["", "postgresql://nobody@127.0.0.1:9/none"])
def test_an_agent_that_was_started_for_a_while_ends_with_or_without_its_database(engine_home, monkeypatch, database):
    monkeypatch.setenv("HEDGE_DATABASE_URL", database)
    ending = run_agent("0")
    assert ending.returncode == (1 if database else 0), ending.stderr
    assert "no run for 0 minutes" in ending.stderr
    assert living(engine_home) == []


@pytest.mark.parametrize("minutes", rest_nightly(["0.01", "0"], now=["0"]))
def test_workers_go_some_time_after_the_last_run_and_come_back_for_the_next(engine_home, monkeypatch, minutes):
    monkeypatch.setenv("HEDGE_WARM_MINUTES", minutes)
    executor = liveness.executor_id("cpu")
    for seed in (0, 1):
        run_id = engine.submit(spec(seed=seed, samples=20))
        until(is_in(run_id, "done"), "the run to be done")
        until(lambda: not liveness.worker_alive(executor), "its worker to go")
        assert liveness.agent_alive()
        assert_each_question_once(run_id)


def test_a_run_of_a_slot_that_is_no_more_goes_back_into_the_queue(engine_home, monkeypatch):
    """A GPU fewer after a restart: what host:gpu7 had begun would be nobody's."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", '{"hang_at": 10}')
    monkeypatch.setattr(recovery, "UNATTENDED_S", 0.0)
    name = spec().run_id
    store.create(RunRecord(spec=spec(), state="queued", created=0.0))
    run_queue.enqueue(name, needs_gib=0)
    executor = liveness.executor_id("gpu7")
    worker = Child("core.runs.agent.worker", executor, environment=environment())
    until(begun(name), "the first question")
    here = recovery.Recovery({liveness.executor_id("gpu0")})
    assert here.go_over()
    assert run_queue.entries([name])[name].status == run_queue.RUNNING  # its worker lives
    worker.end()
    assert engine.status(name).worker == executor
    assert here.go_over()
    now = run_queue.entries([name])[name]
    assert (now.status, now.tries) == ("ENQUEUED", 0)
    assert store.read_record(name).state == "queued"


def test_an_agent_whose_home_is_taken_away_ends(engine_home):
    engine.ensure_agent()
    liveness.agent_lock().unlink()
    until(lambda: not living(engine_home), "all to be gone")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("", (Slot("cpu", ""),)),
        ("-1", (Slot("cpu", ""),)),
        ("2,3", (Slot("gpu2", "2"), Slot("gpu3", "3"))),
        ("GPU-a1, GPU-b2", (Slot("gpu0", "GPU-a1"), Slot("gpu1", "GPU-b2"))),
        ("0,-1,1", (Slot("gpu0", "0"),)),
    ],
)
def test_slots_follow_the_visible_devices(monkeypatch, visible, expected):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert slots() == expected


@pytest.mark.quick
def test_a_database_file_has_one_host(home):
    """Hosts that share a database know of each other by it (tests/core/runs/queue/test_hosts.py)."""
    path = liveness.agent_lock("another-host")
    path.parent.mkdir(parents=True)
    path.touch()
    assert not liveness.any_agent_alive()
    assert not liveness.worker_alive("another-host:gpu0")
    assert not liveness.worker_alive("")
