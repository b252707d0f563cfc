"""Which checks there are, and which rows they make on this machine. Loads no torch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from core.checks.outcome import Place
from core.errors import InputError
from core.models.devices.slots import CPU, Slot, check_precision
from core.models.model_sources import DTYPES, QUANTIZED

Needs = Literal["nothing", "a GPU", "two GPUs"]
HERE = "core.checks.rows"
NO_GPU = "There is no NVIDIA GPU here."
ONE_GPU = "There is only one GPU here, and this needs two."


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its ``title``, what it ``shows``, its ``function`` as ``module:name``, and its limits.

    It is killed after ``limit_s`` seconds. ``each`` says whether it is made once a host, on each device, or on each
    device in each precision.
    """

    title: str
    shows: str
    function: str
    limit_s: float
    each: Literal["host", "device", "dtype"] = "device"
    needs: Needs = "nothing"


CHECKS = {
    "nvml": Check(
        "GPU readings",
        "the driver reads each GPU, and sees what torch takes of it",
        f"{HERE}.nvml_readings:readings",
        90,
        "host",
        "a GPU",
    ),
    "paths": Check(
        "Scoring paths",
        "a bundled model: every scoring path against one option at a time, and this against float32 on the CPU",
        f"{HERE}.bundled:paths",
        120,
        "dtype",
    ),
    "memory": Check(
        "Memory of a batch",
        "what a batch takes against what was predicted, and a run that runs out",
        f"{HERE}.memory:memory",
        120,
    ),
    "cancel": Check(
        "A cancelled run",
        "a run that is cancelled ends, frees its memory and can be continued",
        f"{HERE}.stopping:cancel",
        120,
    ),
    "kill": Check(
        "A killed run",
        "a run that is killed (kill -9) frees its memory and can be continued",
        f"{HERE}.stopping:kill",
        120,
    ),
    "workers": Check(
        "Two workers at once",
        "two workers execute runs on two devices at once",
        f"{HERE}.workers:two_workers",
        180,
        "host",
        "two GPUs",
    ),
    "shared": Check(
        "A run on two GPUs",
        "one run's questions, shared out over two devices, get the scores of one device",
        f"{HERE}.shared:shared",
        180,
        "host",
        "two GPUs",
    ),
    "spread": Check(
        "A model on two GPUs",
        "a model spread over two devices gives the scores of one device",
        f"{HERE}.spread:spread",
        120,
        "host",
        "two GPUs",
    ),
    "juror": Check(
        "Tuning a juror", "a juror is tuned for 20 steps, stored, and judges", f"{HERE}.training:juror", 120
    ),
    "qlora": Check(
        "QLoRA",
        "a juror is tuned for 20 steps over a model in 4 bits, stored, and judges",
        f"{HERE}.training:qlora",
        120,
        needs="a GPU",
    ),
    "ard-lora": Check("ARD-LoRA", "an ARD-LoRA is trained for 20 steps and stored", f"{HERE}.training:ard_lora", 120),
    "shape": Check(
        "Speed of a larger model",
        "a model of random weights (1 B parameters on a GPU, 65 M on a CPU): paths agree; its throughput",
        f"{HERE}.shapes:shape",
        180,
        "dtype",
    ),
}
"""Every check by its name, in the order in which they are made."""


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A row that will be made: ``visible`` is what its process's ``CUDA_VISIBLE_DEVICES`` says.

    ``absent`` is the sentence of a row that can't be made here, else empty.
    """

    name: str
    check: Check
    place: Place
    visible: str = ""
    absent: str = ""


def row_title(name: str) -> tuple[str, str, str]:
    """The title of a row's check, its device and its precision, by the row's name; empty where it has none.

    >>> row_title("paths/gpu0/bfloat16"), row_title("nvml")
    (('Scoring paths', 'GPU 0', 'bfloat16'), ('GPU readings', '', ''))
    """
    check, _, rest = name.partition("/")
    device, _, dtype = rest.partition("/")
    title = CHECKS[check].title if check in CHECKS else check
    return title, device.upper().replace("GPU", "GPU ").strip(), dtype


def planned(slots: Sequence[Slot]) -> list[PlannedCheck]:
    """The rows for a host with these slots: the first device first, then the CPU beside GPUs, then the other GPUs."""
    gpus = [slot for slot in slots if slot.name != CPU]
    cpu = [Slot(CPU, "")]
    devices = [*gpus[:1], *cpu, *gpus[1:]] if gpus else cpu
    rows = [row for place, slot in enumerate(devices) for row in _of_device(slot, gpus, first=place == 0)]
    return rows if gpus else [*rows, *_absent_gpu()]


def selected(rows: Sequence[PlannedCheck], only: Sequence[str]) -> list[PlannedCheck]:
    """The rows whose name is one of ``only`` or begins with it and a slash; all of them if nothing is named.

    Raises :class:`InputError` for a name that is no row's.
    """
    for name in only:
        if not any(_is_of(row, name) for row in rows):
            raise InputError(
                f"there is no check {name!r} here; choose from {', '.join(CHECKS)}, or a whole name such as "
                f"{rows[0].name}"
            )
    return [row for row in rows if not only or any(_is_of(row, name) for name in only)]


def _is_of(row: PlannedCheck, name: str) -> bool:
    return row.name == name or row.name.startswith(f"{name}/")


def _of_device(slot: Slot, gpus: Sequence[Slot], *, first: bool) -> Iterator[PlannedCheck]:
    for name, check in CHECKS.items():
        if check.each == "host":
            if first:
                yield _of_host(name, check, gpus)
        elif check.needs != "nothing" and slot.name == CPU:
            if first:
                yield PlannedCheck(f"{name}/gpu", check, Place("cuda"), absent=NO_GPU)
        else:
            for dtype in DTYPES if check.each == "dtype" else ("",):
                yield _row(name, check, slot, dtype)


def _row(name: str, check: Check, slot: Slot, dtype: str) -> PlannedCheck:
    absent = ""
    if dtype in QUANTIZED:
        try:
            check_precision(dtype, [slot])
        except InputError as error:
            absent = f"{str(error).partition(';')[0]}."
    whole = "/".join(filter(None, (name, slot.name, dtype)))
    return PlannedCheck(whole, check, Place("cpu" if slot.name == CPU else "cuda", dtype), slot.devices, absent)


def _of_host(name: str, check: Check, gpus: Sequence[Slot]) -> PlannedCheck:
    wanted = 2 if check.needs == "two GPUs" else 1
    absent = "" if len(gpus) >= wanted else ONE_GPU if gpus else NO_GPU
    return PlannedCheck(name, check, Place("cuda"), ",".join(gpu.devices for gpu in gpus), absent)


def _absent_gpu() -> Iterator[PlannedCheck]:
    """On a host without a GPU, one row for each check that would be made on one."""
    for name, check in CHECKS.items():
        if check.each != "host" and check.needs == "nothing":
            yield PlannedCheck(f"{name}/gpu", check, Place("cuda"), absent=NO_GPU)
