"""The process of one scorer.

A run whose questions are shared out over several devices starts one for each device but its own; the messages are
those of :mod:`core.models.scorer_messages`. The scorer loads the model, scores a batch that the run has scored
itself, and leaves unless every bit is the same. After that it answers each task with a result.
"""

import traceback
from contextlib import suppress
from multiprocessing.connection import Connection

import numpy as np

from core.errors import HedgeError, RunError
from core.models.engine import SharingEngine
from core.models.engine_factory import load_engine
from core.models.out_of_memory import is_out_of_memory, out_of_memory
from core.models.scorer_messages import ScorerBegin, ScorerResult, ScorerStatus, ScorerTask
from core.processes.parent import Parent
from core.records import OptionLogits, joined


def main(connection: Connection, model: str, dtype: str, batch_size: str, device: str, fingerprint: str) -> None:
    """Score until the run has died, or something fails. ``batch_size`` is empty for the engine's own choice."""
    parent = Parent(connection)
    size = int(batch_size) if batch_size else None
    try:
        engine = load_engine(model, dtype=dtype, batch_size=size, device=device, fingerprint=fingerprint)
        if not isinstance(engine, SharingEngine):
            raise RunError(f"the engine of model {model} can't share its work")
        parent.send(ScorerStatus("loaded"))
        _check_same(engine, parent.receive())
        parent.send(ScorerStatus("ready"))
        while True:
            task: ScorerTask = parent.receive()
            parent.send(ScorerResult(task.number, tuple(engine.score_packed(task.packed))))
    except HedgeError as error:
        failure = str(error)
    except Exception as error:
        traceback.print_exc()
        first = (str(error).strip().splitlines() or [""])[0]
        words = f"it stopped with {type(error).__name__}: {first[:300]}"
        failure = out_of_memory() if is_out_of_memory(error) else words
    with suppress(OSError):
        parent.send(ScorerStatus("failed", failure))


def _check_same(engine: SharingEngine, begin: ScorerBegin) -> None:
    """Take the run's way of scoring. Raises :class:`RunError` unless it gives the run's own scores, bit for bit."""
    engine.take_setup(begin.setup)
    want = begin.scores
    got = joined(list(engine.score_packed(begin.packed)), want.ids, k=want.logits.shape[1])
    if not (np.array_equal(got.logits, want.logits) and got.top_tokens == want.top_tokens):
        raise RunError(f"its scores differ from the first device's by up to {_difference(got, want):.3g}")


def _difference(got: OptionLogits, want: OptionLogits) -> float:
    finite = np.isfinite(got.logits) & np.isfinite(want.logits)
    return float(np.abs(got.logits - want.logits)[finite].max(initial=0.0))
