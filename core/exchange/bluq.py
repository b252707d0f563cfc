"""BLUQ: option probabilities of small language models, already split.

A result is an npz with ``cal_probs`` and ``test_probs`` (n, k) float64, ``cal_labels`` and ``test_labels`` (n,)
whole numbers, and ``option_letters``; it is named ``probs_<model>_<task>_<dtype>_<strategy>.npz``. Logits are the
logarithms of the probabilities.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.conformal.probabilities import check_labels, check_probabilities
from core.errors import InputError
from core.exchange.foreign import check_not_flat, check_row
from core.exchange.imported import ImportedRun, fingerprint, match_name, not_published, read_bytes
from core.records import FloatArray, IntArray, OptionLogits, Question, Role
from core.runs.spec import DTYPES, RunSpec
from core.tasks import TASKS

ORIGIN = "bluq"
MOST_UNPACKED = 2_000_000_000
"""Bytes that an npz may unpack to."""
NAME = re.compile(
    rf"^probs_(?P<model>.+)_(?P<task>{'|'.join(TASKS)})_(?P<dtype>{'|'.join(DTYPES)})_(?P<strategy>base|shared|task)\.npz$"
)
SIDES: tuple[tuple[Role, str], ...] = (("calibration", "cal"), ("test", "test"))


def read(paths: Sequence[Path]) -> list[ImportedRun]:
    """Read result files; :class:`InputError` names the file and what is wrong with it."""
    return [_read_run(path) for path in paths]


def _read_run(path: Path) -> ImportedRun:
    parts = match_name(path, NAME, expected="probs_<model>_<task>_<dtype>_<strategy>.npz")
    content = read_bytes(path)
    arrays = _arrays(content, path)
    questions: list[Question] = []
    roles: list[Role] = []
    probabilities = []
    for role, side in SIDES:
        p, labels = _checked(arrays, side, path)
        probabilities.append(p)
        roles += [role] * len(p)
        questions += [_question(parts["task"], side, i, int(label), p.shape[1]) for i, label in enumerate(labels)]
    if probabilities[0].shape[1] != probabilities[1].shape[1]:
        raise InputError(f"{path}: calibration and test have {[p.shape[1] for p in probabilities]} options")
    for question in questions:
        check_row(f"{path}, {question.id}", len(question.options), question.label, question.options)
    with np.errstate(divide="ignore"):
        logits = np.log(np.concatenate(probabilities)).astype(np.float32)
    check_not_flat(logits, path)
    return ImportedRun(
        spec=RunSpec(
            model=parts["model"],
            task=parts["task"],
            strategy=parts["strategy"],
            dtype=parts["dtype"],
            origin=ORIGIN,
            fingerprint=fingerprint(content),
        ),
        questions=tuple(questions),
        roles=tuple(roles),
        scored=OptionLogits(tuple(q.id for q in questions), logits, np.full(len(questions), np.nan, dtype=np.float32)),
        provenance={"file": path.name},
    )


def _arrays(content: bytes, path: Path) -> dict[str, Any]:
    names = [f"{side}_{kind}" for _, side in SIDES for kind in ("probs", "labels")]
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as members:
            unpacked = sum(info.file_size for info in members.infolist())
        if unpacked > MOST_UNPACKED:
            raise InputError(
                f"{path}: expected arrays of at most {MOST_UNPACKED / 1e9:g} GB, found {unpacked / 1e9:.1f} GB; it is "
                "not unpacked"
            )
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            missing = [name for name in names if name not in archive.files]
            if missing:
                raise InputError(f"{path}: expected the array {missing[0]!r}, found {', '.join(archive.files)}")
            return {name: archive[name] for name in names}
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, KeyError, TypeError, MemoryError) as error:
        raise InputError(f"{path} is no whole npz of plain arrays ({str(error)[:120]}); fetch it again") from error


def _checked(arrays: dict[str, Any], side: str, path: Path) -> tuple[FloatArray, IntArray]:
    try:
        p = check_probabilities(np.asarray(arrays[f"{side}_probs"], dtype=np.float64))
        return p, check_labels(arrays[f"{side}_labels"], n=len(p), k=p.shape[1])
    except (InputError, ValueError, TypeError) as error:
        raise InputError(f"{path}, {side}: {error}") from error


def _question(task: str, side: str, row: int, label: int, k: int) -> Question:
    return Question(
        id=f"{side}-{row}",
        task=task,
        group=task,
        context="",
        question=f"{task.upper()}, {side} row {row} (its text was not published with the probabilities)",
        options=not_published(k),
        label=label,
    )
