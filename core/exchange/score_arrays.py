"""Scores as numpy arrays: an npz with scores and labels, or two npy files, as conformal-prediction code keeps them.

``scores`` is (n, k), or (prompts, n, k), of which the mean of the probabilities over the prompts is taken, as Kumar et
al. (2023, arXiv 2305.18404) do. ``labels`` is (n,), whole numbers from 0. In an npz the arrays are told apart by their
shapes and, where two have the same, by their names; texts ``model`` and ``task`` say what they are of. Rows with the
same value in an array ``cluster`` (n,) belong together (:mod:`core.clusters`).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.conformal.probabilities import in_double, softmax
from core.errors import InputError
from core.exchange import npy_headers
from core.exchange.build_run import check_not_flat, check_split, in_range, split
from core.exchange.imported import ImportedRun, fingerprint, read_bytes
from core.exchange.picks import counts_of_array, sampled, shares_of
from core.exchange.table_values import COUNTS, SHARES, recognised_values
from core.records import MOST_OPTIONS, OPTION_NAMES, FloatArray, IntArray, LogitArray, OptionLogits, Question, Role
from core.runs.spec import RunSpec
from core.tables.safe_read import check_count
from core.tasks.identity import cluster_name

ORIGIN = "table"
ENDS = re.compile(
    r"[ _.-]*(scores?|probs?|probabilit(?:y|ies)|log_?probs?|logits?|softmax|targets?|labels?|answers?|y|gold)$", re.I
)
"""What a file's name says of which of the two arrays it holds."""
NAMES = ("probs", "probabilities", "logits", "log_probs", "logprobs", "scores", "p")
LABELS = ("labels", "targets", "answers", "label", "y", "gold", "target")


SIDES = ("probs", "votes", "counts", "picks", "predictions")
"""What two arrays may be called behind ``cal_`` and ``test_``."""
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


def read_pair(scores: Path, labels: Path) -> ImportedRun:
    """The run of two npy files; its model is told by neither."""
    name = stem(scores) or scores.stem
    return _built(
        load_npy(scores),
        load_npy(labels),
        path=scores,
        about={"task": name},
        finger=fingerprint(read_bytes(scores), read_bytes(labels)),
        files=scores.name,
        name=stem(scores) or scores.stem,
    )


def read_npz(path: Path) -> ImportedRun:
    """The run of an npz archive; :class:`InputError` says which array it lacks."""
    content = read_bytes(path)
    arrays = npy_headers.load_npz(content, path)
    clusters = _clusters(arrays, path)
    about = {name: str(arrays[name].reshape(-1)[0]) for name in ("model", "task") if _is_text(arrays.get(name))}
    name = next((name for name in SIDES if all(f"{side}_{name}" in arrays for side in ("cal", "test"))), "")
    if name and all(f"{side}_labels" in arrays for side in ("cal", "test")):
        cal, test = arrays[f"cal_{name}"], arrays[f"test_{name}"]
        if cal.ndim != 2 or test.ndim != 2 or cal.shape[1] != test.shape[1]:
            raise InputError(
                f"{path}: expected cal_{name} and test_{name} with as many options, found the shapes {cal.shape} "
                f"and {test.shape}"
            )
        scores = np.concatenate([cal, test])
        labels = np.concatenate([arrays["cal_labels"], arrays["test_labels"]])
        calibration: Role = "calibration"
        asked: Role = "test"
        roles = (calibration,) * len(cal) + (asked,) * len(test)
    else:
        scores, labels, roles = _one(arrays, NAMES, path, scores=True), _one(arrays, LABELS, path, scores=False), ()
        name = next(name for name, array in arrays.items() if array is scores)
    return _built(
        scores,
        labels,
        path=path,
        about=about,
        finger=fingerprint(content),
        files=path.name,
        name=name,
        roles=roles,
        clusters=clusters,
    )


