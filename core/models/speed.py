"""How fast this machine's devices multiply and copy, measured in about five seconds.

The rate of a float32 product of two ``(n, n)`` matrices is ``2 n³`` operations over its time; of a copy, the bytes
over its time, from the host's memory to the device's (to the host's own on a CPU). Times are medians of rounds after
one that warms up.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

MULTIPLY_S = 2.0
COPY_S = 1.0
WIDTH = {"cpu": 1024, "cuda": 8192, "mps": 4096}
COPIED = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Speed:
    """A device's rates: ``gflops`` in 10⁹ operations per second, ``copy`` in 10⁹ bytes per second. ``error`` is the
    largest relative difference between a computed product and its exact value."""

    device: str
    gflops: float
    copy: float
    error: float


def measure() -> list[Speed]:
    """The speed of every device that runs may use. Loads torch."""
    import torch

    devices = [f"cuda:{i}" for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else ["cpu"]
    return [_measure(device, share=1 / len(devices)) for device in devices]


def _measure(device: str, *, share: float) -> Speed:
    import torch

    kind = device.split(":")[0]
    width = WIDTH[kind]

    def wait() -> None:
        if kind == "cuda":
            torch.cuda.synchronize(device)

    # Rows of ones times a column of 1/n: every entry of the product is 1, whatever the order of the sums.
    left = torch.ones(width, width, device=device)
    right = torch.full((width, width), 1.0 / width, device=device)
    seconds, product = _median(lambda: left @ right, wait, for_s=MULTIPLY_S * share)
    host = torch.ones(COPIED, dtype=torch.uint8, pin_memory=kind == "cuda")
    target = torch.empty(COPIED, dtype=torch.uint8, device=device)
    copying, _ = _median(lambda: target.copy_(host), wait, for_s=COPY_S * share)
    return Speed(
        device=device,
        gflops=2 * width**3 / seconds / 1e9,
        copy=COPIED / copying / 1e9,
        error=float((product - 1).abs().max()),
    )


def _median(work: Callable[[], T], wait: Callable[[], None], *, for_s: float) -> tuple[float, T]:
    """The median seconds of ``work``, repeated at least three times, and its result."""
    output = work()
    wait()
    times: list[float] = []
    end = time.perf_counter() + for_s
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        output = work()
        wait()
        times.append(time.perf_counter() - begin)
    return statistics.median(times), output
