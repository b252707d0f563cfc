"""Scores as numpy arrays: an npz with scores and labels, or two npy files, as conformal-prediction code keeps them.

``scores`` is (n, k), or (prompts, n, k), where the mean of the probabilities over the prompts is taken, as Kumar et
al. (2023, arXiv 2305.18404) do. ``labels`` is (n,), whole numbers from 0. In an npz the arrays differ by their
shapes and, where two have the same, by their names; texts ``model`` and ``task`` say what they are of. Rows with the
same value in an array ``cluster`` (n,) belong together (:mod:`core.conformal.clusters`).
"""

import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.conformal.probabilities import in_double, softmax
from core.errors import InputError
from core.exchange import npy_headers
from core.exchange.array_sides import Arrays, sides, without_side
from core.exchange.build_run import check_not_flat, check_split, in_range, split
from core.exchange.imported import ImportedRun, fingerprint, read_bytes
from core.exchange.picks import counts_of_array, sampled, shares_of
from core.exchange.table_values import COUNTS, SHARES, recognised_values
from core.questions.identity import cluster_name
from core.questions.option_names import OF_CLASSES, are_classes
from core.records import (
    LETTERS,
    MOST_OPTIONS,
    OPTION_NAMES,
    FloatArray,
    IntArray,
    LogitArray,
    OptionLogits,
    Question,
    Role,
)
from core.runs.spec import RunSpec
from core.tables.field_names import CLASS_LABEL_NAMES, CLASS_NAMES, LABEL_NAMES
from core.tables.labels import Labels, read_labels
from core.tables.read_as import kind_words, line
from core.tables.safe_read import check_count

ORIGIN = "table"
ENDS = re.compile(
    r"[ _.-]*(scores?|probs?|probabilit(?:y|ies)|log_?probs?|logits?|softmax|targets?|labels?|answers?|y|gold)$", re.I
)
"""Which of the two arrays a file holds, by its name."""
NAMES = ("probs", "probabilities", "logits", "log_probs", "logprobs", "scores", "p")
LABELS = ("labels", "targets", "answers", *LABEL_NAMES, *CLASS_LABEL_NAMES)
BY_NUMBER = re.compile(r"^y_|proba(?:s|$)|proba_", re.I)
"""Names of an array of scores as scikit-learn's users call it: a classifier's classes have numbers, not letters."""
CLUSTER, SIDES_OF_CLUSTER = "cluster", ("cal_cluster", "test_cluster")
"""The array of clusters, (n,): rows with the same number or name belong together. Or one for each side of a split."""


def stem(path: Path) -> str:
    """A file's name without its ending and without what it says of the array: equal for the two files of a run.

    >>> stem(Path("anatomy_scores.npy")), stem(Path("anatomy_targets.npy"))
    ('anatomy', 'anatomy')
    """
    return ENDS.sub("", path.stem)


def load_npy(path: Path) -> np.ndarray[Any, np.dtype[Any]]:
    """The array of an npy file. Raises :class:`InputError` if it is not whole or holds Python objects."""
    return npy_headers.load_npy(read_bytes(path), path)


def names(path: Path) -> list[str]:
    """The names of an archive's arrays, without reading them. Raises :class:`InputError` if it is not whole."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(f"{path} is not a complete npz file of plain arrays; fetch it again") from error


def holds_scores(array: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Whether an array may be scores of options; one of one dimension may be labels."""
    kinds = "f" if array.ndim == 3 else "fiu"  # whole numbers are picks
    return array.ndim in (2, 3) and array.dtype.kind in kinds and 2 <= array.shape[-1] <= MOST_OPTIONS


def read_pair(scores: Path, labels: Path, *, label_from: int | None = None) -> ImportedRun:
    """The run of two npy files; neither names its model. ``label_from``: the first option, as a person said it."""
    name = stem(scores) or scores.stem
    return _built(
        load_npy(scores),
        load_npy(labels),
        path=scores,
        about={"task": name},
        finger=fingerprint(read_bytes(scores), read_bytes(labels)),
        files=scores.name,
        name=scores.stem,
        label_from=label_from,
    )


