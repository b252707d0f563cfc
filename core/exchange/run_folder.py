"""A run's folder as Hedge keeps it: ``run.json``, ``questions.parquet`` and ``logits.parquet``.

So a run goes from one Hedge to another: copied from ``HEDGE_HOME/runs`` or from the archive, whole or zipped.

An imported run only describes work done elsewhere. Its spec keeps no instruction to ask or load anything (no
servers, key, price, budget, device or path), of its provenance only :data:`DESCRIPTION` is kept, and the run's id
contains a hash of its data, so that it never has the id of a computed run.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PureWindowsPath
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from core.conformal.probabilities import option_shares, softmax
from core.errors import InputError
from core.exchange.build_run import check_not_flat, in_range
from core.exchange.imported import ImportedRun
from core.models.model_sources import HUB_ID
from core.models.server_address import asked_parts, served_model
from core.questions import bank_names, short_task
from core.questions.catalogue import is_file
from core.questions.identity import cluster_name
from core.questions.option_names import OF_CLASSES
from core.records import LogitArray, OptionLogits, Question, Role
from core.runs import store
from core.runs.caveats import PICKS, picked
from core.runs.record_kinds import misfit
from core.runs.shared_questions import questions_file
from core.runs.spec import FOLDER_DATA, HEDGE, INSTRUCTIONS, RUN_FOLDER, SERVED, RunSpec
from core.storage.sealed import DamagedError, unsealed
from core.storage.tables import read_table
from core.tables.safe_read import json_document, reason, shown

RECORD = "run.json"
LOGITS = "logits.parquet"
BESIDE = {"log.txt", "progress.json", "bare.parquet", "written.parquet"}
"""Files of a run's folder that its results do not need."""
FILES = (RECORD, "questions.parquet", LOGITS)
DESCRIPTION: dict[str, type] = {
    "bank": dict,
    "below_chance": dict,
    "caveats": str,
    "chunk": int,
    "class": dict,
    "claims": dict,
    "counts": dict,
    "data": object,
    "data_fingerprint": str,
    "demonstrations": list,
    "devices": dict,
    "engine": dict,
    "example_prompt": str,
    "host": str,
    "method": str,
    "picks": dict,
    "precision": str,
    "prompts": dict,
    "python": str,
    "scored": dict,
    "model_files": dict,
    "scoring_seconds": float,
    "self_check": dict,
    "stated": dict,
    "texts": bool,
    OF_CLASSES: bool,
}
"""What a run's provenance says of how its results came about, by its kind of value. Everything else is left out, such
as who launched it."""
PATHS = ("/", "~", ".", "\\")
"""How a place on a disk begins."""
LARGEST_PROVENANCE = 200_000
LARGEST = 1e15
LONGEST_NAME = 100
"""Characters of a model's and of a task's name; the run's id contains both."""
LONGEST_TEXT = 20_000
MOST_KEPT = 10_000
DEEPEST = 4
LOGARITHMS_WITHIN = 1e-4


def is_record(values: Any) -> bool:
    """Whether a JSON document is a run's ``run.json``."""
    return isinstance(values, dict) and {"schema", "spec", "state", "provenance"} <= set(values)


