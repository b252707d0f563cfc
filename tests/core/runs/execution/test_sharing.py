"""One run's questions on several devices: real processes with the fake engine, whose GPUs are a stand-in's, and one
real model on two processes of the processor."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest

from core.errors import InputError, RunCancelled
from core.models.devices import scorers, shared_scoring
from core.models.devices import sharing as device_sharing
from core.questions import bank
from core.runs import engine, store
from core.runs.execution import execute as module
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import ROOT, settings
from core.storage.tables import finished_chunks
from tests.conftest import synthetic_questions
from tests.core.conftest import FAKE_NVML
from tests.core.runs.conftest import assert_each_question_once, until
from tests.processes import oom_score

SPEC = RunSpec(model="fake", task="qa", samples=130)
SHARED = replace(SPEC, device="cuda:0,cuda:1")


@pytest.fixture
def two(home, monkeypatch):
    """Two GPUs and the fake engine. Returns what sets its options for the scorer. This process's engine takes ``here``
    milliseconds a question, so that even a scorer on a busy machine gets its share, and neither dies nor hangs."""
    monkeypatch.setenv("HEDGE_TEST_GPUS", "[16, 16]")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.syspath_prepend(str(FAKE_NVML))
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    real = module.load_engine

    def options(here=20, **values):
        monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps(values))

        def load(*args, **kwargs):
            engine = real(*args, **kwargs)
            for name in ("die_at", "hang_at"):
                setattr(engine, name, -1)
            engine.ms = here
            return engine

        monkeypatch.setattr(module, "load_engine", load)

    options()
    device_sharing.first_reading.cache_clear()
    yield options
    device_sharing.first_reading.cache_clear()
    sys.modules.pop("pynvml", None)
    assert not scorer_processes()


def scorer_processes() -> list[psutil.Process]:
    """The scorers that run below this process. Another test's child may be dead and not yet reaped: it has no command
    line."""
    running = []
    for process in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if "core.models.scorer_process" in process.cmdline():
                running.append(process)
    return running


def alone(two, monkeypatch, tmp_path):
    """The bytes of the logits that one device gives."""
    two(here=0)
    with monkeypatch.context() as other:
        other.setenv("HEDGE_HOME", str(tmp_path / "alone"))
        execute(replace(SPEC, device="cuda:0"))
        return logits_file()


def logits_file():
    return (settings().runs / SPEC.run_id / "logits.parquet").read_bytes()


def left() -> str:
    """Why a scorer left, as the log says it."""
    return next(line for line in store.read_log(SPEC.run_id) if " left: " in line).partition(" left: ")[2]


def test_two_devices_share_a_run_and_its_file_is_that_of_one(two, monkeypatch, tmp_path):
    two(here=40)
    seen = []
    name = execute(SHARED, on_progress=seen.append)
    record = store.read_record(name)
    by_device = record.provenance["devices"]
    assert sorted(by_device) == ["cuda:0", "cuda:1"]
    assert sum(by_device.values()) == 130
    # The forecast takes the rate of one device from it.
    assert record.provenance["scored"]["questions"] == by_device["cuda:0"]
    assert any(line.endswith("Z cuda:1 scores questions of this run, too") for line in store.read_log(name))
    assert seen[-1].stage == "scoring on 2 devices"
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert (seen[-1].done, seen[-1].total) == (130, 130)
    assert_each_question_once(name)
    assert logits_file() == alone(two, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"die_at": 12},
            "its process was killed by signal 9 (SIGKILL), perhaps because memory ran out; cuda:0 scores what",
        ),
        ({"die_at": 2}, "its process was killed by signal 9"),
    ],
)
def test_a_scorer_that_is_killed_leaves_its_batches_to_the_other_device(two, monkeypatch, tmp_path, options, reason):
    two(**options)
    name = execute(SHARED)
    assert left().startswith(reason)
    assert store.read_record(name).state == "done"
    assert_each_question_once(name)
    assert logits_file() == alone(two, monkeypatch, tmp_path)


def test_a_scorer_that_hangs_keeps_nobody_waiting(two, monkeypatch, tmp_path):
    two(hang_at=17)  # for a minute, for which no test waits
    monkeypatch.setattr(shared_scoring, "SILENT_S", 0.0)
    name = execute(SHARED)
    log_lines = [line for line in store.read_log(name) if "cuda:1 has not answered for" in line]
    assert len(log_lines) == 1
    assert log_lines[0].endswith("; cuda:0 scored what it had")
    assert logits_file() == alone(two, monkeypatch, tmp_path)


def test_a_scorer_that_can_not_load_says_why_and_the_run_goes_on(two, monkeypatch, tmp_path):
    monkeypatch.setattr(scorers, "canonical", lambda model: "/no/such/model")
    name = execute(SHARED)
    assert left().startswith("there is no folder '/no/such/model'; give a folder with a model")
    assert "devices" not in store.read_record(name).provenance
    assert logits_file() == alone(two, monkeypatch, tmp_path)


def test_a_failure_of_the_first_device_fails_the_run_with_its_sentence(two, monkeypatch):
    real = module.load_engine

    def broken(*args, **kwargs):
        engine = real(*args, **kwargs)
        engine.score = lambda prompts: iter([][1])
        return engine

    monkeypatch.setattr(module, "load_engine", broken)
    with pytest.raises(Exception, match="the run stopped with IndexError: list index out of range"):
        execute(SHARED)
    assert store.read_record(SPEC.run_id).state == "failed"


def test_a_cancelled_run_ends_its_scorers_and_one_device_continues_it(two, monkeypatch, tmp_path):
    folder = settings().runs / SPEC.run_id
    with pytest.raises(RunCancelled):
        execute(SHARED, cancelled=lambda: bool(finished_chunks(folder)))
    assert not scorer_processes()
    assert store.read_record(SPEC.run_id).state == "cancelled"
    name = execute(replace(SPEC, device="cuda:0"))
    assert any("continues after" in line for line in store.read_log(name))
    assert logits_file() == alone(two, monkeypatch, tmp_path)


def test_a_killed_command_takes_its_scorers_along_and_is_continued(two, monkeypatch, tmp_path):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 30}))
    words = ("run", "--model", "fake", "--task", "qa", "--samples", "130", "--device", SHARED.device)
    command = subprocess.Popen(
        [sys.executable, "-m", "core", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(FAKE_NVML)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def scorers_at_work() -> list[psutil.Process]:
        begun = finished_chunks(settings().runs / SPEC.run_id) and command.poll() is None
        return psutil.Process(command.pid).children() if begun else []

    try:
        below = until(scorers_at_work, "a chunk that the command and its scorer have scored")
        assert all(oom_score(process) > oom_score(psutil.Process(command.pid)) for process in below)
        command.send_signal(signal.SIGKILL)
        command.wait()
        psutil.wait_procs(below, timeout=20)
        assert not any(process.is_running() for process in below)
    finally:
        command.kill()
        command.wait()
    assert store.read_record(SPEC.run_id).state == "running"
    execute(replace(SPEC, device="cuda:1"))
    assert any("continues after" in line for line in store.read_log(SPEC.run_id))
    assert logits_file() == alone(two, monkeypatch, tmp_path)


def test_a_long_run_takes_the_free_devices_by_itself_and_a_short_one_does_not(two, monkeypatch):
    monkeypatch.setattr(device_sharing, "IDLE_LOAD", 0.2)  # the second GPU of the stand-in computes 10% of the time
    monkeypatch.setattr(shared_scoring, "LEAST_S", 600.0)
    name = execute(SPEC)
    assert "devices" not in store.read_record(name).provenance
    assert not any("load the model too" in line for line in store.read_log(name))
    monkeypatch.setattr(shared_scoring, "LEAST_S", 1.0)
    monkeypatch.setattr(shared_scoring, "WORTH", 0.0)
    two(here=300)  # 39 s on one device; the scorer needs none as soon as it is there
    name = execute(replace(SPEC, seed=1))
    assert any("s on one device, and loading took" in line for line in store.read_log(name))
    by_device = store.read_record(name).provenance["devices"]
    assert by_device["cuda:1"] > 0
    assert sum(by_device.values()) == 130


def test_a_queued_run_takes_no_list_of_devices(two):
    with pytest.raises(InputError, match=r"takes one device.*got cuda:0,cuda:1; name one device, or execute"):
        engine.submit(SHARED)
    assert not settings().runs.exists()


def test_a_real_model_in_two_processes_gives_the_file_of_one(home, monkeypatch, tmp_path):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(90))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    import torch

    torch.set_num_threads(1)
    spec = RunSpec(model="pocket-1m", task="qa", shots=2, form="cloze", device="cpu,cpu")
    name = execute(spec)
    assert any(line.endswith("Z cpu 2 scores questions of this run, too") for line in store.read_log(name))
    files = [(settings().runs / name / part).read_bytes() for part in ("logits.parquet", "bare.parquet")]
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "alone"))
    execute(replace(spec, device="cpu"))
    assert [(settings().runs / name / part).read_bytes() for part in ("logits.parquet", "bare.parquet")] == files
