"""GPUs that are not there, and self-checks that no other test has made."""

import json
import sys
from pathlib import Path

import pytest

FAKE_NVML = Path(__file__).parent / "fake_nvml"


@pytest.fixture(autouse=True)
def every_check_is_made(request, monkeypatch):
    """A verdict that an earlier test kept would hide what a test breaks on purpose; only the tests of keeping keep."""
    if request.path.name != "test_kept_checks.py":
        monkeypatch.setattr("core.models.kept_checks.identity", lambda sources: None)


@pytest.fixture
def eight(monkeypatch):
    """NVML with eight GPUs, in this process."""
    monkeypatch.setenv("HEDGE_TEST_GPUS", json.dumps([16, 16, 24, 24, 40, 40, 80, 80]))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.syspath_prepend(str(FAKE_NVML))
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    yield
    sys.modules.pop("pynvml", None)
