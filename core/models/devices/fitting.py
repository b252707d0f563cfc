"""Which devices hold a run, and what would help where none do.

A run takes one device if one is large enough. Otherwise its model is spread over as many devices of one host as it
needs (:func:`core.models.memory_estimate.devices_for`).
"""

from collections.abc import Callable, Sequence

from core.errors import InputError
from core.models.devices.slots import CPU, Slot, check_named, check_precision, named_device
from core.models.memory_estimate import devices_for
from core.models.model_sources import DTYPES, QUANTIZED

MOST_DEVICES = 64
"""No more devices of one host are proposed."""


def by_host(slots: Sequence[Slot]) -> list[tuple[Slot, ...]]:
    """The slots of each host, in the order in which the hosts come."""
    hosts = dict.fromkeys(slot.host for slot in slots)
    return [tuple(slot for slot in slots if slot.host == host) for host in hosts]


def devices_needed(needs_gib: float, slots: Sequence[Slot]) -> int:
    """How many devices the run takes on the host where it takes the fewest; 0 if no host can hold it."""
    counts = [devices_for(needs_gib, [slot.memory_gib for slot in host]) for host in by_host(slots)]
    return min((count for count in counts if count), default=0)


def too_large(needs_gib: float, slots: Sequence[Slot]) -> str:
    """Why no devices hold the run, as the second half of a sentence; empty if some do."""
    largest = max(slots, key=lambda slot: slot.memory_gib, default=None)
    if largest is None or devices_needed(needs_gib, slots):
        return ""
    reason = (
        f"needs about {needs_gib:.1f} GiB, and the largest device, {largest.label or largest.name}, has "
        f"{largest.memory_gib:.1f}"
    )
    most = max(map(len, by_host(slots)))
    return reason + (f", which is too little on all {most} devices of a host, too" if most > 1 else "")


def check_fits(
    model: str, slots: Sequence[Slot], *, dtype: str, device: str, needs_gib: Callable[[str], float]
) -> None:
    """Raise :class:`~core.errors.InputError` if none of these devices, or not each that a person named, can hold the
    model; ``needs_gib`` gives the memory by dtype."""
    check_precision(dtype, slots)
    check_named(device, slots)
    if device:
        wanted = {named_device(name) for name in device.split(",")}
        slots = [slot for slot in slots if slot.name in wanted]
    apart = [[slot] for slot in slots] if device else [slots]  # each device that was named holds the whole model
    if reason := next(filter(None, (too_large(needs_gib(dtype), group) for group in apart)), ""):
        raise InputError(f"model {model} in {dtype} {reason}; {way_out(slots, dtype=dtype, needs_gib=needs_gib)}")


def way_out(slots: Sequence[Slot], *, dtype: str, needs_gib: Callable[[str], float]) -> str:
    """What would hold a model that is too large in ``dtype``: fewer bits, more such devices, or a server.

    ``needs_gib`` gives the memory by dtype.
    """
    on_gpu = any(slot.name != CPU for slot in slots)
    smaller = [other for other in DTYPES if on_gpu or other not in QUANTIZED]
    for other in sorted(smaller, key=needs_gib, reverse=True):
        count = devices_needed(needs_gib(other), slots)
        if needs_gib(other) < needs_gib(dtype) and count:
            other = "bfloat16" if other == "float16" else other  # as large, and reaches as far as float32
            return f"choose {other}, which takes {needs_gib(other):.1f} GiB on {_devices(count)}"
    largest = max(slot.memory_gib for slot in slots)
    smallest = min(smaller, key=needs_gib)
    count = devices_for(needs_gib(smallest), [largest] * MOST_DEVICES)
    more = (
        f"{smallest} on a host with {_devices(count)} like that, " if on_gpu and count else "a host with more memory, "
    )
    return f"choose a smaller model, {more}or a server that holds it (--server)"


def _devices(count: int) -> str:
    return f"{count} device{'s' * (count > 1)}"
