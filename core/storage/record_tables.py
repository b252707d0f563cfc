"""Records as Arrow tables, which are the columns of a run's Parquet files: questions, and the scores of options."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.records import IntArray, OptionLogits, Question, Role
from core.storage.parquet_columns import array_of, number_rows, numbers, text_lists, texts
from core.storage.sealed import DamagedError

TEXT, NUMBERS, TEXTS, WHOLE, FRACTION = "texts", "lists of numbers", "lists of texts", "whole numbers", "numbers"
COLUMNS: dict[str, dict[str, str]] = {
    "questions.parquet": {
        "id": TEXT,
        "task": TEXT,
        "group": TEXT,
        "context": TEXT,
        "question": TEXT,
        "options": TEXTS,
        "label": WHOLE,
        "role": TEXT,
    },
    "logits.parquet": {"id": TEXT, "logits": NUMBERS, "letter_mass": FRACTION},
    "bare.parquet": {"by": TEXT, "text": TEXT, "log_p": FRACTION},
    "written.parquet": {"id": TEXT, "repeat": WHOLE, "text": TEXT, "answer": WHOLE},
}
"""The columns that each file of a run has, by their kind of values."""
CLUSTERED = {"clusters": "numbered"}
"""In the metadata of a table of questions: a missing column ``cluster`` means that every row asks another question."""


def questions_table(questions: Sequence[Question], roles: Sequence[Role], clusters: IntArray | None = None) -> pa.Table:
    """A row per question: id, task, group, context, question, options, label, role; ``roles`` has one entry each.

    With ``clusters`` (n,) there is a column ``cluster``: rows with the same number ask the same question. If any
    question has ordered options, a column ``ordered`` says of each whether it has.
    """
    table = pa.table(
        {
            "id": texts([q.id for q in questions]),
            "task": texts([q.task for q in questions]),
            "group": texts([q.group for q in questions]),
            "context": texts([q.context for q in questions]),
            "question": texts([q.question for q in questions]),
            "options": text_lists([q.options for q in questions]),
            "label": numbers(np.array([q.label for q in questions], np.int16)),
            "role": texts(roles),
            **({} if clusters is None else {"cluster": numbers(clusters.astype(np.int32))}),
            **({"ordered": pa.array([q.ordered for q in questions])} if any(q.ordered for q in questions) else {}),
        }
    )
    return table.replace_schema_metadata(CLUSTERED)


def logits_table(scored: OptionLogits) -> pa.Table:
    """A row per question: id, logits (k), letter_mass, and option_tokens (k), bounded (k), top_token, probabilities
    (k) and samples if known."""
    columns = {
        "id": texts(scored.ids),
        "logits": number_rows(scored.logits),
        "letter_mass": numbers(scored.letter_mass.astype(np.float32)),
    }
    if scored.option_tokens is not None:
        columns["option_tokens"] = number_rows(scored.option_tokens.astype(np.int32))
    if scored.bounded is not None:
        columns["bounded"] = number_rows(scored.bounded.astype(np.int32))
    if scored.top_tokens is not None:
        columns["top_token"] = texts(scored.top_tokens)
    if scored.probabilities is not None:
        columns["probabilities"] = number_rows(scored.probabilities)
    if scored.samples is not None:
        columns["samples"] = numbers(scored.samples.astype(np.int32))
    return pa.table(columns)


def option_logits(table: pa.Table) -> OptionLogits:
    """What :func:`logits_table` made a table of."""

    def rows(name: str) -> npt.NDArray[Any]:
        return array_of(table[name].combine_chunks().flatten()).reshape(table.num_rows, -1)

    known = set(table.column_names)
    return OptionLogits(
        ids=tuple(table["id"].to_pylist()),
        logits=rows("logits"),
        letter_mass=array_of(table["letter_mass"]).astype(np.float32, copy=False),
        option_tokens=rows("option_tokens") if "option_tokens" in known else None,
        top_tokens=tuple(table["top_token"].to_pylist()) if "top_token" in known else None,
        bounded=rows("bounded").astype(np.bool_) if "bounded" in known else None,
        probabilities=rows("probabilities") if "probabilities" in known else None,
        samples=array_of(table["samples"]).astype(np.int64) if "samples" in known else None,
    )


def bare_tables(scores: Mapping[str, OptionLogits]) -> list[pa.Table]:
    """A table per bare prompt (a name of :data:`core.questions.prompting.cloze.BARE`), with a row per distinct option
    text.

    Columns: ``by`` (the bare prompt), ``text``, and ``log_p``, what the text scores on its own.
    """
    return [
        pa.table(
            {
                "by": texts([name] * len(scored.ids)),
                "text": texts(scored.ids),
                "log_p": numbers(scored.logits[:, 0].astype(np.float32)),
            }
        )
        for name, scored in scores.items()
    ]


def bare_scores(table: pa.Table) -> dict[str, dict[str, float]]:
    """By bare prompt, what each option text of :func:`bare_tables` scores on its own."""
    scores: dict[str, dict[str, float]] = {}
    for by, text, log_p in zip(*(table[name].to_pylist() for name in ("by", "text", "log_p")), strict=True):
        scores.setdefault(by, {})[text] = log_p
    return scores


def written_table(rows: Sequence[tuple[str, int, str, int]]) -> pa.Table:
    """A row per written answer: ``id`` of its question, ``repeat``, ``text``, ``answer`` (-1 if it names none)."""
    columns = zip(("id", "repeat", "text", "answer"), zip(*rows, strict=True), strict=True)
    return pa.table({name: list(values) for name, values in columns})


def check_columns(file: str, table: pa.Table, columns: Sequence[str] | None = None) -> None:
    """Raise :class:`~core.storage.sealed.DamagedError` if a file of a run lacks one of its columns, or of those
    ``columns`` that are read, or holds values of another kind in it."""
    for name, kind in COLUMNS.get(file, {}).items():
        if columns is None or name in columns:
            if name not in table.column_names:
                raise DamagedError(f"it lacks the column {name}")
            column = table[name]
            if not _holds(column.type, kind) or column.null_count:
                raise DamagedError(f"it has other values than {kind} in its column {name}")
            if name == "role" and not set(column.unique().to_pylist()) <= set(get_args(Role)):
                raise DamagedError("it has a question without a known role")


def _holds(kind: pa.DataType, values: str) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if values in (NUMBERS, TEXTS):
        return is_list and _holds(kind.value_type, FRACTION if values == NUMBERS else TEXT)
    if values == TEXT:
        within = kind.value_type if pa.types.is_dictionary(kind) else kind
        return bool(pa.types.is_string(within) or pa.types.is_large_string(within))
    return bool(pa.types.is_integer(kind) or (values == FRACTION and pa.types.is_floating(kind)))
