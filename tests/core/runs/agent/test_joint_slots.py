"""Runs that need several devices. GPUs are simulated by a stand-in for NVIDIA's library (tests/core/fake_nvml)."""

import json

import psutil
import pytest

from core.models.devices.slots import Slot
from core.runs import engine
from core.runs.agent import liveness
from core.runs.agent.joint_slots import JointSlots
from core.runs.agent.worker_process import ASKED, WorkerProcess
from core.runs.queue.run_queue import QueueEntry
from tests.core.conftest import FAKE_NVML
from tests.core.runs.conftest import agent_of, assert_each_question_once, is_in, spec, until

GIB_OF_70B = {"float32": 315.9, "bfloat16": 158.2, "int8": 87.2, "int4": 51.8}


def eight() -> JointSlots:
    """Workers of eight devices of 79.6 GiB, without a started process."""
    return JointSlots([WorkerProcess(Slot(f"gpu{i}", str(i), 79.6, "H100")) for i in range(8)])


def waits(run_id: str, needs_gib: float, slot: str = "") -> QueueEntry:
    return QueueEntry(run_id, "ENQUEUED", queue="runs", needs_gib=needs_gib, slot=slot)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("dtype", "devices"), [("float32", "0,1,2,3,4"), ("bfloat16", "0,1,2"), ("int8", "0,1"), ("int4", "")]
)
def test_70_b_takes_as_many_of_eight_as_it_needs(dtype, devices):
    slots = eight()
    slots.arrange([waits("large", GIB_OF_70B[dtype]), *(waits(f"small{i}", 2) for i in range(20))])
    assert [worker.slot.devices for worker in slots.joint] == [devices] * bool(devices)
    assert all(worker.wanted and not worker.joining for worker in slots.joint)  # nobody was using its devices
    resting = ",".join(worker.slot.devices for worker in slots.singles if worker.resting)
    assert resting == devices  # the others go on


@pytest.mark.quick
@pytest.mark.parametrize(
    ("small", "large", "joint"),
    [
        (0, 3, ["gpu0-gpu1-gpu2", "gpu3-gpu4-gpu5"]),  # the third waits
        (6, 1, []),  # runs that wait before it get their devices first
        (5, 1, ["gpu0-gpu1-gpu2"]),
    ],
)
def test_large_runs_get_what_the_runs_before_them_leave(small, large, joint):
    slots = eight()
    slots.arrange([*(waits(f"small{i}", 2) for i in range(small)), *(waits(f"large{i}", 158.2) for i in range(large))])
    assert [worker.slot.name for worker in slots.joint] == joint


@pytest.mark.quick
def test_what_no_devices_hold_or_a_named_one_must_hold_joins_none():
    slots = eight()
    slots.arrange([waits("too large", 900), waits("named", 158.2, "gpu1")])
    assert not slots.joint
    assert not slots.fits(waits("too large", 900))
    assert slots.fits(waits("named", 10, "gpu1"))
    assert not slots.fits(waits("named", 10, "gpu9"))


@pytest.mark.quick
def test_devices_are_given_back_when_no_large_run_waits(monkeypatch):
    slots = eight()
    slots.arrange([waits("large", 158.2)])
    (joint,) = slots.joint
    slots.arrange([])
    assert joint.ended_as_asked
    slots.arrange([])
    assert not slots.joint
    assert all(worker.wanted and not worker.resting for worker in slots.singles)


@pytest.mark.quick
def test_a_joint_worker_makes_way_where_no_device_is_left():
    slots = JointSlots([WorkerProcess(Slot(f"gpu{i}", str(i), 16.0)) for i in range(2)])
    slots.arrange([waits("large", 25)])
    slots.arrange([waits("small", 2), waits("large", 25)])
    assert slots.joint[0].resting


def test_a_large_run_is_done_on_two_devices_beside_a_small_one(engine_home, monkeypatch):
    """Real agent and workers; the fake engine says how much memory a run needs."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    monkeypatch.setattr(engine, "check_fits", lambda spec, source: 25.0)  # no device of this host holds it
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 20, "needs_gib": 25}))
    large = engine.submit(spec(samples=100))
    monkeypatch.setattr(engine, "check_fits", lambda spec, source: 2.0)
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 20, "needs_gib": 2}))
    small = [engine.submit(spec(samples=20, seed=seed)) for seed in (1, 2)]
    variables = {"HEDGE_TEST_GPUS": json.dumps([16] * 3), "PYTHONPATH": str(FAKE_NVML)}
    joint = liveness.executor_id("gpu0-gpu1")
    with agent_of(liveness.host(), CUDA_VISIBLE_DEVICES="0,1,2", **variables):
        until(lambda: liveness.busy_with(joint) == large, "the large run to be running on two devices")
        process = psutil.Process(int(liveness.worker_lock(joint).read_text().split()[0]))
        assert process.environ()["CUDA_VISIBLE_DEVICES"] == "0,1"
        until(lambda: all(is_in(name, "done")() for name in [large, *small]), "all runs")
        after = engine.submit(spec(samples=20, seed=3))
        until(is_in(after, "done"), "the next run")
        until(lambda: not liveness.worker_alive(joint), "the devices to be given back")
    assert_each_question_once(large)
    assert ASKED == 0
