"""What a batch takes of a device's memory against what the budget predicted, and a run whose memory runs out."""

from __future__ import annotations

import ctypes
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from core.checks.outcome import CheckOutcome, Figure, Place
from core.models.imports import language_models
from core.records import Prompt

if TYPE_CHECKING:
    from core.models.transformers_engine import TransformersEngine

MIB = 2**20
WORDS = {"cuda": 700, "cpu": 150}
"""Words of a question, each a token or more."""
BATCH = {"cuda": 64, "cpu": 16}
ROOM_ROWS = 3
"""The run that runs out of memory has space for this many rows of the batch, as predicted."""
DTYPE = {"cuda": "bfloat16", "cpu": "float32"}
M_MMAP_THRESHOLD = -3
LARGE_BYTES = 1 << 16
"""glibc maps what is larger on its own, and unmaps it when it is freed."""
REFERENCES = Path("/proc/self/clear_refs")


def memory(place: Place) -> CheckOutcome:
    """A batch within what is predicted, as the budget hands out memory; and the same scores where memory runs out."""
    language_models()
    from core.checks.rows.shapes import random_engine
    from core.models.memory import SHARE

    _give_back_at_once()
    engine = random_engine(Place(place.device, DTYPE[place.device]))
    prompts = _prompts(WORDS[place.device], BATCH[place.device])
    engine.prepare(prompts)
    engine.self_check(prompts[:4])
    predicted, width = _predicted(engine, prompts)
    engine.budget.tokens, engine.budget.bytes = width * len(prompts), 2 * predicted
    wanted, taken = _peak_beyond(engine.device, lambda: _scores(engine, prompts))
    figures: dict[str, Figure] = {
        "rows in the batch": len(prompts),
        "tokens in a row": width,
        "predicted, MiB": predicted / MIB,
        "taken at the peak, MiB": taken / MIB,
        "taken over predicted": taken / predicted,
    }
    share = SHARE[place.device]
    if taken * share > predicted:
        says = (
            f"A batch took {taken / MIB:,.0f} MiB, {taken / predicted:.1f} times what was predicted. The budget hands "
            f"out {share:.0%} of the free memory, so that a full batch would run out."
        )
        return CheckOutcome(False, says, figures)
    if place.device == "cpu" and sys.platform != "linux":  # whose limit on memory is none
        return CheckOutcome(True, f"A batch took {taken / predicted:.2f} of the memory that was predicted.", figures)
    return _with_little(engine, prompts, wanted, predicted, figures)


def _with_little(
    engine: TransformersEngine,
    prompts: list[Prompt],
    wanted: dict[str, list[float]],
    predicted: int,
    figures: dict[str, Figure],
) -> CheckOutcome:
    """The same batch with memory for a few rows of it: the run must halve its batches and find the same scores."""
    from core.models.path_selection import TOLERANCE

    room = ROOM_ROWS * predicted // len(prompts)
    before = engine.budget.halvings
    with LittleMemory(engine.device, room):
        scores = _scores(engine, prompts)
    halved = engine.budget.halvings - before
    off = max(abs(a - b) for name, row in wanted.items() for a, b in zip(row, scores[name], strict=True))
    figures |= {"halved where memory ran out": halved, "off after running out": off}
    ratio = f"A batch took {figures['taken over predicted']:.2f} of the memory that was predicted"
    if not halved:
        return CheckOutcome(False, f"{ratio}; with {room / MIB:,.0f} MiB left, memory did not run out.", figures)
    if off > 2 * TOLERANCE[engine.dtype]:
        return CheckOutcome(False, f"{ratio}; after memory ran out, scores were off by {off:.3g}.", figures)
    return CheckOutcome(
        True,
        f"{ratio}. With {room / MIB:,.0f} MiB left, memory ran out, batches were halved {halved} "
        f"time{'s' * (halved != 1)}, and the scores stayed the same.",
        figures,
    )


def _give_back_at_once() -> None:
    """Let the C library return memory as soon as it is freed, else it hands out later what was freed before, and no
    limit shows."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)


class LittleMemory:
    """Leave this process ``room`` bytes beyond what it has now, on a GPU or of the host's address space."""

    def __init__(self, device: str, room: int) -> None:
        self.device = device
        self.room = room
        self.before = resource.getrlimit(resource.RLIMIT_AS)

    def __enter__(self) -> None:
        import torch

        if self.device == "cuda":
            torch.cuda.empty_cache()
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + self.room) / total)
        else:
            limit = psutil.Process().memory_info().vms + self.room
            resource.setrlimit(resource.RLIMIT_AS, (limit, self.before[1]))

    def __exit__(self, *_: object) -> None:
        import torch

        if self.device == "cuda":
            torch.cuda.set_per_process_memory_fraction(1.0)
        else:
            resource.setrlimit(resource.RLIMIT_AS, self.before)


def _prompts(words: int, count: int) -> list[Prompt]:
    """Questions of one length that begin alike."""
    begin = "Read this. " + "the " * (words // 2)
    return [Prompt(str(i), f"{begin} Question {i}: {'a day ' * (words // 4)}\nAnswer:", 4) for i in range(count)]


def _predicted(engine: TransformersEngine, prompts: list[Prompt]) -> tuple[int, int]:
    """The bytes of a batch of all prompts by the budget's arithmetic, and the tokens of its longest row."""
    from core.models.path_selection import shared_part

    assert engine.climb
    rows, prefix = shared_part(engine.climb.rung, engine.encoder.rows(prompts), engine.prefix)
    width = max(engine.climb.rung.cost(row) for row in rows)
    return len(prompts) * engine.budget.shape.row(width, len(prefix or ())), width


def _scores(engine: TransformersEngine, prompts: list[Prompt]) -> dict[str, list[float]]:
    return {
        name: row.tolist() for batch in engine.score(prompts) for name, row in zip(batch.ids, batch.logits, strict=True)
    }


def _peak_beyond(device: str, work: Callable[[], dict[str, list[float]]]) -> tuple[dict[str, list[float]], int]:
    """What some work gives, and the memory that it took at its peak, beyond what was held before."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
        scores = work()
        torch.cuda.synchronize()
        return scores, torch.cuda.max_memory_allocated() - held
    with suppress(OSError):  # without it the peak is that of the whole process so far, which is never too small
        REFERENCES.write_text("5")  # sets the peak back to what is held now
    held = psutil.Process().memory_info().rss
    scores = work()
    return scores, max(_peak_rss() - held, 0)


def _peak_rss() -> int:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
