"""An evaluation of probabilities and labels from a notebook or another harness, without a stored run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.clusters import joined
from core.conformal.alpha import number
from core.conformal.draws import SPLIT, first_part
from core.conformal.probabilities import check_labels, check_probabilities, in_double, log
from core.errors import InputError
from core.records import MOST_OPTIONS, OPTION_NAMES, FloatArray, IntArray
from core.reports.evaluation import Evaluation, calibrating
from core.runs.spec import RunSpec
from core.tasks.identity import cluster_name

ORIGIN = "table"


def of_arrays(
    probabilities: Any,
    labels: Any,
    *,
    calibration: float | Sequence[int] | npt.NDArray[Any] = 0.5,
    clusters: Any = None,
    seed: int = 0,
    name: str = "arrays",
) -> Evaluation:
    """The evaluation of probabilities (n, k) and labels (n,), each 0-based. A row may end in NaN for options that its
    question lacks.

    ``calibration`` is the share of questions that calibrate, drawn with ``seed``, or their row numbers, or a mask (n,)
    of true and false, or of 1 and 0. All others test. ``clusters`` (n,), numbers or names, say which rows repeat a
    question or belong together: these stay on one side of a drawn split, one random row of each calibrates, and they
    count as one in every interval. ``name`` is the name of the questions. Raises :class:`InputError` for invalid
    probabilities or labels, a split that can't be read, or one with an empty side.

    >>> run = of_arrays([[0.9, 0.1], [0.2, 0.8]], [0, 1], calibration=[0])
    >>> run.calibration.tolist(), run.test.tolist()
    ([0], [1])
    """
    seed = check_seed(seed)
    p, counts = _probabilities(probabilities)
    n, k = p.shape
    y = check_labels(_array(labels, "labels"), n=n, k=k)
    beyond = np.flatnonzero(y >= counts)
    if len(beyond):
        raise InputError(f"label {int(y[beyond[0]])} of row {beyond[0]} is an option that its question lacks (NaN)")
    joint = _clusters(clusters, n)
    calibrates = _split(calibration, np.arange(n) if joint is None else joint, seed)
    share = calibrates.mean()
    if not 0 < share < 1:
        raise InputError(
            f"{calibrates.sum()} of {n} questions calibrate and {n - calibrates.sum()} test; each side needs at least 1"
        )
    own, left_out = calibrating(np.flatnonzero(calibrates), np.flatnonzero(~calibrates), joint, seed=seed)
    if len(own) == 0:
        raise InputError("each cluster that calibrates also tests; keep the rows of a cluster on one side of the split")
    digest = hashlib.sha256(p.tobytes() + y.tobytes() + calibrates.tobytes()).hexdigest()
    return Evaluation(
        run_id=f"arrays-{digest[:10]}",
        spec=RunSpec(
            model=name, task=name, seed=seed, calibration_share=float(share), origin=ORIGIN, fingerprint=digest[:16]
        ),
        ids=np.array([str(row + 1) for row in range(n)]),
        groups=np.full(n, ""),
        probabilities=p,
        log_probabilities=log(p),
        labels=y,
        calibration=own,
        test=np.flatnonzero(~calibrates),
        letters=OPTION_NAMES[:k],
        counts=counts,
        clusters=joint,
        left_out=left_out,
    )


def _clusters(values: Any, n: int) -> IntArray | None:
    """The number of each row's cluster, (n,); None if each row has another one."""
    if values is None:
        return None
    given = _array(values, "clusters")
    if given.shape != (n,) or given.dtype.kind not in "iufUSO":
        raise InputError(
            f"the clusters have shape {given.shape} and type {given.dtype}; give {n} numbers or names, one for each row"
        )
    names = [cluster_name(value) for value in given.tolist()]
    return joined([name or None for name in names])


def _array(values: Any, what: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"the {what} are no array of numbers: {str(error)[:120]}") from error


def _probabilities(values: Any) -> tuple[FloatArray, IntArray]:
    """Probabilities with 0 for options that a question lacks, and how many options each question has."""
    given = _array(values, "probabilities")
    if given.dtype.kind not in "buifO":
        raise InputError(f"the probabilities are no array of numbers: their type is {given.dtype}")
    try:
        p = in_double(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"the probabilities are no array of numbers: {str(error)[:120]}") from error
    if p.ndim != 2 or not 2 <= p.shape[1] <= MOST_OPTIONS:
        raise InputError(f"probabilities have shape {p.shape}; expected (n, k) with 2 to {MOST_OPTIONS} options")
    lacking = np.isnan(p)
    counts = np.asarray((~lacking).sum(axis=1), dtype=np.int64)
    wrong = np.flatnonzero((lacking != (np.arange(p.shape[1]) >= counts[:, None])).any(axis=1) | (counts < 2))
    if len(wrong):
        raise InputError(
            f"row {wrong[0]} of the probabilities is {p[wrong[0]].tolist()}; NaN may only stand at its end, after at "
            "least 2 options"
        )
    return check_probabilities(np.where(lacking, 0.0, p)), counts


def check_seed(seed: Any) -> int:
    """The seed as an integer. Raises :class:`InputError` for anything else than a whole number."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
        raise InputError(f"the seed must be a whole number, got {seed!r} ({type(seed).__name__})")
    return int(seed)


def check_share(share: Any) -> float:
    """The share of questions that calibrate. Raises :class:`InputError` if it is no number in (0, 1)."""
    value = number(share, "the share of questions that calibrate")
    if not 0 < value < 1:
        raise InputError(f"the share of questions that calibrate must lie in (0, 1), got {value:g}; try 0.5")
    return value


def _split(calibration: float | Sequence[int] | npt.NDArray[Any], places: IntArray, seed: int) -> npt.NDArray[np.bool_]:
    """Which questions calibrate, (n,); those of one place (n,) are drawn together."""
    n = len(places)
    given = _array(calibration, "calibration rows")
    if given.ndim == 0:
        if given.dtype.kind not in "uif":
            raise InputError(
                f"calibration must be a share, a mask, or row numbers, got {str(calibration)[:80]!r} "
                f"({type(calibration).__name__})"
            )
        return first_part(places, round(check_share(given) * n), seed=seed, purpose=SPLIT)
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise InputError(f"the mask of calibration questions has shape {given.shape}; expected ({n},)")
        return given
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer) or ((given < 0) | (given >= n)).any():
        raise InputError(f"calibration must be a share, a mask, or row numbers from 0 to {n - 1}")
    if len(given) == n and (given <= 1).all():  # as row numbers, no n of them leave a question to test
        return np.asarray(given == 1, dtype=np.bool_)
    rows, counts = np.unique(given, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"calibration names row {rows[counts > 1][0]} more than once; name each row once")
    calibrates = np.zeros(n, dtype=np.bool_)
    calibrates[given] = True
    return calibrates
