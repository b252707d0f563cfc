"""The largest allowed batch, and the recovery if a batch was too large.

A limit on tokens and a limit on bytes decide how many rows a batch holds, unless the number of rows is set by hand. On
a CPU small batches are fastest, because they stay in its caches. On a GPU large ones are, up to its memory. If memory
runs out anyway, both limits are halved for the rest of the run, and work continues at the batch that failed.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import torch

from core.errors import RunError
from core.models.batching import token_batches
from core.models.masks import MASK_BYTES
from core.models.memory import SHARE, Geometry, free_bytes
from core.models.out_of_memory import is_out_of_memory, out_of_memory

TOKENS = {"cpu": 512, "mps": 8192, "cuda": 32768}
"""Tokens per batch. A larger batch is no faster on the device."""


Result = TypeVar("Result")


class Budget:
    """The limits on batches of one device. ``rows`` is a number of rows set by hand, or None if memory decides.

    For a model that is spread over several devices (``also``), the one with the least memory counts.
    """

    def __init__(
        self, device: torch.device, shape: Geometry, *, rows: int | None = None, also: Sequence[torch.device] = ()
    ) -> None:
        self.device = device
        self.shape = shape
        self.rows = rows
        self.tokens = TOKENS.get(device.type, TOKENS["cpu"])
        self.bytes = min(int(free_bytes(own) * SHARE.get(own.type, SHARE["cpu"])) for own in {device, *also})
        self.halvings = 0

    def fits(self, rows: int, width: int, *, prefix: int, copies: int, masked: bool = False) -> bool:
        """Whether ``rows`` rows of ``width`` tokens fit into one batch, with ``copies`` of each row's cache, and
        ``masked`` with a mask of all pairs of tokens. A single row always fits."""
        if self.rows is not None:
            return rows <= self.rows
        within = rows * width <= self.tokens
        return rows == 1 or (within and self.fits_bytes(rows, width, prefix=prefix, copies=copies, masked=masked))

    def fits_bytes(self, rows: int, width: int, *, prefix: int, copies: int, masked: bool = False) -> bool:
        """Whether memory allows such a batch, even if a smaller one is faster. A single row always fits."""
        each = self.shape.row(width, prefix) + (MASK_BYTES * width * (prefix + width) if masked else 0)
        return rows == 1 or rows * copies * each <= self.bytes

    def halve(self) -> bool:
        """Halve the limits from now on. Returns False if they can't be made smaller."""
        self.halvings += 1
        if self.rows is not None:
            self.rows, before = max(1, self.rows // 2), self.rows
            return self.rows < before
        self.tokens, self.bytes, before = self.tokens // 2, self.bytes // 2, self.tokens
        return before > 1

    def batches(
        self, widths: Sequence[int], *, prefix: int = 0, copies: int = 1, equal: bool = False, masked: bool = False
    ) -> list[list[int]]:
        """Row numbers in batches, widest rows first. With ``equal``, a batch holds rows of one width only."""
        return token_batches(
            widths, lambda rows, width: self.fits(rows, width, prefix=prefix, copies=copies, masked=masked), equal=equal
        )

    def to_json(self) -> dict[str, Any]:
        """The limits at the end, for ``run.json``."""
        return {"tokens": self.tokens, "bytes": self.bytes, "rows": self.rows, "halved": self.halvings}


def work_through(
    widths: Sequence[int],
    compute: Callable[[list[int]], Result],
    *,
    plan: Callable[[Sequence[int]], list[list[int]]],
    budget: Budget,
) -> Iterator[tuple[list[int], Result]]:
    """Compute all rows in batches. Yields the row numbers of each batch with its result as soon as it is computed.

    ``plan`` groups the rows' widths into batches. When memory runs out, it is called again for the remaining rows.
    Raises :class:`RunError` if memory runs out on a single row.
    """
    waiting = plan(widths)
    while waiting:
        batch = waiting[0]
        computed, ran_out = attempt(compute, batch)
        if not ran_out:
            waiting.pop(0)
            yield batch, cast(Result, computed)
            continue
        free(budget.device)  # outside the except block, whose traceback would keep the tensors alive
        if len(batch) == 1 or not budget.halve():
            raise RunError(out_of_memory(widths[batch[0]]))
        left = [row for rows in waiting for row in rows]
        waiting = [[left[at] for at in rows] for rows in plan([widths[row] for row in left])]


def attempt(compute: Callable[[list[int]], Result], batch: list[int]) -> tuple[Result | None, bool]:
    """The result, and whether memory ran out instead. Call :func:`free` before the next attempt."""
    try:
        return compute(batch), False
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    return None, True


def free(device: torch.device) -> None:
    """Return unreferenced memory to the device."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()