def read(folder: Path) -> ImportedRun:
    """The run of a folder. Raises :class:`InputError` if it has not ended well, or a file is missing or damaged."""
    path = folder / RECORD
    values = json_document(path)
    questions_path = questions_file(folder)
    files = dict(zip(FILES, (path, questions_path, folder / LOGITS), strict=True))
    lacking = [name for name, file in files.items() if not file.is_file()]
    if lacking:
        raise InputError(f"{path}: expected {', '.join(lacking)} beside it, found no such file; take the whole folder")
    if not is_record(values) or not isinstance(values["schema"], int) or values["schema"] > store.SCHEMA_VERSION:
        raise InputError(f"{path}: expected a run of this Hedge or an older one, found another file; update Hedge")
    try:
        values = unsealed(values)
    except DamagedError as error:
        raise InputError(f"{path} is damaged ({error}); copy the folder again from its source") from error
    digests = values.get("files") or {}
    if values["state"] != "done":
        raise InputError(f"{path}: expected a run that has ended well, found the state {values['state']!r}")
    try:
        spec, provenance = described(values, folder.name)
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: the spec of the run can't be read from it ({reason(error)})") from error
    if not spec.answers:
        raise InputError(f"{path}: expected a run that answers questions, found one of the form {spec.form!r}")
    table = read_table(questions_path, digest=digests.get(questions_path.name, ""))
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
                cluster=cluster_name(row.get("cluster")),
                ordered=row.get("ordered") is True,
            )
            for row in rows
        )
        roles = tuple(row["role"] for row in rows)
        scored = _logits(read_table(folder / LOGITS, digest=digests.get(LOGITS, "")))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, pa.ArrowException) as error:
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
    _check_logarithms(scored, path)
    _check_widths({question.id: len(question.options) for question in questions}, scored, path)
    if scored.bounded is not None:
        provenance["bounded_questions"] = int(scored.bounded.any(axis=1).sum())
    if scored.samples is None:
        spec, provenance = replace(spec, picks=0), {key: value for key, value in provenance.items() if key != PICKS}
    else:
        unread = provenance.get(PICKS, {}).get("unread", 0)
        spec = replace(spec, picks=max(spec.picks, 2, int(scored.samples.max())))
        provenance[PICKS] = picked(scored.samples, unread=unread if isinstance(unread, int) else 0)
    spec = replace(spec, fingerprint=FOLDER_DATA + _data_fingerprint(spec, provenance, questions, roles, scored))
    return ImportedRun(spec, questions, roles, scored, provenance | {"file": folder.name})


def _check_widths(options: Mapping[str, int], scored: OptionLogits, path: Path) -> None:
    """Raise :class:`InputError` unless each question has a logit for each of its options, and none behind them."""
    counts = np.array([options[name] for name in scored.ids])
    behind = np.arange(scored.logits.shape[1]) >= counts[:, None]
    if (counts > scored.logits.shape[1]).any() or np.isfinite(scored.logits[behind]).any():
        raise InputError(
            f"{path}: expected as many logits as a question has options, found others; take the whole folder"
        )


def _check_logarithms(scored: OptionLogits, path: Path) -> None:
    """Raise :class:`InputError` where the logits are not the logarithms of the probabilities beside them."""
    if scored.probabilities is None:
        return
    p = option_shares(scored)[0]
    apart = np.abs(softmax(scored.logits) - p).max(axis=1)
    if (apart > LOGARITHMS_WITHIN).any():
        raise InputError(
            f"{path}: expected logits that are the logarithms of the probabilities, found others for question "
            f"{scored.ids[int(np.argmax(apart))]!r}; take the whole folder"
        )


def _origins() -> set[str]:
    """Where a run may say that it was imported from. All others are of :data:`~core.runs.spec.RUN_FOLDER`."""
    from core.exchange.dropped.kinds import KINDS  # has a record of this module

    return {kind.origin for kind in KINDS.values() if kind.origin} | {store.CLASSROOM}


def described(values: dict[str, Any], name: str) -> tuple[RunSpec, dict[str, Any]]:
    """The spec and the provenance of ``run.json`` without instructions; the spec's fingerprint is not the run's yet."""
    their_spec, theirs = values["spec"], values["provenance"]
    if not isinstance(their_spec, dict) or not isinstance(theirs, dict):
        raise InputError(f"{name}/{RECORD}: expected a spec and a provenance that are objects; take the whole folder")
    described_spec = {key: value for key, value in their_spec.items() if key not in INSTRUCTIONS}
    for key, shorten in (("model", _model), ("task", _task)):
        if key in described_spec:
            described_spec[key] = shorten(str(described_spec[key]))
    origin = their_spec.get("origin", HEDGE)
    origin = origin if origin in _origins() else RUN_FOLDER
    spec = RunSpec.from_json(described_spec | {"origin": origin, "fingerprint": FOLDER_DATA})
    provenance = {key: _plain(theirs[key]) for key, kind in DESCRIPTION.items() if _is(theirs.get(key), kind)}
    provenance = {key: value for key, value in provenance.items() if misfit(key, value) is None}
    if spec.dtype == SERVED or not _is(provenance.get("engine", {}).get("parameters"), float):
        provenance.get("engine", {}).pop("parameters", None)  # pages compute the size of the weights from it
    if not all(_is(provenance.get("scored", {}).get(figure), float) for figure in ("questions", "characters")):
        provenance.pop("scored", None)
    if origin == RUN_FOLDER and "bank" not in provenance:
        provenance["bank"] = {"name": bank_names.bank_of_task(str(their_spec.get("task", "")))}
    if (size := len(json.dumps(provenance))) > LARGEST_PROVENANCE:
        raise InputError(
            f"{name}/{RECORD}: expected at most {LARGEST_PROVENANCE:,} characters on where the run comes from, found "
            f"{size:,}; take the run's own folder"
        )
    if isinstance(values.get("id"), str):
        provenance["exported_run"] = values["id"][:LONGEST_TEXT]
    return spec, provenance