def read_npz(path: Path, *, label_from: int | None = None) -> ImportedRun:
    """The run of an npz archive; :class:`InputError` says which array it lacks."""
    content = read_bytes(path)
    return _of_arrays(npy_headers.load_npz(content, path), fingerprint(content), path, label_from=label_from)


def read_sides(*paths: Path, label_from: int | None = None) -> ImportedRun:
    """The run of npy files of several sides, such as ``cal_probs``, ``cal_labels``, ``test_probs``, ``test_labels``."""
    arrays = {path.stem: load_npy(path) for path in paths}
    return _of_arrays(
        arrays, fingerprint(*map(read_bytes, paths)), paths[0], label_from=label_from, task=task_of(paths)
    )


def task_of(paths: Sequence[Path]) -> str:
    """What the names of files of several sides have in common; the folder's name if nothing is left."""
    return without_side(stem(paths[0])) or paths[0].parent.name


def _of_arrays(arrays: Arrays, finger: str, path: Path, *, label_from: int | None, task: str = "") -> ImportedRun:
    about = {name: str(arrays[name].reshape(-1)[0]) for name in ("model", "task") if _is_text(arrays.get(name))}
    about |= {"task": task} if task else {}
    _check_clusters(arrays, path)
    arrays, roles, trained = sides(arrays, path)
    clusters = _clusters(arrays, path)
    classes = next((arrays.pop(name) for name in CLASS_NAMES if name in arrays and arrays[name].ndim == 1), None)
    scores = _one(arrays, NAMES, path, scores=True)
    name = next(name for name, array in arrays.items() if array is scores)
    labels = _one({key: array for key, array in arrays.items() if key != name}, LABELS, path, scores=False)
    return _built(
        scores,
        labels,
        path=path,
        about=about,
        finger=finger,
        files=path.name,
        name=name,
        roles=roles,
        clusters=clusters,
        classes=() if classes is None else [str(name).removesuffix(".0") for name in classes.tolist()],
        label_from=label_from,
        left_out={"of training": trained},
    )


def _check_clusters(arrays: Mapping[str, object], path: Path) -> None:
    if CLUSTER not in arrays and len(set(SIDES_OF_CLUSTER) & set(arrays)) == 1:
        raise InputError(f"{path}: expected both or none of {' and '.join(SIDES_OF_CLUSTER)}, found one of them")


def _clusters(arrays: dict[str, np.ndarray[Any, np.dtype[Any]]], path: Path) -> list[str]:
    """The name of each row's cluster, taken out of the arrays; none if the file has no clusters."""
    parts = [arrays.pop(CLUSTER)] if CLUSTER in arrays else []
    for part in parts:
        if part.ndim != 1 or part.dtype.kind not in "iufU":
            raise InputError(
                f"{path}: expected numbers or texts of shape (n,) as clusters, found the shape {part.shape} of type "
                f"{part.dtype}"
            )
    return [cluster_name(cell) for part in parts for cell in part.tolist()]


def _is_text(array: Any) -> bool:
    return array is not None and array.dtype.kind == "U" and array.size == 1


def _one(
    arrays: dict[str, np.ndarray[Any, np.dtype[Any]]], wanted_names: tuple[str, ...], path: Path, *, scores: bool
) -> np.ndarray[Any, np.dtype[Any]]:
    fitting = {
        name: array for name, array in arrays.items() if (holds_scores(array) if scores else _holds_labels(array))
    }
    if scores and not fitting:
        fitting = {name: array for name, array in arrays.items() if _is_binary(array) and name.lower() not in LABELS}
    for name in wanted_names:
        if name in fitting:
            return fitting[name]
    if scores:  # whole numbers beside figures are something else
        fitting = {name: array for name, array in fitting.items() if array.dtype.kind == "f"} or fitting
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    wanted = (
        f"scores of options, (n, k), with k from 2 to {MOST_OPTIONS}" if scores else "whole numbers as labels, (n,)"
    )
    listed = ", ".join(f"{name} {array.shape} of {array.dtype.name}" for name, array in list(arrays.items())[:8])
    raise InputError(f"{path}: expected one array of {wanted}, found {listed or 'no array'}")


