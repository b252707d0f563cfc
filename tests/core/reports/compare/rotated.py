"""A copy of a run that asked its questions with their options in reverse order."""

from __future__ import annotations

import time
from dataclasses import replace

from core.records import OptionLogits, Question
from core.runs import store
from core.runs.store import RunRecord


def rotated_copy(run_id: str) -> str:
    """Write the copy into HEDGE_HOME; returns its id."""
    record, rows = store.read_record(run_id), store.read_questions(run_id).to_pylist()
    spec = replace(record.spec, model="turned")
    questions = [
        Question(
            row["id"],
            row["task"],
            row["group"],
            row["context"],
            row["question"],
            tuple(row["options"][::-1]),
            len(row["options"]) - 1 - row["label"],
        )
        for row in rows
    ]
    scored = store.read_logits(run_id)
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    store.write_questions(folder, questions, [row["role"] for row in rows])
    store.write_logits(folder, OptionLogits(scored.ids, scored.logits[:, ::-1].copy(), scored.letter_mass))
    store.update_record(spec.run_id, state="done", ended=time.time())
    return spec.run_id
