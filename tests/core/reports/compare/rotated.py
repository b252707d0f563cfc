"""Copies of a run: with its options in reverse order, with fewer test questions, without E and F."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from core.records import OptionLogits, Question
from core.runs import store
from core.runs.spec import RunSpec
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


def shorter_copy(run_id: str, *, without: int, model: str = "shorter") -> str:
    """Write a copy whose first test questions, ``without`` many, are demonstrations; returns its id."""
    record, table = store.read_record(run_id), store.read_questions(run_id)
    rows = table.to_pylist()
    left = [row["id"] for row in rows if row["role"] == "test"][:without]
    roles = ["demonstration" if row["id"] in left else row["role"] for row in rows]
    return _copy(run_id, replace(record.spec, model=model), rows, roles)


def narrow_copy(run_id: str, *, model: str = "narrow") -> str:
    """Write a copy that asked without the last two options; returns its id."""
    record, rows = store.read_record(run_id), store.read_questions(run_id).to_pylist()
    rows = [row | {"options": row["options"][:-2]} for row in rows]
    return _copy(run_id, replace(record.spec, model=model), rows, [row["role"] for row in rows])


def shorter_options_copy(run_id: str, *, model: str) -> str:
    """Write a copy whose every second question lacks the last option before E and F, if that is not the right one."""
    record, rows = store.read_record(run_id), store.read_questions(run_id).to_pylist()
    for row in rows[::2]:
        if row["label"] != len(row["options"]) - 3:
            del row["options"][-3]
    return _copy(run_id, replace(record.spec, model=model), rows, [row["role"] for row in rows])


def _copy(run_id: str, spec: RunSpec, rows: list[dict[str, Any]], roles: list[str]) -> str:
    fields = ("id", "task", "group", "context", "question")
    questions = [Question(*(row[name] for name in fields), tuple(row["options"]), row["label"]) for row in rows]
    scored = store.read_logits(run_id)
    counts = {question.id: len(question.options) for question in questions}
    rows_scored = [i for i, name in enumerate(scored.ids) if roles[list(counts).index(name)] != "demonstration"]
    names = tuple(scored.ids[i] for i in rows_scored)
    logits = scored.logits[rows_scored, : max(counts.values())].copy()
    for row, name in zip(logits, names, strict=True):
        row[counts[name] :] = -np.inf
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    store.write_questions(folder, questions, roles)
    store.write_logits(folder, OptionLogits(names, logits, scored.letter_mass[rows_scored].copy()))
    store.update_record(spec.run_id, state="done", ended=time.time())
    return spec.run_id