def _clusters(arrays: dict[str, np.ndarray[Any, np.dtype[Any]]], path: Path) -> list[str]:
    """The name of each row's cluster, taken out of the arrays; none if the file has no clusters."""
    if CLUSTER in arrays:
        parts = [arrays.pop(CLUSTER)]
    else:
        parts = [arrays.pop(name) for name in SIDES_OF_CLUSTER if name in arrays]
        if len(parts) == 1:
            raise InputError(f"{path}: expected both or none of {' and '.join(SIDES_OF_CLUSTER)}, found one of them")
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
        name: array
        for name, array in arrays.items()
        if (holds_scores(array) if scores else array.ndim == 1 and array.dtype.kind in "iuf")
    }
    for name in wanted_names:
        if name in fitting:
            return fitting[name]
    if scores:  # whole numbers beside figures are something else
        fitting = {name: array for name, array in fitting.items() if array.dtype.kind == "f"} or fitting
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    wanted = "scores of options, (n, k)" if scores else "whole numbers as labels, (n,)"
    listed = ", ".join(f"{name} {array.shape} of {array.dtype.name}" for name, array in list(arrays.items())[:8])
    raise InputError(f"{path}: expected one array of {wanted}, found {listed or 'no array'}")


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
) -> ImportedRun:
    if not holds_scores(scores):
        raise InputError(f"{path}: expected scores of shape (n, k), found {scores.shape} of type {scores.dtype}")
    whole = scores.dtype.kind in "iu"
    if whole:
        scores, labels = counts_of_array(scores, labels, name=name, path=path)
    values = in_double(scores)
    n, k = values.shape[-2:]
    if labels.shape != (n,):
        raise InputError(f"{path}: expected {n} labels, one for each row of scores, found the shape {labels.shape}")
    if len(clusters) not in (0, n):
        raise InputError(f"{path}: expected {n} clusters, one for each row of scores, found {len(clusters)}")
    check_count(n, path)
    found = _labels(labels, n, k, path)
    bad = np.isnan(values) | np.isposinf(values)
    if bad.any():
        row = int(np.argwhere(bad)[0][-2])
        raise InputError(f"{path}, row {row + 1}: expected numbers, found {values[..., row, :].tolist()}")
    kind = recognised_values(values.reshape(-1, k))
    drawn = np.full(n, np.nan)
    shares: FloatArray | None
    if whole or kind == COUNTS:
        kind, mass = COUNTS, np.full(n, np.nan)
        counts = values.sum(axis=0) if values.ndim == 3 else values
        logits, shares, drawn = shares_of(counts, lambda row: f"{path}, row {row + 1}")
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of them is refused below
            logits, shares, kind, mass = _logits(values, path, kind)
    bad_rows = ~np.isfinite(logits.max(axis=1))
    if bad_rows.any():
        row = int(np.argmax(bad_rows))
        raise InputError(
            f"{path}, row {row + 1}: expected numbers below 3.4e38 and an option that is not ruled out, found "
            f"{values[..., row, :].tolist()}"
        )
    check_not_flat(logits, path)
    task = about.get("task") or path.stem
    answered = np.flatnonzero(drawn != 0).tolist()
    questions = tuple(
        Question(
            id=str(i + 1),
            task=task,
            group=task,
            context="",
            question=f"question {i + 1} (the file has no texts)",
            options=tuple(f"option {letter}" for letter in OPTION_NAMES[:k]),
            label=int(found[i]),
            cluster=clusters[i] if clusters else "",
        )
        for i in answered
    )
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
            "values": kind,
            "averaged_over": values.shape[0] if values.ndim == 3 else 1,
            "lacks": [name for name in ("model", "task") if name not in about],
        },
    )
    if kind != COUNTS:
        return run
    return sampled(run, drawn[answered], unread=0, left_out=n - len(answered))


def _labels(labels: np.ndarray[Any, np.dtype[Any]], n: int, k: int, path: Path) -> IntArray:
    found: IntArray = labels.astype(np.int64)
    whole = bool((found == labels).all())
    if whole and found.min() >= 1 and found.max() == k:
        return found - 1  # they count from 1
    bad = (found < 0) | (found >= k) | (found != labels)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{path}, row {row + 1}: expected a label from 0 to {k - 1}, found {labels[row]}")
    return found


def _logits(values: FloatArray, path: Path, kind: str) -> tuple[LogitArray, FloatArray | None, str, FloatArray]:
    """Logits (n, k), the probabilities if the values are any, what the values were, and the letter mass (n,), NaN where
    nothing is said of it."""
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
