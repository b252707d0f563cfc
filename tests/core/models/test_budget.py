import gc
import json
import subprocess
import sys
import weakref

import pytest
import torch

from core.errors import RunError
from core.models import budget as module
from core.models.budget import Budget, work_through
from core.models.memory import Geometry, free_bytes, geometry
from core.models.out_of_memory import is_out_of_memory
from core.settings import ROOT
from tests import needs
from tests.core.models.architectures import tiny

CPU = torch.device("cpu")
SMALL = Geometry(cache=100, activations=50, scores=0)


@pytest.fixture(autouse=True)
def _no_collection(monkeypatch):
    """Collecting garbage takes a second in a process that has loaded this much."""
    monkeypatch.setattr(module, "free", lambda device: None)


def budget(**changes):
    limits = Budget(CPU, SMALL, rows=changes.pop("rows", None))
    for name, value in changes.items():
        setattr(limits, name, value)
    return limits


def test_tokens_and_bytes_both_bound_a_batch():
    limits = budget(tokens=100, bytes=10**9)
    assert limits.fits(10, 10, prefix=0, copies=1)
    assert not limits.fits(11, 10, prefix=0, copies=1)
    # A row of 10 tokens behind 90 shared ones: 3 × 100 × 100 + 10 × 50 bytes = 30,500.
    limits = budget(tokens=10**6, bytes=61_000)
    assert limits.fits(2, 10, prefix=90, copies=1)
    assert not limits.fits(3, 10, prefix=90, copies=1)
    assert not limits.fits(2, 10, prefix=90, copies=2)
    assert limits.fits(1, 10**6, prefix=0, copies=1)


def test_a_size_fixed_by_hand_is_honoured():
    limits = budget(rows=3, tokens=1, bytes=1)
    assert [len(batch) for batch in limits.batches([9] * 8)] == [3, 3, 2]
    assert limits.batches([5, 9, 5], equal=True) == [[1], [0, 2]]


class Device:
    """Computes doubles, and has room for this many rows at once."""

    def __init__(self, room, error=None):
        self.room = room
        self.error = error or torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        self.asked = []
        self.held = []

    def __call__(self, batch):
        self.asked.append(list(batch))
        if len(batch) > self.room:
            tensor = torch.zeros(3)
            self.held.append(weakref.ref(tensor))
            raise type(self.error)(*self.error.args)
        return [2 * row for row in batch]


def through(device, limits, rows=8):
    done = {}
    for batch, scored in work_through([10] * rows, device, plan=limits.batches, budget=limits):
        done |= dict(zip(batch, scored, strict=True))
    return done


@pytest.mark.parametrize(
    "error",
    [
        None,
        MemoryError(),
        RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_out_of_memory_halves_and_goes_on_where_it_failed(error):
    device, limits = Device(room=2, error=error), budget(tokens=80, bytes=10**9)
    assert through(device, limits) == {row: 2 * row for row in range(8)}
    assert [len(batch) for batch in device.asked] == [8, 4, 2, 2, 2, 2]
    assert limits.to_json()["halved"] == 2
    # Remembered: the next call does not try the large batch again.
    device.asked.clear()
    through(device, limits)
    assert {len(batch) for batch in device.asked} == {2}


def test_finished_batches_are_not_repeated():
    class Sometimes(Device):
        def __call__(self, batch):
            self.room = 4 if len(self.asked) < 1 else 2
            return super().__call__(batch)

    device = Sometimes(room=4)
    assert through(device, budget(tokens=40, bytes=10**9)) == {row: 2 * row for row in range(8)}
    assert device.asked == [[0, 1, 2, 3], [4, 5, 6, 7], [4, 5], [6, 7]]


def test_what_failed_is_freed_before_the_retry(monkeypatch):
    device, alive = Device(room=2), []
    monkeypatch.setattr(module, "free", lambda _: (gc.collect(), alive.append([ref() for ref in device.held])))
    through(device, budget(tokens=80, bytes=10**9))
    assert alive
    assert all(tensor is None for tensors in alive for tensor in tensors)


def test_a_single_row_too_large_is_said():
    with pytest.raises(RunError, match="a single question of 10 tokens"):
        through(Device(room=0), budget(tokens=80, bytes=10**9))


def test_a_size_fixed_by_hand_is_halved_too():
    limits = budget(rows=8)
    assert len(through(Device(room=3), limits)) == 8
    assert limits.rows == 2


def test_other_errors_are_not_swallowed():
    with pytest.raises(RuntimeError, match="shapes"):
        through(Device(room=0, error=RuntimeError("shapes do not fit")), budget())
    assert not is_out_of_memory(ValueError("out of memory"))


def test_geometry_by_hand():
    # Llama: 2 layers × 2 key-value heads × 8 × 2 (keys and values) × 4 bytes.
    assert geometry(tiny("llama")).cache == 2 * 2 * 2 * 8 * 4
    assert geometry(tiny("llama")).activations == 4 * (8 * 32 + 3 * 48)
    # Every architecture has one, however its configuration names things.
    for name in ("gpt2", "mpt", "mamba", "opt", "gemma3_text"):
        assert geometry(tiny(name)).row(10, 100) > 0


def test_free_memory_is_a_number_of_bytes():
    assert 2**20 < free_bytes(CPU) < 2**50


def test_half_the_memory_is_half_the_batch(monkeypatch):
    sizes = []
    for available in (4_000_000, 2_000_000):
        monkeypatch.setattr(module, "free_bytes", lambda device, available=available: available)
        limits = Budget(CPU, SMALL)
        limits.tokens = 10**9
        sizes.append(len(limits.batches([10] * 400, prefix=190)[0]))
    # A quarter of 4 MB by 3 × 100 × 200 + 10 × 50 bytes a row.
    assert sizes == [16, 8]


REALLY_OUT = """
import json, resource, sys
import numpy as np, psutil, torch
from core.models.transformers_engine import TransformersEngine
from core.records import Prompt
from tests.core.models.architectures import tiny

class Bytes:
    model_max_length = 10**30

    def __call__(self, texts, *, add_special_tokens, verbose):
        return {"input_ids": [[3 + ord(c) % 90 for c in text] for text in texts]}

def scored(engine):
    found = {name: row for batch in engine.score(asked) for name, row in zip(batch.ids, batch.logits)}
    return np.array([found[p.question_id] for p in asked])

device, room = sys.argv[1], int(sys.argv[2]) * 2**20
torch.set_num_threads(1)
words = ["".join(chr(97 + (i * 7 + j) % 26) for j in range(300)) for i in range(96)]
asked = [Prompt(f"p{i}", word + " x" * (i % 3) + " Answer:", 4) for i, word in enumerate(words)]
engine = TransformersEngine(tiny("llama").to(device), Bytes(), name="tiny", dtype="float32")
engine.prepare(asked)
assert engine.self_check(asked).rung != "one by one"
before = scored(engine)
engine.budget.tokens = engine.budget.bytes = 10**12
if device == "cpu":
    taken = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (taken + room, taken + room))
else:
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + room) / total)
after = scored(engine)
print(json.dumps([engine.budget.halvings, float(np.abs(after - before).max())]))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_memory_that_really_runs_out(device):
    """96 prompts at once, with 16 MiB to compute them in: the allocator itself refuses, and no score moves."""
    if device == "cuda" and not torch.cuda.is_available():
        needs.missing("a GPU")
    completed = subprocess.run(
        [sys.executable, "-c", REALLY_OUT, device, "16"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert completed.returncode == 0, completed.stderr
    halvings, difference = json.loads(completed.stdout)
    assert halvings > 0
    assert difference < 1e-4
