"""BLUQ: option probabilities of small language models, already split.

A result is an npz with ``cal_probs`` and ``test_probs`` (n, k) float64, ``cal_labels`` and ``test_labels`` (n,)
whole numbers, and ``option_letters``. The run is described inside as texts, ``model``, ``task``, ``dtype`` and
``strategy``, each alone or in an array of one. The published archives are named
``probs_<task>_<dtype>_<strategy>_<time>.npz``, some with the model after ``probs``; an archive without the texts needs
a name that says all four, ``probs_<model>_<task>_<dtype>_<strategy>.npz``. Logits are the logarithms of the
probabilities.
"""

import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from core.conformal.probabilities import check_labels, check_probabilities
from core.errors import InputError
from core.exchange.build_run import check_not_flat, check_row
from core.exchange.dropped import marks
from core.exchange.dropped.examples import LABELS, P, example, npz
from core.exchange.dropped.kind import Kind
from core.exchange.imported import ImportedRun, fingerprint, not_published, read_bytes
from core.exchange.npy_headers import load_npz
from core.models.model_sources import DTYPES
from core.questions import TASKS
from core.questions.prompting.strategies import STRATEGIES
from core.records import FloatArray, IntArray, OptionLogits, Question, Role
from core.runs.spec import RunSpec
from core.tables.safe_read import check_count, shown

ORIGIN = "bluq"
NAME = re.compile(
    rf"^probs_(?:(?P<model>.+)_)?(?P<task>{'|'.join(TASKS)})_(?P<dtype>{'|'.join(DTYPES)})"
    rf"_(?P<strategy>{'|'.join(STRATEGIES)})(?:_\d{{8}}_\d{{6}})?\.npz$"
)
EXPECTED = "probs_<model>_<task>_<dtype>_<strategy>.npz"
KNOWN = {"task": tuple(TASKS), "dtype": DTYPES, "strategy": STRATEGIES}
"""What an archive may say of its run, by the text's name; any model will do."""
SIDES: tuple[tuple[Role, str], ...] = (("calibration", "cal"), ("test", "test"))


def is_result(names: Sequence[str], path: Path) -> bool:
    """Whether an archive with arrays of these names is such a result, and says what it is of."""
    arrays = {f"{side}_{kind}" for _, side in SIDES for kind in ("probs", "labels")}
    return arrays <= set(names) and (bool(NAME.match(path.name)) or {"model", *KNOWN} <= set(names))


def doubles(path: Path) -> dict[str, tuple[FloatArray, IntArray]]:
    """The probabilities (n, k) and labels (n,) of ``cal`` and of ``test``, in the double precision of the file. Raises
    :class:`InputError` that names the file and what is wrong with it."""
    arrays = _arrays(read_bytes(path), path)
    return {side: _checked(arrays, side, path) for _, side in SIDES}


def read(path: Path) -> ImportedRun:
    """The run of a result file; :class:`InputError` names the file and what is wrong with it."""
    content = read_bytes(path)
    arrays = _arrays(content, path)
    parts = _what_it_is(arrays, path)
    check_count(sum(len(arrays[f"{side}_labels"]) for _, side in SIDES if arrays[f"{side}_labels"].ndim), path)
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
    shares = np.concatenate(probabilities).astype(np.float64)
    with np.errstate(divide="ignore"):
        logits = np.log(shares).astype(np.float32)
    check_not_flat(logits, path)
    mass = np.full(len(questions), np.nan, dtype=np.float32)
    model, task, dtype, strategy = (parts[name] for name in ("model", *KNOWN))
    spec = RunSpec(model, task, strategy, dtype=dtype, origin=ORIGIN, fingerprint=fingerprint(content))
    return ImportedRun(
        spec=spec,
        questions=tuple(questions),
        roles=tuple(roles),
        scored=OptionLogits(tuple(q.id for q in questions), logits, mass, probabilities=shares),
        provenance={"file": path.name},
    )


def _what_it_is(arrays: dict[str, Any], path: Path) -> dict[str, str]:
    """The run's model, task, dtype and strategy, by the archive's own texts and by its name. Raises :class:`InputError`
    if neither says one of them, or the two disagree."""
    named = match.groupdict() if (match := NAME.match(path.name)) else {}
    parts = {}
    for what in ("model", *KNOWN):
        inside, by_name = _text(arrays, what, path), named.get(what)
        if inside and by_name and by_name not in (inside, PurePath(inside).name):
            raise InputError(
                f"{path}: the name says {what} {by_name!r}, the archive says {inside!r}; rename the file so that both "
                "say the same"
            )
        if not (inside or by_name):
            raise InputError(
                f"{path}: neither the archive nor its name says the {what}; expected it in the name, as in {EXPECTED}"
            )
        parts[what] = inside or by_name or ""
    return parts


def _text(arrays: dict[str, Any], what: str, path: Path) -> str:
    """A text that the archive says of itself; empty if it says none."""
    if what not in arrays:
        return ""
    array = np.asarray(arrays[what])
    text = str(array.reshape(-1)[0]).strip() if array.size == 1 and array.dtype.kind == "U" else ""
    if not text:
        raise InputError(
            f"{path}: expected {what!r} as one text, found an array of shape {array.shape} and type {array.dtype}"
        )
    if text not in KNOWN.get(what, (text,)):
        raise InputError(f"{path}: the archive says {what} {shown(text)}; expected one of {', '.join(KNOWN[what])}")
    return text


def _arrays(content: bytes, path: Path) -> dict[str, Any]:
    arrays = load_npz(content, path)
    names = [f"{side}_{kind}" for _, side in SIDES for kind in ("probs", "labels")]
    missing = [name for name in names if name not in arrays]
    if missing:
        raise InputError(f"{path}: expected the array {missing[0]!r}, found {', '.join(arrays)}")
    return arrays


def _checked(arrays: dict[str, Any], side: str, path: Path) -> tuple[FloatArray, IntArray]:
    try:
        p = check_probabilities(np.asarray(arrays[f"{side}_probs"], dtype=np.float64))
        return p, check_labels(arrays[f"{side}_labels"], n=len(p), k=p.shape[1])
    except (InputError, ValueError, TypeError) as error:
        raise InputError(f"{path}, {side}: {error}") from error


def _question(task: str, side: str, row: int, label: int, k: int) -> Question:
    text = f"{task.upper()}, {side} row {row} (its text was not published with the probabilities)"
    return Question(f"{side}-{row}", task, task, "", text, not_published(k), label)


# ---------------------------------------------------------------- its record, with an example


def _sides() -> dict[str, Any]:
    labels = np.array(["ABC".index(letter) for letter in LABELS])
    sides = ("cal", "test")
    return {f"{side}_probs": np.array(P) for side in sides} | {f"{side}_labels": labels for side in sides}


KIND = Kind(
    title="archive of BLUQ",
    article="an",
    place="runs",
    listed="BLUQ archives",
    archive=lambda names, path: marks.is_npz(names) and is_result([Path(name).stem for name in names], path),
    read=read,
    origin=ORIGIN,
    examples=(
        example("Probabilities and labels of both sides", "probs_tiny_qa_float32_base.npz", lambda: npz(**_sides())),
    ),
)