def _holds_labels(array: np.ndarray[Any, np.dtype[Any]]) -> bool:
    return array.ndim == 1 and (array.dtype.kind in "iufb" or (array.dtype.kind == "U" and array.size > 1))


def _is_binary(array: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Whether an array (n,) or (n, 1) may be a binary classifier's probabilities of its second class."""
    single = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    return single and array.dtype.kind == "f" and array.size > 1 and bool(((array >= 0) & (array <= 1)).all())


def _built(
    scores: np.ndarray[Any, np.dtype[Any]],
    labels: np.ndarray[Any, np.dtype[Any]],
    *,
    path: Path,
    about: dict[str, str],
    finger: str,
    files: str,
    name: str,
    roles: tuple[Role, ...] = (),
    clusters: Sequence[str] = (),
    classes: Sequence[str] = (),
    label_from: int | None = None,
    left_out: Mapping[str, int] | None = None,
) -> ImportedRun:
    values, labels, is_counted = _checked(scores, labels, path=path, name=name, clusters=clusters, classes=classes)
    n, k = values.shape[-2:]
    kind = recognised_values(values.reshape(-1, k))
    shares: FloatArray | None
    drawn = np.full(n, np.nan)
    if is_counted or kind == COUNTS:
        kind, mass = COUNTS, np.full(n, np.nan)
        counts = values.sum(axis=0) if values.ndim == 3 else values
        logits, shares, drawn = shares_of(counts, lambda row: f"{path}, row {row + 1}")
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of them is refused below
            logits, shares, kind, mass = _logits(values, path, kind)
    bad = ~np.isfinite(logits.max(axis=1))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{path}, row {row + 1}: expected numbers below 3.4e38 and an option that is not ruled out, found "
            f"{values[..., row, :].tolist()}"
        )
    check_not_flat(logits, path)
    read = _labels(labels, logits, classes, label_from, path)
    finger = fingerprint(finger.encode(), read.form.encode()) if read.is_given else finger
    numbered = not classes and (k > len(LETTERS) or bool(BY_NUMBER.search(name)))
    named = tuple(classes) or tuple(str(j) if numbered else f"option {OPTION_NAMES[j]}" for j in range(k))
    task = about.get("task") or path.stem
    answered = np.flatnonzero(drawn != 0).tolist()
    questions = _questions(answered, read.labels, named, task, clusters)
    roles = tuple(roles[i] for i in answered) if roles else split(questions, path=path, texts=False)
    check_split(questions, roles, path)
    run = ImportedRun(
        spec=RunSpec(model=about.get("model") or "unknown", task=task, origin=ORIGIN, fingerprint=finger),
        questions=questions,
        roles=roles,
        scored=OptionLogits(
            tuple(q.id for q in questions),
            logits[answered],
            mass[answered].astype(np.float32),
            probabilities=None if shares is None else shares[answered],
        ),
        provenance={
            "file": files,
            "bank": {"name": task},
            "texts": False,
            **({OF_CLASSES: True} if are_classes(questions) and kind != COUNTS else {}),
            "values": kind,
            "averaged_over": values.shape[0] if values.ndim == 3 else 1,
            "lacks": [name for name in ("model", "task") if name not in about],
        },
        read_as=line(questions, read.words, kind_words(kind), left_out=left_out),
    )
    if kind != COUNTS:
        return run
    return sampled(run, drawn[answered], unread=0, left_out=n - len(answered))


