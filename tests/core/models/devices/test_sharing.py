"""Which devices share a run; GPUs are those of the stand-in for NVIDIA's library (``eight``)."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.errors import InputError
from core.models.devices import sharing
from core.models.devices.fitting import check_fits
from core.models.devices.sharing import free_devices, named_devices, torch_device
from core.models.devices.slots import CPU, Slot, slots
from core.runs.spec import RunSpec

pytestmark = pytest.mark.quick

PAIR = [Slot("gpu2", "2", 16.0, "L4"), Slot("gpu3", "3", 16.0, "L4")]


@pytest.fixture(autouse=True)
def looks_anew():
    sharing.first_reading.cache_clear()
    yield
    sharing.first_reading.cache_clear()


def test_free_gpus_are_idle_hold_the_model_and_have_no_worker_at_a_run(eight):
    # By the stand-in, GPU n computes 10·n % of the time, the last does not say, and n + 1 GiB are used.
    assert [device.name for device in free_devices(2.0, slots())] == ["cuda:0", "cuda:7"]
    assert [device.name for device in free_devices(15.5, slots())] == ["cuda:7"]  # 15 of GPU 0's 16 GiB are free
    assert [device.name for device in free_devices(2.0, slots(), busy={"gpu0"})] == ["cuda:7"]
    assert free_devices(100.0, slots()) == ()


def test_gpus_of_another_kind_than_the_first_are_left_out(eight):
    first, *_, last = slots()
    other = replace(last, label="another GPU")
    assert [device.name for device in free_devices(2.0, [first, other])] == ["cuda:0"]


def test_no_more_gpus_than_the_host_s_memory_can_load_for(eight, monkeypatch):
    monkeypatch.setattr(sharing.psutil, "virtual_memory", lambda: SimpleNamespace(available=5 * 2**30))
    assert len(free_devices(2.0, slots())) == 2
    assert len(free_devices(4.0, slots())) == 1


def test_gpus_keep_their_numbers_for_people_and_torch_counts_what_it_sees():
    devices = named_devices("cuda:3,cuda:2", PAIR)
    assert [(device.name, device.here, device.visible) for device in devices] == [
        ("cuda:3", "cuda:1", "3"),
        ("cuda:2", "cuda:0", "2"),
    ]
    assert torch_device("cuda:3", PAIR) == torch_device("cuda:3,cuda:2", PAIR) == "cuda:1"
    assert torch_device("mps", PAIR) == "mps"


def test_a_processor_is_shared_by_processes():
    devices = named_devices("cpu,cpu,cpu", [Slot(CPU, "")])
    assert [(device.name, device.here) for device in devices] == [("cpu", "cpu"), ("cpu 2", "cpu"), ("cpu 3", "cpu")]


def test_devices_that_are_not_here_or_of_two_kinds_are_refused():
    with pytest.raises(InputError, match="there is no device cuda:7 here; there is cuda:2, cuda:3"):
        named_devices("cuda:2,cuda:7", PAIR)
    mixed = [PAIR[0], replace(PAIR[1], label="H100")]
    with pytest.raises(InputError, match=r"of different kinds \(H100, L4\), which round differently; name devices of"):
        named_devices("cuda:2,cuda:3", mixed)


def test_each_device_of_a_list_holds_the_whole_model():
    check_fits("m", PAIR, dtype="float16", device="cuda:2,cuda:3", needs_gib=lambda dtype: 12.0)
    check_fits("m", PAIR, dtype="float16", device="", needs_gib=lambda dtype: 20.0)  # spread over both
    with pytest.raises(InputError, match=r"model m in float16 needs about 20\.0 GiB, and the largest device, L4, has"):
        check_fits("m", PAIR, dtype="float16", device="cuda:2,cuda:3", needs_gib=lambda dtype: 20.0)


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ("cuda:0,tpu", "unknown device 'tpu'"),
        ("cuda:0,", "unknown device ''"),
        ("cpu,cuda:0", "of different kinds"),
        ("cuda,cuda:0", "names a device twice"),
        ("mps,mps", "names a device twice"),
    ],
)
def test_lists_that_can_not_be(device, says):
    with pytest.raises(InputError, match=says):
        RunSpec("m", "qa", device=device)


def test_a_list_of_devices_makes_no_other_run():
    assert RunSpec("m", "qa", device="cuda:0,cuda:1") == RunSpec("m", "qa")
