"""A run's folder as Hedge keeps it: ``run.json``, ``questions.parquet`` and ``logits.parquet``.

So a run goes from one Hedge to another as it is: copied from ``HEDGE_HOME/runs`` or from the archive, whole or zipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pyarrow as pa

from core.confined.codec import Misunderstood, decoder
from core.errors import InputError
from core.exchange.build_run import check_not_flat
from core.exchange.imported import ImportedRun
from core.exchange.safe_read import json_document, reason, shown
from core.files.tables import read_table
from core.records import OptionLogits, Question, Role
from core.runs import store
from core.runs.shared_questions import questions_file
from core.runs.spec import RunSpec

RECORD = "run.json"
LOGITS = "logits.parquet"
FILES = (RECORD, "questions.parquet", LOGITS)


def is_record(values: Any) -> bool:
    """Whether a JSON document is a run's ``run.json``."""
    return isinstance(values, dict) and {"schema", "spec", "state", "provenance"} <= set(values)


def read(folder: Path) -> ImportedRun:
    """The run of a folder. Raises :class:`InputError` if it has not ended well, or a file is missing or damaged."""
    path = folder / RECORD
    values = json_document(path)
    asked = questions_file(folder)
    files = dict(zip(FILES, (path, asked, folder / LOGITS), strict=True))
    lacking = [name for name, file in files.items() if not file.is_file()]
    if lacking:
        raise InputError(f"{path}: expected {', '.join(lacking)} beside it, found no such file; take the whole folder")
    if not is_record(values) or not isinstance(values["schema"], int) or values["schema"] > store.SCHEMA_VERSION:
        raise InputError(f"{path}: expected a run of this Hedge or an older one, found another file; update Hedge")
    if values["state"] != "done":
        raise InputError(f"{path}: expected a run that has ended well, found the state {values['state']!r}")
    spec = _spec(values["spec"], path)
    if not isinstance(values["provenance"], dict):
        raise InputError(f"{path}: expected the provenance of a run as a JSON object, found another value")
    if not spec.answers:
        raise InputError(f"{path}: expected a run that answers questions, found one of the form {spec.form!r}")
    table = read_table(asked)
    try:
        rows = table.to_pylist()
        questions = tuple(
            Question(
                id=str(row["id"]),
                task=str(row["task"]),
                group=str(row["group"]),
                context=str(row["context"]),
                question=str(row["question"]),
                options=tuple(map(str, row["options"])),
                label=int(row["label"]),
            )
            for row in rows
        )
        roles = tuple(row["role"] for row in rows)
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, which is refused
            scored = _logits(read_table(folder / LOGITS))
    except (KeyError, TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: the questions and logits of a run can't be read from it ({reason(error)})"
        ) from error
    unknown = set(scored.ids) - {question.id for question in questions}
    if unknown:
        raise InputError(f"{path}: expected logits of its questions, found logits of {next(iter(unknown))!r}")
    if odd := [role for role in roles if role not in get_args(Role)]:
        raise InputError(
            f"{path}: expected {', '.join(get_args(Role))} as the role of a question, found {shown(odd[0])}"
        )
    answered = set(scored.ids)
    parts = {role for question, role in zip(questions, roles, strict=True) if question.id in answered}
    if not parts >= {"calibration", "test"} or scored.logits.size == 0:
        raise InputError(f"{path}: expected logits of questions that calibrate and of questions that test, found none")
    check_not_flat(scored.logits, path)
    return ImportedRun(spec, questions, roles, scored, values["provenance"] | {"file": folder.name})


def _spec(values: Any, path: Path) -> RunSpec:
    """The spec of a run, each field of which has the type that it should have."""
    hints = get_type_hints(RunSpec)
    try:
        for name in values.keys() & hints.keys():
            decoder(hints[name])(values[name], {})
        return RunSpec.from_json(values)
    except (Misunderstood, AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{path}: expected the spec of a run, found another form ({reason(error)})") from error


def _logits(table: pa.Table) -> OptionLogits:
    tokens = None
    if "option_tokens" in table.column_names:
        tokens = np.array(table["option_tokens"].to_pylist(), dtype=np.int32)
    bounded = None
    if "bounded" in table.column_names:
        bounded = np.array(table["bounded"].to_pylist(), dtype=np.bool_)
    return OptionLogits(
        ids=tuple(map(str, table["id"].to_pylist())),
        logits=np.array(table["logits"].to_pylist(), dtype=np.float32),
        letter_mass=np.array(table["letter_mass"].to_pylist(), dtype=np.float32),
        option_tokens=tokens,
        top_tokens=tuple(table["top_token"].to_pylist()) if "top_token" in table.column_names else None,
        bounded=bounded,
    )
