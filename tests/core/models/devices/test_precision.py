"""Precisions that need a GPU are refused before anything is loaded or written."""

import subprocess
import sys

import pytest

from core.errors import InputError
from core.models.devices.slots import CPU, Slot, check_precision
from core.runs import store
from core.settings import ROOT

ONE_CPU, ONE_GPU = Slot(CPU, ""), Slot("gpu0", "0")


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_a_quantised_precision_needs_a_gpu_somewhere(dtype, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    check_precision(dtype, [ONE_CPU, ONE_GPU])
    with pytest.raises(InputError, match=f"{dtype} needs an NVIDIA GPU, and there is none here; choose 32-bit"):
        check_precision(dtype, [ONE_CPU])


@pytest.mark.quick
def test_a_gpu_alone_is_not_enough(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="int8 needs the package bitsandbytes"):
        check_precision("int8", [ONE_GPU])


@pytest.mark.quick
def test_other_precisions_run_everywhere():
    for dtype in ("float32", "float16", "bfloat16"):
        check_precision(dtype, [ONE_CPU])


def test_the_command_line_refuses_it_before_torch_and_leaves_no_run(home):
    says = (
        "import sys; from hedge.cli import main; "
        "status = main(['run', '--model', 'pocket-1m', '--task', 'qa', '--dtype', 'int8']); "
        "print(status, 'torch' in sys.modules)"
    )
    before = store.run_ids()
    done = subprocess.run([sys.executable, "-c", says], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "False"]
    assert "int8 needs an NVIDIA GPU, and there is none here" in done.stderr
    assert store.run_ids() == before
