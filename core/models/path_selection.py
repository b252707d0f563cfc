"""Path selection: the fastest way of scoring that agrees with scoring one option at a time.

Many optimisations are silently wrong for some architecture, and which ones changes with the library's version. So
nothing is assumed. At the start of a run, each path is tried on some of the run's own prompts, including the shortest
and the longest, with the prefix that they share. The first path whose log-probabilities equal those of the model's own
call, one option at a time, is used. The last path is that call itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import torch

from core.errors import RunError, SelfCheckError
from core.models import masks, paths
from core.models.batching import token_batches
from core.models.budget import Budget, attempt, free
from core.models.decoder import Decoder
from core.models.out_of_memory import out_of_memory
from core.models.paths import Sums
from core.models.prefix import Prefix
from core.models.rows import TokenRow

TOLERANCE = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1, "int8": 1e-1, "int4": 1e-1}
"""The largest allowed difference in the log-probability of one token; see :func:`tolerance`."""

WRONG_PATH = (RuntimeError, ValueError, TypeError, IndexError, AttributeError, KeyError, NotImplementedError)
"""Errors with which an architecture refuses a path. Running out of memory is handled separately."""


def refusal(error: Exception) -> str:
    """One of these errors, for the log of a run."""
    return f"{type(error).__name__}: {str(error).strip()[:120]}"


@dataclass(frozen=True, slots=True)
class Rung:
    """One way of scoring: its name, whether it uses a shared prefix, and what computes a batch of rows.

    ``cost`` is the number of tokens that a row has on this rung. ``masked`` says that a mask of all pairs of tokens is
    made. ``repeats`` says that a row's cache is held once for each option, and that only contexts of the same length
    share a pass. ``letters`` says that it reads only one token of each option.
    """

    name: str
    compute: Callable[[Sequence[TokenRow], Prefix | None], Sums]
    cost: Callable[[TokenRow], int]
    shares: bool = False
    repeats: bool = False
    masked: bool = False
    letters: bool = False

    def takes(self, rows: Sequence[TokenRow], prefix: Prefix | None) -> bool:
        """Whether the rung can be right for these rows. If it reads only one token, options must have one token; if it
        shares a prefix, contexts must begin with ``prefix``."""
        if self.letters and not all(row.is_letters for row in rows):
            return False
        start = prefix.tokens if prefix and self.shares else ()
        return not start or all(row.context[: len(start)] == start and len(row.context) > len(start) for row in rows)

    def copies(self, rows: Sequence[TokenRow]) -> int:
        """How often a row's cache is held."""
        return max(len(row.options) for row in rows) if self.repeats else 1


@dataclass(frozen=True, slots=True)
class Climb:
    """The result of the selection: the path that passed, its difference, and why faster paths failed."""

    rung: Rung
    difference: float
    tolerance: float
    refused: tuple[str, ...]


def ladder(decoder: Decoder, *, letters: bool, prefix: bool, long: bool = False) -> list[Rung]:
    """The paths for this model, fastest first. Rows that are too ``long`` for a mask have no path with one."""
    rungs: list[Rung] = []
    if letters:
        if prefix:
            rungs.append(Rung("prefix cache", _with(paths.letters, decoder), _context, shares=True, letters=True))
        rungs.append(Rung("padded rows", _with(paths.letters, decoder), _context, letters=True))
    else:
        before = "prefix cache and " if prefix else ""
        for kind in () if long else masks.kinds(decoder.model.config):
            compute = partial(paths.option_tree, kind=kind)
            name = f"{before}tree ({kind} mask)"
            rungs.append(Rung(name, _with(compute, decoder), attrgetter("tree_length"), shares=prefix, masked=True))
        rungs.append(
            Rung(f"{before}context cache", _with(paths.context_cache, decoder), _context, prefix, repeats=True)
        )
        rungs.append(Rung("padded rows", _with(paths.padded_options, decoder), _options))
    rungs.append(Rung("one by one", lambda rows, _: paths.one_by_one(decoder, rows), _options))
    return rungs


