"""How far every scoring path of an engine is from scoring one option at a time, and which of them are wrong.

The paths, the batches and the tolerance are those of the self-check (:mod:`core.models.path_selection`). A path that
is outside the tolerance is not used by runs. It is *wrong* if rounding does not explain how far it is off:

- in float32, if it is off by more than ten tolerances;
- in fewer bits, where two correct orders of summing differ as much as either differs from float32, if it is on average
  more than twice as far from float32 as scoring one option at a time is, plus a tolerance. Where no float32 reference
  fits, if it is off by more than four tolerances.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.models.path_selection import WRONG_PATH, Rung, shared_part, sums_within, tolerance
from core.models.paths import Sums
from core.models.rows import TokenRow
from core.models.transformers_engine import TransformersEngine
from core.records import Prompt

QUESTIONS = 8
FLOAT32_TOLERANCES = 10
ALONE_TOLERANCES = 4
TIMES_AS_FAR = 2
LONGEST_REASON = 120


@dataclass(frozen=True, slots=True)
class PathDifference:
    """One path: the largest difference of a log-probability from one by one, whether the self-check takes it, and
    whether it is wrong; ``reason`` says why it can't be computed at all."""

    path: str
    difference: float
    taken: bool
    wrong: bool
    reason: str = ""

    @property
    def in_words(self) -> str:
        """What is wrong with the path."""
        return f"{self.path} {self.reason or f'is off by {self.difference:.3g}'}"


def picked(engine: TransformersEngine, prompts: Sequence[Prompt]) -> list[TokenRow]:
    """The rows of a few prompts, from the shortest to the longest, once the engine is prepared for all."""
    engine.prepare(prompts)
    rows = sorted(engine.encoder.rows(prompts), key=lambda row: row.tree_length)
    few = min(QUESTIONS, len(rows))
    return [rows[round(i * (len(rows) - 1) / max(few - 1, 1))] for i in range(few)]


def one_by_one(engine: TransformersEngine, rows: Sequence[TokenRow]) -> Sums:
    """The reference, by the last path of the engine's ladder."""
    return engine.rungs[-1].compute(rows, None)


def path_differences(
    engine: TransformersEngine, rows: Sequence[TokenRow], *, truth: Sums, reference: Sums | None = None
) -> Iterator[PathDifference]:
    """Every faster path against ``truth``, the sums of one by one; ``reference`` are those of float32."""
    for rung in engine.rungs[:-1]:
        if reason := _refused(engine, rung, rows):
            yield PathDifference(rung.name, math.inf, False, True, reason)
            continue
        got = sums_within(rung, rows, engine.prefix, engine.budget)
        yield judged(rung.name, got, truth, reference, allowed=tolerance(rows, engine.dtype), dtype=engine.dtype)


def judged(path: str, got: Sums, truth: Sums, reference: Sums | None, *, allowed: float, dtype: str) -> PathDifference:
    """Whether a path's sums are those of the ``truth``, within what rounding explains."""
    off = differences(got, truth)
    largest = max(off) if all(map(math.isfinite, off)) else math.inf
    if dtype == "float32":
        wrong = largest > FLOAT32_TOLERANCES * allowed
    elif reference is None:
        wrong = largest > ALONE_TOLERANCES * allowed
    else:
        wrong = not mean(differences(got, reference)) <= TIMES_AS_FAR * mean(differences(truth, reference)) + allowed
    return PathDifference(path, largest, largest <= allowed, wrong)


def differences(got: Sums, truth: Sums) -> list[float]:
    """The absolute differences of all log-probabilities."""
    return [abs(a - b) for row, true_row in zip(got, truth, strict=True) for a, b in zip(row, true_row, strict=True)]


def mean(values: Sequence[float]) -> float:
    """The mean."""
    return sum(values) / len(values)


def _refused(engine: TransformersEngine, rung: Rung, rows: Sequence[TokenRow]) -> str:
    """Why the model can't take a path; empty if it can. One row is tried."""
    given, prefix = shared_part(rung, rows[:1], engine.prefix)
    try:
        rung.compute(given, prefix)
    except WRONG_PATH as error:
        return f"stopped with {type(error).__name__}: {str(error).strip()[:LONGEST_REASON]}"
    return ""
