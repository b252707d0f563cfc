"""How large a batch is, and what happens when it was too large.

A batch holds as many rows as a number of tokens and a number of bytes allow, or a number of rows fixed by hand. On
a CPU small batches are the fastest, because they stay in its caches; on a GPU large ones are, up to its memory.
Where memory runs out all the same, the budget is halved for good and the work goes on at the batch that failed.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import torch

from core.errors import RunError
from core.inference.batching import token_batches
from core.inference.memory import SHARE, Geometry, free_bytes
from core.inference.out_of_memory import is_out_of_memory, out_of_memory

TOKENS = {"cpu": 512, "mps": 8192, "cuda": 32768}
"""Tokens of a batch beyond which a device gains nothing."""


Result = TypeVar("Result")


class Budget:
    """The size of batches on one device; ``rows`` is a size fixed by hand, None where memory decides."""

    def __init__(self, device: torch.device, shape: Geometry, *, rows: int | None = None) -> None:
        self.device = device
        self.shape = shape
        self.rows = rows
        self.tokens = TOKENS.get(device.type, TOKENS["cpu"])
        self.bytes = int(free_bytes(device) * SHARE.get(device.type, SHARE["cpu"]))
        self.halvings = 0

    def fits(self, rows: int, width: int, *, prefix: int, copies: int) -> bool:
        """Whether that many rows of that width, each in ``copies`` of its cache, may share a batch; one always may."""
        if self.rows is not None:
            return rows <= self.rows
        taken = rows * copies * self.shape.row(width, prefix)
        return rows == 1 or (rows * width <= self.tokens and taken <= self.bytes)

    def halve(self) -> bool:
        """Half the size from now on; False where it can't be less."""
        self.halvings += 1
        if self.rows is not None:
            self.rows, before = max(1, self.rows // 2), self.rows
            return self.rows < before
        self.tokens, self.bytes, before = self.tokens // 2, self.bytes // 2, self.tokens
        return before > 1

    def batches(
        self, widths: Sequence[int], *, prefix: int = 0, copies: int = 1, equal: bool = False
    ) -> list[list[int]]:
        """Row numbers in batches, the widest first; ``equal`` keeps rows of one width together."""
        return token_batches(
            widths, lambda rows, width: self.fits(rows, width, prefix=prefix, copies=copies), equal=equal
        )

    def to_json(self) -> dict[str, Any]:
        """What was used, for ``run.json``."""
        return {"tokens": self.tokens, "bytes": self.bytes, "rows": self.rows, "halved": self.halvings}


def work_through(
    widths: Sequence[int],
    compute: Callable[[list[int]], Result],
    *,
    plan: Callable[[Sequence[int]], list[list[int]]],
    budget: Budget,
) -> Iterator[tuple[list[int], Result]]:
    """Compute every row, batch by batch; yields a batch's row numbers with its result as soon as it is there.

    ``plan`` makes batches of the rows' widths and is asked again, for what is left, where memory ran out.
    Raises :class:`RunError` where memory runs out on a single row.
    """
    waiting = plan(widths)
    while waiting:
        batch = waiting[0]
        result, ran_out = attempt(compute, batch)
        if not ran_out:
            waiting.pop(0)
            yield batch, cast(Result, result)
            continue
        free(budget.device)  # outside the except block, whose traceback would keep the tensors alive
        if len(batch) == 1 or not budget.halve():
            raise RunError(out_of_memory(widths[batch[0]]))
        left = [row for rows in waiting for row in rows]
        waiting = [[left[at] for at in rows] for rows in plan([widths[row] for row in left])]


def attempt(compute: Callable[[list[int]], Result], batch: list[int]) -> tuple[Result | None, bool]:
    """The result, and whether memory ran out instead; to be asked again only after :func:`free`."""
    try:
        return compute(batch), False
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    return None, True


def free(device: torch.device) -> None:
    """Give back what nothing holds any more."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()
