"""Which rows a host has, by its slots."""

import pytest

from core.checks.plan import CHECKS, NO_GPU, ONE_GPU, planned, row_title, selected
from core.errors import InputError
from core.models.devices.slots import CPU, Slot

CPU_ONLY = [Slot(CPU, "")]
GPUS = [Slot("gpu0", "0"), Slot("gpu1", "1")]


def test_a_host_without_a_gpu_says_for_each_check_what_was_not_there():
    rows = {row.name: row for row in planned(CPU_ONLY)}
    here = [name for name, row in rows.items() if not row.absent]
    assert here == [
        *(f"paths/cpu/{dtype}" for dtype in ("float32", "float16", "bfloat16")),
        *("memory/cpu", "cancel/cpu", "kill/cpu", "juror/cpu", "ard-lora/cpu"),
        *(f"shape/cpu/{dtype}" for dtype in ("float32", "float16", "bfloat16")),
    ]
    assert all(rows[f"paths/cpu/{dtype}"].absent == f"{dtype} needs an NVIDIA GPU, and there is none here."
               for dtype in ("int8", "int4"))  # fmt: skip
    wanted = {"nvml", "workers", "shared", "spread", "qlora/gpu", "paths/gpu", "memory/gpu", "cancel/gpu", "shape/gpu"}
    assert wanted <= {name for name, row in rows.items() if row.absent == NO_GPU}
    assert {name.partition("/")[0] for name in rows} == set(CHECKS)


def test_one_gpu_does_all_but_what_needs_two():
    rows = {row.name: row for row in planned(GPUS[:1])}
    assert {name for name, row in rows.items() if row.absent == ONE_GPU} == {"workers", "shared", "spread"}
    assert not rows["qlora/gpu0"].absent
    assert (rows["paths/gpu0/int4"].place.device, rows["paths/gpu0/int4"].visible) == ("cuda", "0")
    assert (rows["paths/cpu/float32"].place.device, rows["paths/cpu/float32"].visible) == ("cpu", "")
    names = list(rows)
    assert names.index("shape/gpu0/int4") < names.index("paths/cpu/float32")  # the GPU first


def test_two_gpus_have_rows_each_and_share_those_that_need_two():
    rows = {row.name: row for row in planned(GPUS)}
    absent = [row.absent for name, row in rows.items() if row.absent and "cpu" not in name]
    assert all("needs the package bitsandbytes" in says for says in absent)  # of int8 and int4, where it is missing
    assert rows["spread"].visible == rows["shared"].visible == "0,1"
    assert rows["paths/gpu1/bfloat16"].visible == "1"
    assert sum(name.startswith("nvml") for name in rows) == 1


def test_names_choose_checks_and_rows():
    rows = planned(CPU_ONLY)
    assert [row.name for row in selected(rows, ["kill", "paths/cpu/float32"])] == [
        "paths/cpu/float32",
        "kill/cpu",
        "kill/gpu",
    ]
    assert selected(rows, []) == rows
    with pytest.raises(InputError, match=r"no check 'path' here; choose from nvml, paths, .* such as nvml"):
        selected(rows, ["path"])


def test_a_row_has_a_title_in_words():
    assert row_title("shape/gpu12/int8") == ("Speed of a larger model", "GPU 12", "int8")
    assert row_title("memory/cpu") == ("Memory of a batch", "CPU", "")
