"""Eight CPU slots pose as GPUs, and each run sees exactly its own."""

import json

import pytest

from core.errors import InputError
from core.models.devices.slots import Slot, default_dtype, host_memory_gib, slots
from core.runs import engine, store
from core.runs.agent import host_reports, liveness
from core.runs.agent.worker_process import WorkerProcess
from core.runs.prompts import Combination
from core.runs.queue import run_queue
from hedge.commands.run_words import run_words
from tests.core.conftest import FAKE_NVML
from tests.core.runs.conftest import agent_of, is_in, spec, until


@pytest.mark.quick
def test_slots_know_their_memory(eight, monkeypatch):
    named_slots = slots()
    assert [(slot.name, slot.memory_gib) for slot in named_slots][-2:] == [("gpu6", 80.0), ("gpu7", 80.0)]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-00000004,2")
    assert [(slot.name, slot.devices, slot.memory_gib) for slot in slots()] == [
        ("gpu0", "GPU-00000004", 40.0),
        ("gpu2", "2", 24.0),
    ]


@pytest.mark.nightly
def test_each_of_eight_runs_sees_exactly_its_device(engine_home, monkeypatch):
    """The workers' own environment is read, as the operating system has it."""
    import psutil

    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 1000}))  # none is done before the last has begun
    names = [engine.submit(spec(seed=seed)) for seed in range(8)]
    variables = {"HEDGE_TEST_GPUS": json.dumps([16] * 8), "PYTHONPATH": str(FAKE_NVML)}
    with agent_of(liveness.host(), CUDA_VISIBLE_DEVICES="0,1,2,3,4,5,6,7", **variables) as agent:
        until(lambda: len(at_work()) == 8, "all eight to be running")
        now = at_work()
        assert sorted(now) == sorted(names)
        assert sorted(now.values()) == sorted(liveness.executor_id(f"gpu{i}") for i in range(8))
        seen = {}
        for child in agent.children():
            if "core.runs.agent.worker" in child.cmdline():
                seen[child.cmdline()[-2]] = psutil.Process(child.pid).environ()["CUDA_VISIBLE_DEVICES"]
        assert seen == {liveness.executor_id(f"gpu{i}"): str(i) for i in range(8)}
        latest = until(host_reports.latest_metrics, "what the GPUs say")
        assert latest[liveness.executor_id("gpu3")].celsius == 43
        assert [slot.memory_gib for slot in host_reports.published_slots()[liveness.host()]] == [16.0] * 8
        for name in names:
            engine.cancel(name)
        until(lambda: all(is_in(name, "cancelled")() for name in names), "all runs to be cancelled", within_s=90)


def at_work() -> dict[str, str]:
    return {
        name: entry.executor
        for name, entry in run_queue.unfinished().items()
        if liveness.busy_with(entry.executor) == name
    }


@pytest.mark.quick
def test_a_worker_waits_until_the_dead_ones_memory_is_free(eight, home, monkeypatch):
    worker = WorkerProcess(Slot("gpu0", "0"))
    worker.died, worker._used_gib = 1e12, 1.0
    assert worker._is_freed()
    worker._used_gib = 0.1  # GPU 0 says 1 GiB is in use, and there was less before the dead one began
    assert not worker._is_freed()
    worker.died = 0.0  # long ago: its holder will not give it back
    assert worker._is_freed()


def test_a_model_too_large_for_any_device_is_refused_in_one_sentence(engine_home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"needs_gib": 1e5}))
    with pytest.raises(InputError, match=r"needs about 100000.0 GiB, and the largest device, CPU, has \d+"):
        engine.submit(spec())
    assert store.run_ids() == [name for name in store.run_ids() if store.is_bundled(name)]


@pytest.mark.quick
def test_bfloat16_is_the_default_where_all_gpus_compute_in_it(eight, monkeypatch):
    assert default_dtype() == "float32"  # Turing
    combination = Combination(("pocket-1m",), ("qa",))
    assert "--dtype" not in run_words(combination)
    monkeypatch.setenv("HEDGE_TEST_CAPABILITY", "[9, 0]")
    assert default_dtype() == "bfloat16"
    assert run_words(combination)[-2:] == ("--dtype", "float32")  # a choice is named if it is not the default
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert default_dtype() == "float32"


@pytest.mark.quick
def test_the_memory_that_slurm_gave_a_job_is_what_there_is(monkeypatch):
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "2048")
    assert host_memory_gib() == 2.0
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "")
    assert host_memory_gib() > 2.0


def test_a_named_device_takes_the_run_and_no_other_does(engine_home, monkeypatch):
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    monkeypatch.setattr(engine, "check_fits", lambda spec, source: 0.0)
    name = engine.submit(spec(device="cuda:1"))
    assert store.read_record(name).spec.device == "cuda:1"
    assert spec(device="cuda:1").run_id == spec().run_id  # how a run is executed is no part of what it is
    assert run_queue.entries([name])[name].slot == "gpu1"
    assert run_queue.take("a:gpu0", memory_gib=80) == ""
    assert run_queue.take("a:gpu1", memory_gib=80) == name
