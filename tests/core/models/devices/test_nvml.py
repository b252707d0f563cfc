"""GPUs as NVML sees them."""

import pytest

from core.models.devices import nvml

pytestmark = pytest.mark.quick


def test_gpus_as_they_say(eight):
    found = nvml.readings()
    assert [seen.total_gib for seen in found] == [16, 16, 24, 24, 40, 40, 80, 80]
    assert found[2] == nvml.GpuMetrics(2, "GPU-00000002", "Fake GPU", 24.0, 3.0, 0.2, 42)
    assert found[7].load is None
    assert nvml.driver() == "999.1"
    assert nvml.reading("3") == found[3]
    assert nvml.reading("GPU-00000004") == found[4]
    assert nvml.reading("9") is None
    assert nvml.reading("") is None


def test_the_real_library_without_a_driver_says_nothing(monkeypatch):
    pytest.importorskip("pynvml")
    if nvml.readings():
        assert nvml.driver()
    else:
        assert nvml.driver() == ""
        assert nvml.reading("0") is None
