"""Checks that need GPUs: their verdicts, and that a host without one says so. NVML is a stand-in (``fake_nvml``)."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from core.checks.outcome import NotHereError, Place
from core.checks.rows import nvml_readings, shared, spread, workers
from core.models.devices.nvml import GpuMetrics
from core.records import OptionLogits
from core.runs.agent import liveness
from tests.core.checks.planted import assert_fails
from tests.core.conftest import FAKE_NVML

GPU = Place("cuda")
SEEN = GpuMetrics(0, "GPU-a", "NVIDIA H200", 140.0, 1.0, 0.0, 40)


def test_a_host_without_gpus_says_so(home, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(NotHereError, match="not two GPUs"):
        workers.two_workers(GPU)
    with pytest.raises(NotHereError, match="not two GPUs"):
        shared.shared(GPU)
    with pytest.raises(NotHereError, match="lists no GPU"):
        nvml_readings.readings(GPU)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (SEEN, SEEN, "the driver's reading grew by 0.00"),
        (replace(SEEN, name="NVIDIA L4"), replace(SEEN, used_gib=2.0), "calls the first GPU NVIDIA L4, and torch"),
        (replace(SEEN, used_gib=150.0), replace(SEEN, used_gib=151.0), "150.0 of 140.0 GiB are used"),
    ],
)
def test_readings_that_make_no_sense_fail(before, after, says):
    assert nvml_readings.judged([SEEN], SEEN, replace(SEEN, used_gib=2.01), "NVIDIA H200").passed
    assert_fails(nvml_readings.judged([SEEN], before, after, "NVIDIA H200"), says)


def test_the_halves_of_a_model_lie_on_two_devices():
    parts = spread.halved(4)
    assert [parts[f"model.layers.{i}"] for i in range(4)] == [0, 0, 1, 1]
    assert (parts["model.embed_tokens"], parts["lm_head"]) == (0, 1)


@pytest.mark.nightly
def test_two_runs_are_at_work_on_two_slots_at_once(fake_home, monkeypatch):
    """A real agent with two workers; their GPUs are the stand-in's, and their model is the fake one."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 10}))
    monkeypatch.setenv("HEDGE_TEST_GPUS", json.dumps([16, 16]))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("PYTHONPATH", str(FAKE_NVML))
    outcome = workers.two_workers(GPU, model="fake")
    assert outcome.passed, outcome.says
    assert int(outcome.figures["times both were seen running"]) > 0
    assert not liveness.agent_alive()


def test_a_run_is_shared_out_over_two_devices(fake_home, monkeypatch):
    """Real processes; their GPUs are the stand-in's, and their model is the fake one."""
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 10}))
    monkeypatch.setenv("HEDGE_TEST_GPUS", json.dumps([16, 16]))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setattr(shared, "FORMS", ("letters",))
    monkeypatch.syspath_prepend(str(FAKE_NVML))
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    outcome = shared.shared(GPU, model="fake", samples=150)
    sys.modules.pop("pynvml", None)
    assert outcome.passed, outcome.says
    assert outcome.says.startswith("cuda:0 and cuda:1 scored each run together")
    assert outcome.figures["letters: questions on cuda:0"] + outcome.figures["letters: questions on cuda:1"] == 150


def test_a_device_that_does_nothing_or_scores_otherwise_fails_the_row():
    scores = OptionLogits(("a", "b"), np.zeros((2, 4), np.float32), np.ones(2, np.float32))
    other = replace(scores, logits=np.full((2, 4), 1e-7, np.float32))
    one_each = {"cuda:0": 1, "cuda:1": 1}
    assert shared.judged(scores, scores, one_each, log=[]) == ""
    assert shared.judged(scores, other, one_each, log=[]) == "The scores of two devices are not those of one."
    log = ["2026-11-23 05:00:00Z cuda:1 left: there was not enough memory; cuda:0 scores what it had"]
    outcome = shared.judged(scores, scores, {}, log=log)
    assert outcome.startswith("One device scored all questions: cuda:1 left: there was not enough memory")


@pytest.mark.parametrize(
    ("states", "together", "names", "says"),
    [
        (("done", "failed"), 9, ("a", "b"), "The runs are done and failed: no room"),
        (("done", "done"), 0, ("a", "b"), "one after the other"),
        (("done", "done"), 9, ("a",), "one after the other"),
    ],
)
def test_runs_that_fail_or_take_turns_fail_the_row(states, together, names, says):
    assert workers.judged(("done", "done"), ("", ""), 9, ("a", "b")).passed
    assert_fails(workers.judged(states, ("no room", ""), together, names), says)