def _model(text: str) -> str:
    """A model's name without its folder or its server."""
    name = asked_parts(text)[0]
    there = served_model(name)
    name = there.name if there else name
    return (name if HUB_ID.match(name) and not name.startswith(PATHS) else PureWindowsPath(name).name)[:LONGEST_NAME]


def _task(text: str) -> str:
    """A task without the place of its file."""
    return short_task(text)[:LONGEST_NAME] if is_file(text) or text.startswith(PATHS) else text[:LONGEST_NAME]


def _is(value: Any, kind: type) -> bool:
    """Whether a JSON value is of this kind; a number is above 0 and not too large to compute with."""
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < LARGEST
    return value is not None and isinstance(value, kind)


def _plain(value: Any, depth: int = 0) -> Any:
    """A JSON value with texts cut to a sensible length, and without what is nested deeper than a record needs."""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, dict) and depth < DEEPEST:
        return {str(key)[:LONGEST_TEXT]: _plain(each, depth + 1) for key, each in list(value.items())[:MOST_KEPT]}
    if isinstance(value, list) and depth < DEEPEST:
        return [_plain(each, depth + 1) for each in value[:MOST_KEPT]]
    return value if isinstance(value, (bool, int, float)) else None


def _data_fingerprint(
    spec: RunSpec,
    provenance: dict[str, Any],
    questions: Sequence[Question],
    roles: Sequence[Role],
    scored: OptionLogits,
) -> str:
    """A hash of all that is imported, 32 hexadecimal digits. Where the folder came from does not count."""
    counted = {key: value for key, value in provenance.items() if key not in ("exported_run", "bank")}
    texts = json.dumps(
        [
            spec.to_json(),
            counted,
            [_described(question) for question in questions],
            roles,
            scored.ids,
            scored.top_tokens,
        ],
        sort_keys=True,
        default=str,
    )
    digest = hashlib.sha256(texts.encode("utf-8", "surrogatepass"))
    given = [numbers for numbers in (scored.probabilities, scored.samples) if numbers is not None]  # else as before
    for numbers in (scored.logits, scored.letter_mass, scored.option_tokens, scored.bounded, *given):
        digest.update(b"-" if numbers is None else f"{numbers.dtype}{numbers.shape}".encode() + numbers.tobytes())
    return digest.hexdigest()[:32]


def _described(question: Question) -> dict[str, Any]:
    """The question's fields, without an empty cluster and order, which runs of older versions do not have."""
    return {name: value for name, value in asdict(question).items() if name not in ("cluster", "ordered") or value}


def _logits(table: pa.Table) -> OptionLogits:
    tokens = None
    if "option_tokens" in table.column_names:
        tokens = np.array(table["option_tokens"].to_pylist(), dtype=np.int32)
    bounded = None
    if "bounded" in table.column_names:
        bounded = np.array(table["bounded"].to_pylist(), dtype=np.bool_)
    given = None
    if "probabilities" in table.column_names:
        given = np.array(table["probabilities"].to_pylist(), dtype=np.float64)
    samples = None
    if "samples" in table.column_names:
        samples = np.array(table["samples"].to_pylist(), dtype=np.int64)
    logits: LogitArray = in_range(np.array(table["logits"].to_pylist(), dtype=np.float64))
    if not pa.types.is_float64(table["logits"].type.value_type):
        logits = logits.astype(np.float32)
    return OptionLogits(
        ids=tuple(map(str, table["id"].to_pylist())),
        logits=logits,
        letter_mass=np.array(table["letter_mass"].to_pylist(), dtype=np.float32),
        option_tokens=tokens,
        top_tokens=tuple(table["top_token"].to_pylist()) if "top_token" in table.column_names else None,
        bounded=bounded,
        probabilities=given,
        samples=samples,
    )
