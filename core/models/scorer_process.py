"""The process of one scorer: ``python -m core.models.scorer_process FD MODEL DTYPE BATCH_SIZE DEVICE FINGERPRINT``.

A run whose questions are shared out over several devices starts one for each device but its own, and talks to it
through a pipe (:mod:`core.models.scorer_messages`). The scorer loads the model, scores a batch that the run has
scored itself, and leaves unless every bit is the same. After that it answers each task with a result. It ends with the
run's process, which closes the pipe.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

import numpy as np

from core.errors import HedgeError, RunError
from core.models.engine import SharingEngine
from core.models.engine_factory import load_engine
from core.models.out_of_memory import is_out_of_memory, out_of_memory
from core.models.scorer_messages import ScorerBegin, ScorerResult, ScorerStatus, ScorerTask
from core.processes.oom_score import raise_oom_score
from core.records import OptionLogits, joined


def main(
    connection: Connection, model: str, *, dtype: str, batch_size: int | None, device: str, fingerprint: str
) -> None:
    """Score until the run closes its end of the pipe, or something fails."""
    raise_oom_score()
    inbox: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True, name="hedge-scorer-inbox").start()
    try:
        engine = load_engine(model, dtype=dtype, batch_size=batch_size, device=device, fingerprint=fingerprint)
        if not isinstance(engine, SharingEngine):
            raise RunError(f"the engine of model {model} can't share its work")
        connection.send(ScorerStatus("loaded"))
        _check_same(engine, inbox.get())
        connection.send(ScorerStatus("ready"))
        while True:
            task: ScorerTask = inbox.get()
            connection.send(ScorerResult(task.number, tuple(engine.score_packed(task.packed))))
    except HedgeError as error:
        said = str(error)
    except Exception as error:
        traceback.print_exc()
        first = (str(error).strip().splitlines() or [""])[0]
        said = out_of_memory() if is_out_of_memory(error) else f"it stopped with {type(error).__name__}: {first[:300]}"
    with suppress(OSError):
        connection.send(ScorerStatus("failed", said))


def _check_same(engine: SharingEngine, begin: ScorerBegin) -> None:
    """Take the run's way of scoring. Raises :class:`RunError` unless it gives the run's own scores, bit for bit."""
    engine.take_setup(begin.setup)
    want = begin.scores
    got = joined(list(engine.score_packed(begin.packed)), want.ids, k=want.logits.shape[1])
    if not (np.array_equal(got.logits, want.logits) and got.top_tokens == want.top_tokens):
        raise RunError(f"its scores differ from the first device's by up to {_difference(got, want):.3g}")


def _difference(got: OptionLogits, want: OptionLogits) -> float:
    both = np.isfinite(got.logits) & np.isfinite(want.logits)
    return float(np.abs(got.logits - want.logits)[both].max(initial=0.0))


def _receive(connection: Connection, inbox: SimpleQueue[Any]) -> None:
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):
        os._exit(3)  # not sys.exit: a scorer that is deep in a model must not outlive its run


if __name__ == "__main__":
    _fd, _model, _dtype, _batch_size, _device, _fingerprint = sys.argv[1:]
    main(
        Connection(int(_fd)),
        _model,
        dtype=_dtype,
        batch_size=int(_batch_size) if _batch_size else None,
        device=_device,
        fingerprint=_fingerprint,
    )
    os._exit(0)  # not sys.exit, which waits for the libraries' threads
