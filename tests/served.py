"""Runs of models on servers, with known numbers."""

import time

import numpy as np

from core.conformal.probabilities import log_softmax
from core.records import OptionLogits
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.conftest import synthetic_questions

SERVER = "http://gpu-3:8000/v1"


def served_run(
    n: int = 200,
    *,
    k: int = 4,
    seed: int = 0,
    listed: int | None = None,
    model: str = "llama-70b",
    servers: tuple[str, ...] = (SERVER,),
    signal: float = 2.5,
    prompt_format: str = "plain",
) -> str:
    """Write a finished run of a model on servers, which list the ``listed`` most probable letters of each question
    (None: all): of the others only an upper bound is known. Returns its id."""
    questions = synthetic_questions(n, k=k, seed=seed)
    logits = true_logits(n, k=k, seed=seed, labels=[q.label for q in questions], signal=signal)
    bounded = None
    if listed is not None:
        floor = np.sort(logits, axis=1)[:, [-listed]]
        bounded = logits < floor
        logits = np.where(bounded, floor, logits)
    spec = RunSpec(model=model, task="qa", seed=seed, dtype="served", servers=servers, prompt_format=prompt_format)
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    store.write_questions(folder, questions, ["calibration" if i < n // 2 else "test" for i in range(n)])
    scored = OptionLogits(
        tuple(q.id for q in questions), logits.astype(np.float32), np.ones(n, dtype=np.float32), bounded=bounded
    )
    store.write_logits(folder, scored)
    counts = {} if bounded is None else {"bounded_questions": int(bounded.any(axis=1).sum())}
    store.update_record(spec.run_id, state="done", ended=time.time(), provenance=counts)
    return spec.run_id


def true_logits(n: int, *, k: int, seed: int, labels: list[int], signal: float) -> np.ndarray:
    """The logits that a server which lists everything gives for these questions."""
    logits = np.random.default_rng(seed).normal(size=(n, k)) * 1.5
    logits[np.arange(n), labels] += signal
    return log_softmax(logits)
