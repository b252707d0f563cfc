"""A prediction that is too small fails the row, and so does an invalid limit."""

import subprocess
import sys

import pytest

from core.settings import ROOT

MAKE = """
import torch
from core.models.memory import Geometry
from core.checks.rows import memory, shapes
from core.checks.outcome import Place

torch.set_num_threads(1)
shapes.SHAPES["cpu"] |= {"hidden_size": 256, "num_hidden_layers": 4}
enter = memory.LittleMemory.__enter__
memory.LittleMemory.__enter__ = lambda self: None
print(memory.memory(Place("cpu")).says)
memory.LittleMemory.__enter__ = enter
print(memory.memory(Place("cpu")).passed)
row = Geometry.row
Geometry.row = lambda self, width, prefix: row(self, width, prefix) // 40
print(memory.memory(Place("cpu")).says)
"""
"""In a process of its own, because the check limits the process's memory: without a limit, as it is, and with a
prediction that is too small."""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the address space")
def test_a_limit_that_is_none_and_a_prediction_that_is_too_small_fail(home):
    done = subprocess.run([sys.executable, "-c", MAKE], cwd=ROOT, capture_output=True, text=True)
    without, well, little = done.stdout.splitlines()
    assert without.endswith("memory did not run out.")
    assert well == "True"
    assert "times what was predicted" in little
