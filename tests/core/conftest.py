"""GPUs that are not there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

FAKE_NVML = Path(__file__).parent / "fake_nvml"


@pytest.fixture
def eight(monkeypatch):
    """NVML with eight GPUs, in this process."""
    monkeypatch.setenv("HEDGE_TEST_GPUS", json.dumps([16, 16, 24, 24, 40, 40, 80, 80]))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.syspath_prepend(str(FAKE_NVML))
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    yield
    sys.modules.pop("pynvml", None)