def climb_down(
    rungs: Sequence[Rung], rows: Sequence[TokenRow], *, prefix: Prefix | None, dtype: str, budget: Budget | None = None
) -> Climb:
    """Try the rungs on whole ``rows``, each with all rows in one batch if the bytes of the ``budget`` allow it. The
    last rung is the reference.

    Raises :class:`SelfCheckError` if the model's own call gives no numbers, and :class:`RunError` if memory runs out on
    a single row.
    """
    truth = rungs[-1].compute(rows, None)
    if not all(math.isfinite(value) for sums in truth for value in sums):
        raise SelfCheckError(
            "the model gives no numbers for this run's prompts; its weights are broken, or it needs 32-bit (float32) "
            "or 16-bit (bfloat16) precision"
        )
    allowed = tolerance(rows, dtype)
    refused: list[str] = []
    for rung in rungs[:-1]:
        try:
            got = sums_within(rung, rows, prefix, budget)
        except WRONG_PATH as error:
            refused.append(f"{rung.name}: {refusal(error)}")
            continue
        difference = _largest_difference(got, truth)
        if difference <= allowed:
            return Climb(rung, difference, allowed, tuple(refused))
        refused.append(f"{rung.name}: differs by {difference:.3g}, more than {allowed:.3g}")
    return Climb(rungs[-1], 0.0, allowed, tuple(refused))


def sums_within(rung: Rung, rows: Sequence[TokenRow], prefix: Prefix | None, budget: Budget | None) -> Sums:
    """The sums of all rows, in as few batches as memory allows. Rows of different lengths in one batch show the effect
    of padding."""
    behind, used = shared_part(rung, rows, prefix)
    widths, copies, before = [rung.cost(row) for row in behind], rung.copies(rows), len(used or ())
    parts = (
        token_batches(
            widths, lambda n, width: budget.fits_bytes(n, width, prefix=before, copies=copies, masked=rung.masked)
        )
        if budget
        else [list(range(len(rows)))]
    )
    sums: Sums = [[] for _ in rows]
    for part in parts:
        for i, scored in zip(part, _together(rung, [rows[i] for i in part], prefix), strict=True):
            sums[i] = scored
    return sums


def _together(rung: Rung, rows: Sequence[TokenRow], prefix: Prefix | None) -> Sums:
    """All rows in one batch. If memory does not suffice, every other row first and then the rest."""
    behind, used = shared_part(rung, rows, prefix)
    sums, ran_out = attempt(lambda batch: rung.compute([behind[i] for i in batch], used), list(range(len(rows))))
    if not ran_out and sums is not None:
        return sums
    free(torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"))
    if len(rows) == 1:
        raise RunError(out_of_memory(len(rows[0].context)))
    halves = [_together(rung, rows[first::2], prefix) for first in (0, 1)]
    return [halves[i % 2][i // 2] for i in range(len(rows))]


def shared_part(
    rung: Rung, rows: Sequence[TokenRow], prefix: Prefix | None
) -> tuple[Sequence[TokenRow], Prefix | None]:
    """The arguments of a path: the rows after the prefix with the prefix, or whole rows without one."""
    if prefix is None or not rung.shares:
        return rows, None
    return [row.without(len(prefix)) for row in rows], prefix


def tolerance(rows: Sequence[TokenRow], dtype: str) -> float:
    """The tolerance of a sum of log-probabilities: fixed in float32, otherwise growing with √(tokens of an option)."""
    longest = max(row.longest_option for row in rows)
    return TOLERANCE[dtype] * (1 if dtype == "float32" else math.sqrt(longest))


def _largest_difference(sums: Sums, truth: Sums) -> float:
    differences = [
        abs(a - b) for row, true_row in zip(sums, truth, strict=True) for a, b in zip(row, true_row, strict=True)
    ]
    return math.inf if any(math.isnan(value) for value in differences) else max(differences)


def _with(path: Callable[..., Sums], decoder: Decoder) -> Callable[[Sequence[TokenRow], Prefix | None], Sums]:
    return lambda rows, prefix: path(decoder, rows, prefix=prefix)


def _context(row: TokenRow) -> int:
    return len(row.context)


def _options(row: TokenRow) -> int:
    return len(row.options) * (len(row.context) + row.longest_option - 1) if not row.is_letters else len(row.context)