def _checked(
    scores: np.ndarray[Any, np.dtype[Any]],
    labels: np.ndarray[Any, np.dtype[Any]],
    *,
    path: Path,
    name: str,
    clusters: Sequence[str],
    classes: Sequence[str],
) -> tuple[FloatArray, np.ndarray[Any, np.dtype[Any]], bool]:
    """The scores (n, k) or (m, n, k) in double precision, the labels (n,), and whether the scores count picks. Raises
    :class:`InputError` for arrays that do not fit together."""
    if _is_binary(scores):
        second = scores.reshape(-1)
        scores = np.stack([1 - second, second], axis=1)
    if not holds_scores(scores):
        raise InputError(f"{path}: expected scores of shape (n, k), found {scores.shape} of type {scores.dtype}")
    is_counted = scores.dtype.kind in "iu"
    if is_counted:
        scores, labels = counts_of_array(scores, labels, name=name, path=path)
    values = in_double(scores)
    n, k = values.shape[-2:]
    if labels.shape != (n,):
        raise InputError(f"{path}: expected {n} labels, one for each row of scores, found the shape {labels.shape}")
    if len(clusters) not in (0, n):
        raise InputError(f"{path}: expected {n} clusters, one for each row of scores, found {len(clusters)}")
    check_count(n, path)
    if classes and (len(classes) != k or len(set(classes)) != k):
        raise InputError(f"{path}: expected the names of {k} options, each once, found {len(set(classes))} names")
    bad = np.isnan(values) | np.isposinf(values)
    if bad.any():
        row = int(np.argwhere(bad)[0][-2])
        raise InputError(f"{path}, row {row + 1}: expected numbers, found {values[..., row, :].tolist()}")
    return values, labels, is_counted


def _questions(
    rows: Sequence[int], labels: IntArray, options: tuple[str, ...], task: str, clusters: Sequence[str]
) -> tuple[Question, ...]:
    return tuple(
        Question(
            id=str(i + 1),
            task=task,
            group=task,
            context="",
            question=f"question {i + 1} (the file has no texts)",
            options=options,
            label=int(labels[i]),
            cluster=clusters[i] if clusters else "",
        )
        for i in rows
    )


def _labels(
    labels: np.ndarray[Any, np.dtype[Any]],
    logits: LogitArray,
    classes: Sequence[str],
    label_from: int | None,
    path: Path,
) -> Labels:
    """The right option of each row."""
    cells = labels.astype(np.int64) if labels.dtype.kind == "b" else labels
    single = (logits == logits.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return read_labels(
        [str(cell) for cell in cells.tolist()],
        np.full(len(logits), logits.shape[1], dtype=np.int64),
        names=classes,
        start=label_from,
        where=lambda row: f"{path}, row {row + 1}",
        column="labels",
        picks=np.where(single, logits.argmax(axis=1), -1),
    )


def _logits(values: FloatArray, path: Path, kind: str) -> tuple[LogitArray, FloatArray | None, str, FloatArray]:
    """Logits (n, k), the probabilities if the values are any, what the values were, and the letter mass (n,), NaN if it
    is not known."""
    are_shares = kind in SHARES
    if kind == "percentages":
        values = values / 100
    if values.ndim == 3:
        if not are_shares:
            values = softmax(values.reshape(-1, values.shape[-1])).reshape(values.shape)
            are_shares, kind = True, "probabilities"
        values = values.mean(axis=0)
    mass = values.sum(axis=1) if kind == "next-token probabilities" else np.full(len(values), np.nan)
    if not are_shares:
        return in_range(values), None, kind, mass
    if (values < 0).any():
        row = int(np.argmax((values < 0).any(axis=1)))
        raise InputError(f"{path}, row {row + 1}: expected probabilities, found {values[row].tolist()}")
    with np.errstate(divide="ignore"):
        return np.log(values).astype(np.float32), values, kind, mass
